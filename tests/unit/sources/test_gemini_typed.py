"""Whose a session of Gemini CLI is, when the log of what was typed does not name it."""

import json
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from recall.sources.gemini import head
from recall.sources.sessions import asked_by_program

START = datetime(2026, 5, 6, 7, 8, 9, tzinfo=UTC)
WORDS = 'Where is the "kestrel" kept?\n小屋'


def session(tmp_path: Path, *lines: dict[str, object], kind: str = "main") -> str:
    """A session's file, and beside it a log that names another session: the one that the program was started with."""
    folder = tmp_path / "tmp" / "app"
    (folder / "chats").mkdir(parents=True)
    (folder / ".project_root").write_text("/srv/app", encoding="utf-8")
    entry = {"sessionId": "started-with", "messageId": 0, "type": "user", "message": WORDS, "timestamp": ""}
    (folder / "logs.json").write_text(json.dumps([entry], indent=2, ensure_ascii=False), encoding="utf-8")
    first = {"sessionId": "after-clear", "startTime": START.isoformat().replace("+00:00", "Z"), "kind": kind}
    path = folder / "chats" / "session-1.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in (first, *lines)), encoding="utf-8")
    return str(path)


def written(path: str, seconds: float) -> None:
    """The log was written so many seconds after the session began."""
    moment = START.timestamp() + seconds
    os.utime(Path(path).parents[1] / "logs.json", (moment, moment))


@pytest.mark.parametrize(("seconds", "program"), [(-60, True), (0, False), (0.5, False)])
def test_before_the_first_message_is_in_the_file_a_log_written_since_speaks_for_a_person(
    tmp_path: Path, seconds: float, program: bool
) -> None:
    path = session(tmp_path)
    written(path, seconds)
    assert asked_by_program(path) is program


def test_a_session_after_clear_is_the_persons_by_its_words(tmp_path: Path) -> None:
    path = session(tmp_path, {"type": "user", "content": [{"text": WORDS}]})
    written(path, -60)
    found = head(path)
    assert found
    assert found.by_person is True


def test_words_that_the_log_does_not_hold_are_a_programs_whenever_it_was_written(tmp_path: Path) -> None:
    path = session(tmp_path, {"type": "user", "content": [{"text": "user"}]})
    written(path, 60)
    assert asked_by_program(path)


def test_a_subagents_session_is_nobodys_even_before_its_first_message(tmp_path: Path) -> None:
    path = session(tmp_path, kind="subagent")
    written(path, 60)
    assert asked_by_program(path)
