"""The instruction for questions, and looking over what came back."""

import json
from collections import Counter
from pathlib import Path

import pytest

from recall.core.errors import RecallError, UsageError
from recall.core.types import Document, Kind
from recall.evals.check import check_file, read_file
from recall.evals.instruction import Order, choose_notes, languages_of, write_instruction
from recall.evals.records import Records, records_of

GOOD = Order(questions=2, unrelated=4)


def document(path: str, kind: Kind = "memory", **fields: str) -> Document:
    return Document(kind, path, "/p", fields.pop("name", Path(path).stem), "", fields.pop("body", ""), **fields)


@pytest.fixture
def records() -> Records:
    return records_of(
        [
            document("/n/ports.md", body="The test database listens on port 5433, because 5432 is taken."),
            document("/n/logs.md", name="ログの保存期間", body="アクセスログは90日で消す。"),
            document("/n/other.md", body="Nothing of interest."),
        ]
    )


def line(id_: str, query: str, lang: str = "en", *relevant: str, **fields: object) -> str:
    values = {"id": id_, "query": query, "lang": lang, "relevant": relevant}
    return json.dumps(values | fields, ensure_ascii=False)


QUESTIONS = [
    line("q1", "テスト用の保管庫につながらない", "ja", "/n/ports.md"),
    line("q2", "how old may visitor records get?", "en", "logs.md"),
]
UNRELATED = [
    line("u1", "thanks a lot"),
    line("u2", "おはよう", "ja"),
    line("u3", "merge these two lists"),
    line("h1", "which port does ssh use?", hard=True),
]


def checked(tmp_path: Path, records: Records, *lines: str) -> list[str]:
    path = tmp_path / "questions.jsonl"
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return [problem.removeprefix(str(path)) for problem in check_file(path, records, GOOD)]


def test_a_good_file_has_no_problems(tmp_path: Path, records: Records) -> None:
    assert checked(tmp_path, records, *QUESTIONS, *UNRELATED) == []


def test_every_problem_is_named_with_its_line(tmp_path: Path, records: Records) -> None:
    problems = checked(
        tmp_path, records, "[1]", "{", line("q1", "a", "en", "/n/none.md"), line("q1", "b"), *QUESTIONS, *UNRELATED
    )
    assert [problem[:9] for problem in problems] == [", line 1:", ", line 2:", ", line 3:", ", line 4:", ", line 5:"]
    assert "/n/none.md is not there" in problems[2]
    assert "'q1' stands on line 3 already" in problems[3]


def test_words_that_question_and_note_share_are_named(tmp_path: Path, records: Records) -> None:
    shared = [
        line("q1", "why is the database not listening on 5433?", "en", "/n/ports.md"),
        line("q2", "消したアクセスの記録の保存期間", "ja", "/n/logs.md"),
    ]
    problems = checked(tmp_path, records, *shared, *UNRELATED)
    assert "“database”, “5433”" in problems[0]
    assert "ports.md" in problems[0]
    assert "“アクセス”" in problems[1]
    assert "“保存期間”" in problems[1]


@pytest.mark.parametrize(("word", "told"), [("listen", 1), ("listened", 0), ("databases", 1), ("data", 0)])
def test_forms_of_a_word_are_the_word(tmp_path: Path, records: Records, word: str, told: int) -> None:
    asked = line("q1", f"怖い {word} だ", "ja", "/n/ports.md")
    problems = checked(tmp_path, records, asked, QUESTIONS[1], *UNRELATED)
    assert sum("shares words" in problem for problem in problems) == told


def test_a_word_that_most_records_have_gives_no_note_away(tmp_path: Path) -> None:
    records = records_of([document(f"/n/{number}.md", body="Everything about the build.") for number in range(50)])
    asked = [line(f"q{number}", f"方法{number} build", "ja", f"/n/{number}.md") for number in range(2)]
    assert checked(tmp_path, records, *asked, *UNRELATED) == []


def test_doubles_languages_and_numbers_are_checked(tmp_path: Path, records: Records) -> None:
    problems = checked(
        tmp_path,
        records,
        line("q1", "where do rows go when we try things?", "ja", "/n/ports.md"),
        line("q2", "Where do  rows go when we try THINGS?", "en", "/n/ports.md"),
        line("u1", "thanks", hard=True),
    )
    assert len(problems) == 3
    assert ", line 2: says the same as line 1" in problems[0]
    assert "in en by its letters" in problems[1]
    assert "expected 4 messages that no note answers, found 1" in problems[2]


def test_what_can_be_read_is_read_all_the_same(tmp_path: Path, records: Records) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_text("\n".join(["nonsense", line("q0", "x", "en", "/n/none.md"), *QUESTIONS]), "utf-8")
    file = read_file(path, records)
    assert [question.id for question in file.questions] == ["q1", "q2"]
    assert file.questions[1].relevant == {"/n/logs.md"}
    assert len(file.problems) == 2


def test_a_file_that_is_none_is_one_sentence(tmp_path: Path, records: Records) -> None:
    with pytest.raises(UsageError, match="name the right one"):
        check_file(tmp_path / "none.jsonl", records, GOOD)
    (tmp_path / "x").write_bytes(b"\xff")
    with pytest.raises(UsageError, match="not UTF-8"):
        read_file(tmp_path / "x", records)


def test_notes_are_chosen_over_all_kinds_and_versions_once() -> None:
    memory = [document(f"/m/{number}.md") for number in range(40)]
    rules = [
        document(f"/r/{number}.{language}.md", "knowledge", language=language, group=f"g{number}")
        for number in range(4)
        for language in ("en", "ja")
    ]
    gone = [document("/r/gone.md", "knowledge", successor="2")]
    records = records_of([*memory, *rules, *gone])
    chosen = choose_notes(records, 11, seed=1)
    assert Counter(text.document.kind for text in chosen) == {"memory": 10, "knowledge": 1}
    assert chosen == choose_notes(records, 11, seed=1)
    assert chosen != choose_notes(records, 11, seed=2)
    everything = choose_notes(records, 500, seed=3)
    assert len({text.unit for text in everything}) == len(everything) == 44
    assert "/r/gone.md" not in {text.path for text in everything}


def test_without_notes_it_says_what_to_do() -> None:
    with pytest.raises(RecallError, match="recall index"):
        choose_notes(records_of([]), 5, seed=0)


def test_the_instruction_names_every_note_and_the_check(records: Records) -> None:
    text = write_instruction(records.texts, Order(3, 8), "recall eval make --check questions.jsonl")
    for path in ("/n/ports.md", "/n/logs.md", "/n/other.md"):
        assert f"`{path}`" in text
    assert "`recall eval make --check questions.jsonl`" in text
    assert "2 near misses" in text
    assert "Half of the questions in English, half in Japanese" in text
    for example in [part for part in text.split("\n") if part.startswith("{")]:
        assert {"id", "query", "lang", "relevant"} <= json.loads(example).keys()


def test_the_other_language_is_the_notes_second_else_english_or_japanese(records: Records) -> None:
    assert languages_of(records.texts) == ("en", "ja")
    assert languages_of([records.texts[0]]) == ("ja", "en")
    assert languages_of([records.texts[1]]) == ("en", "ja")
