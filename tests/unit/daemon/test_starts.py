"""When the start of a session gets the list of decisions. The projects and the snapshot are plain values here."""

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from recall.core.types import Document
from recall.daemon.asked import NO_HEADS
from recall.daemon.engine import Engine, Ready
from recall.daemon.journal import Journal
from recall.daemon.prompt import Start
from recall.daemon.sessions import Session
from recall.daemon.starts import Starts


class Desk:
    """Starts over three records, the one in the middle only proposed, with one session."""

    def __init__(self, folder: Path) -> None:
        self.journal = folder / "injections.jsonl"
        documents = []
        for number, status in ((7, "Accepted"), (8, "Proposed"), (9, "Accepted")):
            path = folder / f"{number:04}-x.md"
            path.write_text(f"# {number}. X\n\n## Status\n\n{status}\n", encoding="utf-8")
            documents.append(Document("knowledge", str(path), "/p", f"{number:04} X", "", ""))
        self.muted: set[str] = set()
        self.config = {"enabled": True, "session_start": True, "language": "en"}
        engine = SimpleNamespace(
            config=SimpleNamespace(current=lambda: self.config),
            mutes=SimpleNamespace(muted=lambda session, scope: frozenset(self.muted)),
        )
        self.ready = SimpleNamespace(
            projects=SimpleNamespace(current=lambda cwd, transcript: frozenset({"/p"} if cwd else ())),
            snapshot=SimpleNamespace(documents=documents, language="en"),
        )
        self.starts = Starts(cast(Engine, engine), Journal(self.journal))
        self.session = Session()

    def line(self, source: str | None, left: Callable[[], float] = lambda: 60.0, **fields: Any) -> list[str]:
        """The lines of the list, none for silence. Time passes between calls."""
        self.session.calls.clear()
        return self.same_call(source, left, **fields)

    def same_call(self, source: str | None, left: Callable[[], float] = lambda: 60.0, **fields: Any) -> list[str]:
        start = Start(source, **({"cwd": "/p", "session": "s-1"} | fields))
        asked = self.starts.asked(start, self.session, lambda: cast(Ready, self.ready))
        if asked.prepare:
            asked.prepare(left)
        printed = asked.answer(NO_HEADS)
        return json.loads(printed)["hookSpecificOutput"]["additionalContext"].splitlines() if printed else []

    def reasons(self) -> list[str]:
        return [json.loads(line)["reason"] for line in self.journal.read_text("utf-8").splitlines()]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_the_list_comes_once_a_conversation(desk: Desk) -> None:
    assert desk.line("startup")[2:] == ["- 0007 X", "- 0009 X"]
    assert desk.line("startup") == desk.line("resume") == desk.line("fork") == []
    assert len(desk.session.shown) == 2
    for source in ("clear", "compact"):
        desk.session.shown.add("/notes/a.md")
        assert desk.line(source)[2:] == ["- 0007 X", "- 0009 X"]
        assert "/notes/a.md" not in desk.session.shown
    assert desk.reasons() == ["decisions", "already shown", "resumed", "resumed", "decisions", "decisions"]


def test_a_source_that_is_not_known_counts_as_a_start(desk: Desk) -> None:
    assert len(desk.line(None)) == 4
    assert desk.line(None) == []


def test_a_second_call_neither_lists_nor_forgets(desk: Desk) -> None:
    assert desk.line("clear")
    desk.session.shown.add("/notes/a.md")
    assert desk.same_call("clear") == []
    assert "/notes/a.md" in desk.session.shown
    assert desk.reasons() == ["decisions", "answered"]


def test_what_was_not_read_in_time_is_not_taken_for_nothing(desk: Desk) -> None:
    ticks = iter([1.0, 0.0])
    assert desk.line("startup", lambda: next(ticks))[2:] == ["- 0009 X", "(older ones are not listed)"]
    assert desk.line("clear", lambda: 0.0) == []
    assert not desk.session.listed
    assert desk.line("startup")[2:] == ["- 0007 X", "- 0009 X"]
    assert desk.reasons() == ["decisions", "not read in time", "decisions"]


def test_muted_records_other_folders_subagents_and_the_off_switch(desk: Desk) -> None:
    desk.muted = {desk.ready.snapshot.documents[2].path}
    assert desk.line("startup")[2:] == ["- 0007 X"]
    assert desk.line("clear", cwd=None) == []
    assert desk.line("clear", agent="a-1") == []
    desk.config["enabled"] = False
    assert desk.line("clear") == []
    assert desk.reasons() == ["decisions", "no decisions", "subagent", "disabled"]
