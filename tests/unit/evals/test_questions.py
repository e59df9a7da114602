"""Reading question files."""

from pathlib import Path

import pytest

from recall.core.errors import UsageError
from recall.evals.questions import read_questions

GOOD = '{"id": "q1", "query": "なぜ？", "lang": "ja", "relevant": ["a.md"], "also_ok": ["b.md"], "note_lang": "en"}'


def _file(folder: Path, text: str) -> Path:
    path = folder / "queries.jsonl"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_question_is_read_with_its_answers_and_languages(tmp_path: Path) -> None:
    unrelated = '{"id": "u1", "query": "hello there", "lang": "en", "relevant": [], "hard": true}'
    first, second = read_questions(_file(tmp_path, f"\ufeff{GOOD}\r\n\n{unrelated}\n"))
    assert (first.query, first.relevant, first.also_ok) == ("なぜ？", frozenset({"a.md"}), frozenset({"b.md"}))
    assert (first.pair, first.hard) == ("ja->en", False)
    assert (second.relevant, second.pair, second.hard) == (frozenset(), "en->both", True)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("{", "expected one JSON object"),
        ("[]", "expected a JSON object, found list"),
        ('{"id": "q2", "lang": "en", "relevant": []}', "'query' must be a text"),
        ('{"id": "q2", "query": " ", "lang": "en", "relevant": []}', "'query' must be a text"),
        ('{"id": "q2", "query": "x", "lang": "en"}', "'relevant' must be a list"),
        ('{"id": "q2", "query": "x", "lang": "en", "relevant": "a.md"}', "'relevant' must be a list"),
        ('{"id": "q2", "query": "x", "lang": "en", "relevant": [], "also_ok": [1]}', "'also_ok' must be a list"),
        ('{"id": "q1", "query": "x", "lang": "en", "relevant": []}', "'q1' stands on line 1 already"),
    ],
)
def test_a_bad_line_is_named_in_one_sentence(tmp_path: Path, line: str, sentence: str) -> None:
    path = _file(tmp_path, f"{GOOD}\n{line}\n")
    with pytest.raises(UsageError) as error:
        read_questions(path)
    assert str(error.value).startswith(f"{path}, line 2: ")
    assert sentence in str(error.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"nothing\.jsonl"):
        read_questions(tmp_path / "nothing.jsonl")
