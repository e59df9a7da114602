"""What a session has seen."""

import json
from pathlib import Path

import pytest

from recall.daemon.sessions import MAX_LOOK, MAX_PROMPTS, MAX_SESSIONS, Session, Sessions

NOTE = "/notes/a.md"
COMPACTION = json.dumps({"type": "user", "isCompactSummary": True, "message": {"content": "so far"}})
BOUNDARY = json.dumps({"type": "system", "subtype": "compact_boundary"}, separators=(",", ":"))


def line(**fields: object) -> str:
    return json.dumps({"type": "assistant"} | fields) + "\n"


def test_a_session_keeps_what_it_was_shown_and_others_do_not_share_it() -> None:
    sessions = Sessions()
    sessions.of("s-1").shown.add(NOTE)
    assert sessions.of("s-1").shown == {NOTE}
    assert sessions.of("s-2").shown == set()


def test_a_message_without_a_session_is_remembered_by_nobody() -> None:
    sessions = Sessions()
    sessions.of(None).shown.add(NOTE)
    sessions.of("").shown.add(NOTE)
    assert sessions.of(None).shown == set()


def test_the_session_used_longest_ago_is_forgotten_first() -> None:
    sessions = Sessions()
    sessions.of("first").shown.add(NOTE)
    sessions.of("second").shown.add(NOTE)
    for number in range(MAX_SESSIONS - 2):
        sessions.of(str(number))
    sessions.of("first")
    sessions.of("one more")
    assert sessions.of("first").shown == {NOTE}
    assert sessions.of("second").shown == set()


def test_the_second_hook_of_one_prompt_is_told_apart_from_the_next_prompt() -> None:
    session = Session()
    assert [session.is_second_call(prompt) for prompt in ("p1", "p1", "p2", "p1", None, None)] == [
        False, True, False, True, False, False,
    ]  # fmt: skip
    for number in range(MAX_PROMPTS + 1):
        session.is_second_call(str(number))
    assert len(session.prompts) == MAX_PROMPTS


@pytest.mark.parametrize("mark", [COMPACTION, BOUNDARY])
def test_a_compaction_in_the_transcript_forgets_what_was_shown(tmp_path: Path, mark: str) -> None:
    transcript = tmp_path / "s.jsonl"
    transcript.write_text(line())
    session = Session(shown={NOTE})
    session.look(str(transcript))
    assert session.shown == {NOTE}
    with transcript.open("a") as file:
        file.write(mark + "\n")
    session.look(str(transcript))
    assert session.shown == set()
    session.shown.add(NOTE)
    session.look(str(transcript))
    assert session.shown == {NOTE}


def test_a_note_counts_as_opened_until_the_next_message(tmp_path: Path) -> None:
    transcript = tmp_path / "s.jsonl"
    path = '/notes/日本 "x".md'
    transcript.write_text(line(input={"file_path": path}))
    session = Session()
    session.look(str(transcript))
    assert session.has_opened(path)
    assert not session.has_opened("/notes/other.md")
    session.look(str(transcript))
    assert not session.has_opened(path)


def test_a_missing_rewritten_or_huge_transcript_harms_nobody(tmp_path: Path) -> None:
    transcript = tmp_path / "s.jsonl"
    session = Session(shown={NOTE})
    session.look(None)
    session.look("/with a NUL\0")
    session.look(str(transcript))
    transcript.write_bytes(b"x" * (MAX_LOOK + 1000) + line(input={"file_path": "/notes/a.md"}).encode())
    session.look(str(transcript))
    assert session.has_opened("/notes/a.md")
    transcript.write_text(line(input={"file_path": "/notes/b.md"}))
    session.look(str(transcript))
    assert session.has_opened("/notes/b.md")
    assert session.shown == {NOTE}


def test_what_the_journal_says_is_taken_over_after_a_restart() -> None:
    sessions = Sessions()
    sessions.restore([("s-1", False, [NOTE]), ("s-2", False, []), ("s-1", False, ["/notes/b.md"])])
    assert sessions.of("s-1").shown == {NOTE, "/notes/b.md"}
    sessions.restore([("s-1", True, []), ("s-1", False, ["/notes/c.md"])])
    assert sessions.of("s-1").shown == {"/notes/c.md"}
