"""Words for methods that compare spelling."""

from hypothesis import given
from hypothesis import strategies as st

from recall.evals.words import keywords, tokens


def test_tokens_are_words_and_pairs_where_no_spaces_are_written() -> None:
    assert tokens("The ポート5432 は？ a") == ["the", "ポー", "ート", "5432", "は", "a"]
    assert tokens("ﾎﾟｰﾄ ＡＢＣ") == ["ポー", "ート", "abc"]


def test_keywords_leave_out_grammar_and_what_is_too_short() -> None:
    assert keywords("What is the retention of access logs, and of the logs?") == ["retention", "access", "logs"]
    assert keywords("保存期間はログのどこ？") == ["保存期間", "ログ"]


@given(st.text())
def test_keywords_are_distinct_and_any_text_has_tokens_or_none(text: str) -> None:
    assert len(set(keywords(text))) == len(keywords(text))
    assert all(token.strip() for token in tokens(text))
