from recall.text.summary import MAX_SUMMARY_CHARACTERS, first_sentences, plain, shortened, visible_lines

SENTENCE = "Each line of the log is one JSON object."


def test_the_first_paragraph_is_taken_and_no_heading_table_quote_code_or_comment() -> None:
    skipped = "# Title\n\n<!-- hidden\nlines -->\n> a quote\n\n| a | b |\n|---|---|\n\n```\ncode\n```\n"
    text = f"{skipped}\n{SENTENCE}\n\nMore.\n"
    assert first_sentences(text) == SENTENCE


def test_lines_of_a_paragraph_are_joined_and_marks_go() -> None:
    text = "**Use** [the `tool`](x.md)\nfor every build of the __init__ file.\n"
    assert first_sentences(text) == "Use the tool for every build of the __init__ file."


def test_sentences_are_taken_as_long_as_they_fit() -> None:
    text = " ".join([SENTENCE] * 10)
    summary = first_sentences(text)
    assert summary == " ".join([SENTENCE] * 4)
    assert len(summary) <= MAX_SUMMARY_CHARACTERS


def test_a_sentence_that_is_too_long_is_cut() -> None:
    summary = first_sentences("word " * 100)
    assert len(summary) <= MAX_SUMMARY_CHARACTERS
    assert summary.endswith("…")


def test_a_cut_falls_between_words_so_that_no_half_secret_is_left() -> None:
    assert shortened("a word and ghp_0123456789", 20) == "a word and…"
    assert shortened("鍵は ghp_0123456789", 10) == "鍵は…"
    assert shortened("日本語の長い文章です", 6) == "日本語の長…"
    assert shortened("x" * 30, 10) == ""
    assert shortened("fits", 4) == "fits"


def test_japanese_sentences_end_without_a_space() -> None:
    assert first_sentences("あ" * 60 + "。" + "い" * 150 + "。") == "あ" * 60 + "。"


def test_a_paragraph_that_leads_on_takes_the_list_along() -> None:
    text = "We split the configuration into three folders:\n\n- `prompts/` for every domain\n- `rules/` for one\n"
    assert first_sentences(text) == "We split the configuration into three folders: prompts/ for every domain"


def test_a_very_short_paragraph_takes_the_next_along() -> None:
    assert first_sentences(f"**1. Three layers.**\n\n{SENTENCE}\n") == f"Three layers. {SENTENCE}"


def test_list_items_are_read_without_their_marks() -> None:
    assert first_sentences("- [ ] Run the migration before the deployment starts\n- Then wait\n") == (
        "Run the migration before the deployment starts"
    )


def test_a_text_without_prose_has_no_summary() -> None:
    assert first_sentences("# Only\n\n## Headings\n\n---\n\n![image](x.png)\n") == ""


def test_an_unclosed_fence_or_comment_hides_the_rest() -> None:
    assert visible_lines("a\n```\nb\n") == ["a"]
    assert visible_lines("a\n<!-- b\nc") == ["a", ""]


def test_plain_is_one_line() -> None:
    assert plain("a\t[b](c.md 'title')  [[x|y]] ![i](j.png)") == "a b y i"
