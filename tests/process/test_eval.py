"""`recall eval` as people run it, over a real daemon and over a folder of notes."""

import json
from html.parser import HTMLParser
from pathlib import Path

import pytest

from support import Sandbox

NOTES = {
    "test-database-port": ("Tests talk to PostgreSQL on 5433, because 5432 is taken", "どのテストも 5433 を使う。"),
    "log-retention": ("アクセスログは90日で消す", "個人情報を含むログは30日。延ばすには法務の承認がいる。"),
    "prices-are-cents": ("Prices are whole cents, never floating point", "Sums of floats drift; invoices must not."),
    "release-approval": ("A release needs two approvals", "One of the two must be from the operations team."),
    "image-uploads": ("Uploaded images are resized to 2048 pixels", "The original is dropped after a day."),
    "reply-in-japanese": ("Reply in Japanese, code comments in English", "Commit messages are English too."),
}
QUESTIONS = [
    ("which port does the test database use?", "en", "test-database-port"),
    ("テストの DB のポートは何番？", "ja", "test-database-port"),
    ("how long do we keep access logs before deleting them?", "en", "log-retention"),
    ("ログは何日で消える？", "ja", "log-retention"),
    ("should the price column be a float?", "en", "prices-are-cents"),
    ("金額は小数で持っていい？", "ja", "prices-are-cents"),
    ("who has to sign off before we ship?", "en", "release-approval"),
    ("リリースには誰の承認がいる？", "ja", "release-approval"),
    ("how large may a picture be that people send us?", "en", "image-uploads"),
    ("返事は何語で書く？", "ja", "reply-in-japanese"),
]
UNRELATED = [
    "thanks, that worked",
    "please go on",
    "おはようございます",
    "what is a monad?",
    "続けてください",
    "tell me a joke about cats",
    "今日の天気はどう？",
    "how do i exit vim",
    "explain the difference between a mutex and a semaphore",
    "お疲れさまでした",
]


@pytest.fixture
def notes(sandbox: Sandbox) -> Sandbox:
    for name, (description, body) in NOTES.items():
        sandbox.note(name, description, body)
    sandbox.run("index")
    return sandbox


def write_questions(path: Path, *, form: str = "{}.md") -> Path:
    """A file of all questions and unrelated messages; `form` makes a file's name of a note's."""
    lines: list[dict[str, object]] = [
        {"id": f"q{number}", "query": query, "lang": lang, "relevant": [form.format(note)], "note_lang": "en"}
        for number, (query, lang, note) in enumerate(QUESTIONS)
    ]
    lines += [
        {"id": f"u{number}", "query": query, "lang": "en" if query.isascii() else "ja", "relevant": []}
        for number, query in enumerate(UNRELATED)
    ]
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), "utf-8")
    return path


class Outside(HTMLParser):
    """Whatever a page would fetch or run."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("script", "link", "img", "iframe", "object"):
            self.found.append(tag)
        self.found += [name for name, _ in attrs if name in ("src", "href", "srcset") or name.startswith("on")]


def page_at(path: Path) -> str:
    """A page that must stand alone."""
    html = path.read_text("utf-8")
    outside = Outside()
    outside.feed(html)
    assert outside.found == []
    assert "url(" not in html.partition("<style>")[2].partition("</style>")[0]
    assert "default-src &#x27;none&#x27;" in html
    return html


def test_make_names_the_notes_and_check_names_the_mistakes(notes: Sandbox, tmp_path: Path) -> None:
    out = tmp_path / "instruction.md"
    assert "6 notes" in notes.run("eval", "make", "--out", str(out)).stdout
    text = out.read_text("utf-8")
    for name in NOTES:
        assert str(notes.claude_folder(notes.project) / "memory" / f"{name}.md") in text
    assert notes.run("eval", "make").stdout == text
    assert (
        notes.run("eval", "make", "--out", str(out), check=False).returncode == 2
    )  # never over a file, which may be a note
    assert out.read_text("utf-8") == text
    assert "`recall eval make --check questions.jsonl --questions 6`" in text

    file = tmp_path / "questions.jsonl"
    file.write_text(
        '{"id": "q1", "query": "where is 5433?", "lang": "en", "relevant": ["log-retention.md"]}\n{\n', "utf-8"
    )
    done = notes.run("eval", "make", "--check", str(file), check=False)
    assert done.returncode == 1
    assert f"{file}, line 2: expected one JSON object" in done.stdout
    assert "expected 20 messages that no note answers, found 0" in done.stdout
    assert json.loads(notes.run("eval", "make", "--check", str(file), "--json", check=False).stdout)["problems"]


def test_run_asks_the_daemon_and_sets_the_other_methods_beside_it(notes: Sandbox, tmp_path: Path) -> None:
    file, out = write_questions(tmp_path / "questions.jsonl"), tmp_path / "page.html"
    found = notes.json("eval", "run", str(file), "--html", str(out))
    assert (found["records"], found["gate"], found["problems"]) == (6, "calibrated", [])
    overall = {row["method"]: row for row in found["rankings"] if row["languages"] == "all"}
    assert set(overall) == {"recall", "plain", "bm25", "grep"}
    assert all(row["questions"] == 10 for row in overall.values())
    assert overall["recall"]["hit_at_3"] >= 0.8
    assert overall["recall"]["mrr"] > overall["grep"]["mrr"]
    assert {row["languages"] for row in found["rankings"]} == {"all", "en->en", "ja->en"}

    message = found["messages"][0]
    auto = notes.json("query", QUESTIONS[0][0], "--auto")
    assert message["probability"] == auto["probability"]
    assert (message["bytes"] > 0) == (auto["additional_context"] is not None)
    handed = sum(one["verdict"] == "its note" for one in found["messages"])
    assert found["speech"]["handed"] == handed
    assert not notes.state.joinpath("injections.jsonl").exists()  # nothing of it counts as a message

    html = page_at(out)
    assert "Misses, one by one" in html
    assert "おはようございます" in html


def test_what_is_wrong_with_a_file_hides_nothing_that_is_right(notes: Sandbox, tmp_path: Path) -> None:
    file = write_questions(tmp_path / "questions.jsonl")
    with file.open("a", encoding="utf-8") as opened:
        opened.write(
            "[" * 100_000 + "\n" + json.dumps({"id": "l", "query": "q" * 600_000, "lang": "en", "relevant": []}) + "\n"
        )
        opened.write('nonsense\n{"id": "x", "query": "where?", "lang": "en", "relevant": ["none.md"]}\n')
    done = notes.run("eval", "run", str(file))
    assert "line 21: expected one JSON object" in done.stderr
    assert "line 22: expected a message of at most 500,000 characters" in done.stderr
    assert "line 23: expected one JSON object" in done.stderr
    assert "line 24: none.md is not there" in done.stderr
    assert "10 questions and 10 messages that no note answers" in done.stdout
    assert "false speech: " in done.stdout


def test_tune_proposes_and_writes_only_when_told(notes: Sandbox, tmp_path: Path) -> None:
    file, out = write_questions(tmp_path / "questions.jsonl"), tmp_path / "page.html"
    found = notes.json("eval", "tune", str(file), "--html", str(out))
    assert found["rule"] == "calibrated"
    assert 0 <= found["after"]["some"] <= found["after"]["strong"] <= 1
    assert found["fitted"]["plain"] <= 0.1
    assert found["judged"].keys() == found["now"].keys()
    assert "some proposed" in page_at(out)
    assert not (notes.state / "gates.toml").exists()
    done = notes.run("eval", "tune", str(file), "--write", check=False)
    assert done.returncode == (0 if found["is_better"] else 1)
    assert (notes.state / "gates.toml").exists() == found["is_better"]


def test_the_daemon_takes_up_own_thresholds_at_once(notes: Sandbox) -> None:
    question, gates = QUESTIONS[0][0], notes.state / "gates.toml"
    notes.run("index")
    probability = notes.json("query", question, "--auto")["probability"]
    for some, tier in ((probability + 0.001, "none"), (probability - 0.001, "some")):
        gates.write_text(f'["multilingual-e5-small".calibrated]\nsome = {some}\nstrong = 1.0\n', "utf-8")
        assert notes.json("query", question, "--auto")["tier"] == tier
    gates.write_text("[", "utf-8")
    assert notes.json("query", question, "--auto")["tier"] == "some"  # the last good values
    assert "gates.toml cannot be read" in notes.run("status").stdout


def test_a_folder_of_notes_is_measured_without_a_daemon(sandbox: Sandbox, tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    (corpus / "memory").mkdir(parents=True)
    for name, (description, body) in NOTES.items():
        text = f"---\nname: {name}\ndescription: {description}\n---\n\n{body}\n"
        (corpus / "memory" / f"{name}.md").write_text(text, "utf-8")
    write_questions(corpus / "queries.jsonl", form="memory/{}.md")
    found = sandbox.json("eval", "run", "--corpus", str(corpus))
    overall = {row["method"]: row for row in found["rankings"] if row["languages"] == "all"}
    assert overall["recall"]["hit_at_3"] >= 0.8
    assert len(found["messages"]) == 20
    assert not sandbox.state.exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run"], "expected a file of questions"),
        (["run", "none.jsonl", "--html", "none/page.html"], "found no folder none"),
        (["run", "--corpus", "none"], "expected a folder of notes"),
        (["tune", "--corpus", ".", "--write"], "leave --corpus out"),
        (["make", "--questions", "0"], "expected a whole number"),
        ([], "VERB"),
    ],
)
def test_wrong_usage_is_one_sentence(sandbox: Sandbox, words: list[str], said: str) -> None:
    done = sandbox.run("eval", *words, check=False)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_without_notes_it_says_what_to_do(sandbox: Sandbox) -> None:
    done = sandbox.run("eval", "make", check=False)
    assert done.returncode == 1
    assert "recall index" in done.stderr
