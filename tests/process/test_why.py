"""why, why-not, replay, mute and report from the command line, with real daemons and real messages."""

import json
import time
from pathlib import Path

import pytest

from support import Sandbox

QUESTION = "which port does the staging database listen on?"
UNRELATED = "write a haiku about the moon over a quiet lake"


def type_prompt(sandbox: Sandbox, session: str, *messages: str) -> Path:
    """A transcript whose prompts were typed just now, as Claude Code writes it; its path."""
    path = sandbox.session(session, "a talk", *((message, "Done.") for message in messages))
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    path.write_text(path.read_text("utf-8").replace("2026-08-14T09:30:00Z", now), encoding="utf-8")
    return path


@pytest.fixture
def ready(sandbox: Sandbox) -> Sandbox:
    """A sandbox with three notes and a warm daemon; conversations are not searched."""
    sandbox.configure("conversations.enabled = false\n")
    sandbox.note("staging-port", "The staging database listens on port 6543, not 5432", "It was moved in May.")
    sandbox.note("no-friday-deploys", "Never deploy on a Friday afternoon", "Nobody is there when it breaks.")
    sandbox.note("tabs", "Makefiles are indented with tabs", "See `src/gone.py`.")
    sandbox.start()
    return sandbox


def test_why_tells_the_last_decision_and_reads_the_message_from_the_transcript(ready: Sandbox) -> None:
    type_prompt(ready, "s-1", QUESTION)
    assert "staging-port" in (ready.context(QUESTION, session_id="s-1") or "")
    found = ready.json("why")
    assert (found["session"], found["message"], found["project"]) == ("s-1", QUESTION, "project")
    assert found["tier"] in ("some", "strong")
    assert found["items"][0]["path"].endswith("staging-port.md")
    text = ready.run("why").stdout
    assert QUESTION in text
    assert "staging-port.md" in text
    assert QUESTION.encode() not in Path(ready.paths.injections).read_bytes()


def test_why_finds_sessions_and_times_and_says_what_is_not_there(ready: Sandbox) -> None:
    missing = ready.run("why", check=False)
    assert (missing.returncode, missing.stdout) == (1, "")
    assert "no message" in missing.stderr
    ready.context(QUESTION, session_id="s-1")
    ready.context("ok", session_id="s-2")
    assert ready.json("why")["reason"] == "short"
    assert ready.json("why", "--session", "s-1")["message"] is None
    assert "recall itself keeps none" in ready.run("why", "--session", "s-1").stdout
    journal = Path(ready.paths.injections)
    first, second = journal.read_text("utf-8").splitlines(keepends=True)
    journal.write_text(first.replace(json.loads(first)["time"], "2020-01-02T00:00:00") + second, encoding="utf-8")
    assert ready.json("why", "--at", "2020-01-01T00:00")["session"] == "s-1"
    assert ready.run("why", "--at", "noon", check=False).returncode == 2


def test_why_not_names_the_step(ready: Sandbox) -> None:
    def cause(*words: str) -> str | None:
        found: str | None = ready.json("why-not", *words)["cause"]
        return found

    assert cause("staging-port", QUESTION) is None
    assert "it IS shown" in ready.run("why-not", "staging-port", QUESTION).stdout
    assert cause("staging-port.md", UNRELATED) == "gate"
    assert cause("staging-port", "ok") == "message"
    assert cause("/nowhere/note.md", QUESTION) == "file"
    memory = ready.claude_folder(ready.project) / "memory"
    (memory / "MEMORY.md").write_text("- nothing\n", encoding="utf-8")
    (memory / "empty.md").write_text("", encoding="utf-8")
    ready.run("index")
    assert "index of notes" in ready.json("why-not", str(memory / "MEMORY.md"), QUESTION)["in_words"]
    assert "is empty" in ready.json("why-not", "empty.md", QUESTION)["in_words"]
    other = ready.home / "other"
    (other / ".git").mkdir(parents=True)
    ready.note("elsewhere", "The staging database of another project", "Port 1.", project=other)
    ready.run("index")
    assert cause("elsewhere", QUESTION) == "project"
    ready.context(QUESTION, session_id="s-1")
    assert cause("staging-port", QUESTION, "--session", "s-1") == "session"
    assert cause("staging-port", "--session", "s-1", QUESTION) == "session"  # in the other order too
    assert ready.run("why-not", "a", "b", "c", check=False).stderr.startswith("usage: recall why-not")
    ready.note("just-written", "Nobody looked at it yet", "It is new.")
    assert "recall index" in ready.json("why-not", "just-written", QUESTION)["in_words"]
    unknown = ready.run("why-not", "no such note", QUESTION, check=False)
    assert unknown.returncode == 2
    assert "no record is called" in unknown.stderr


def test_why_not_without_a_question_takes_the_last_message(ready: Sandbox) -> None:
    ready.context(QUESTION, session_id="s-1")
    gone = ready.run("why-not", "tabs", check=False)
    assert gone.returncode == 2
    assert "not in Claude Code's transcripts" in gone.stderr
    type_prompt(ready, "s-1", QUESTION)
    found = ready.json("why-not", "staging-port")
    assert (found["question"], found["cause"], found["shown"]) == (
        QUESTION,
        None,
        True,
    )  # what that very message brought holds nothing back


def test_replay_shows_what_the_own_messages_would_bring_and_keeps_nothing(ready: Sandbox) -> None:
    type_prompt(ready, "s-1", QUESTION, UNRELATED, "ok", "/clear")
    before = {path.name for path in ready.state.iterdir()}
    found = ready.json("replay")
    assert [row["message"] for row in found["messages"]] == [QUESTION, UNRELATED, "ok"]
    assert [bool(row["lines"]) for row in found["messages"]] == [True, False, False]
    assert "staging-port" in found["messages"][0]["lines"][0]
    assert found["summary"]["share"] == pytest.approx(1 / 3, abs=0.001)
    assert found["summary"]["silent"]["short"] == 1
    text = ready.run("replay", "--last", "2", "--project", "project").stdout
    assert "silent: short" in text
    assert QUESTION not in text
    assert {path.name for path in ready.state.iterdir()} == before
    assert not any(QUESTION.encode() in path.read_bytes() for path in ready.state.iterdir() if path.is_file())


def test_mute_and_unmute_write_what_why_not_reads(ready: Sandbox) -> None:
    assert ready.json("mute", "staging-port")["mutes"][0]["scope"] == "forever"
    assert ready.json("why-not", "staging-port", QUESTION)["cause"] == "mute"
    assert "muted already" in ready.run("mute", "staging-port").stdout
    ready.run("unmute", "staging-port")
    assert ready.json("mute", "--list") == {"mutes": []}
    ready.run("mute", "tabs", "--project")
    ready.run("mute", "tabs", "--session", "s-9")
    mutes = ready.json("mute", "--list")["mutes"]
    assert [(mute["scope"], mute["of"]) for mute in mutes] == [
        ("project", str(ready.project.resolve())), ("session", "s-9")
    ]  # fmt: skip
    refused = ready.run("unmute", "staging-port", check=False)
    assert (refused.returncode, "is not muted" in refused.stderr) == (2, True)
    for words in (
        ("mute",),
        ("mute", "stag"),  # a part of a name is enough to ask, not to silence
        ("mute", "nothing like it"),
        ("mute", "tabs", "--forever", "--project"),
        ("unmute", "staging-port"),
    ):
        assert ready.run(*words, check=False).returncode == 2, words


def test_report_counts_what_was_asked_and_names_what_wants_tidying(ready: Sandbox) -> None:
    for message in (QUESTION, UNRELATED, "ok"):
        ready.context(message)
    found = ready.json("report")
    assert (found["messages"], found["spoken"], found["silent"]["short"]) == (3, 1, 1)
    assert found["lines"]["memory"] >= 1
    assert Path(next(iter(found["shown"]))).name == "staging-port.md"
    never = {Path(path).name for path in found["never_shown"]}
    assert never == {"staging-port.md", "no-friday-deploys.md", "tabs.md"} - {
        Path(path).name for path in found["shown"]
    }
    text = ready.run("report", "--days", "1").stdout
    assert "3 in 3 sessions" in text
    page = ready.home / "week.html"
    ready.run("report", "--html", str(page))
    html = page.read_text("utf-8")
    assert "Never shown" in html
    assert "://" not in html.replace("http://www.w3.org/2000/svg", "")
    assert page.stat().st_mode & 0o777 == 0o600
    assert ready.run("report", "--days", "0", check=False).returncode == 2
    note = ready.claude_folder(ready.project) / "memory" / "tabs.md"
    before = note.read_bytes()
    assert ready.run("report", "--html", str(note), check=False).returncode == 2
    assert note.read_bytes() == before
    ready.run("report", "--html", str(page))  # a page may be replaced


def test_replay_before_anything_else_indexes_first(sandbox: Sandbox) -> None:
    sandbox.note("staging-port", "The staging database listens on port 6543, not 5432", "It was moved in May.")
    type_prompt(sandbox, "s-1", QUESTION)
    assert sandbox.json("replay")["summary"]["spoken"] == 1


def test_before_there_is_an_index_a_note_cannot_be_muted_and_the_reason_is_told(sandbox: Sandbox) -> None:
    sandbox.note("staging-port", "The staging database listens on port 6543, not 5432", "It was moved in May.")
    done = sandbox.run("mute", "staging-port", check=False)
    assert (done.returncode, "run `recall index`" in done.stderr) == (1, True)
