"""What a session has seen."""

import json
from pathlib import Path

import pytest

from recall.daemon.sessions import (
    MAX_CALLS,
    MAX_LOOK,
    MAX_SESSIONS,
    SECOND_CALL_SECONDS,
    Past,
    Session,
    Sessions,
)

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
    asked = [session.is_second_call("which port?", prompt, 0.0) for prompt in ("p1", "p1", "p2", "p1")]
    assert asked == [False, True, False, True]
    assert session.is_second_call("which port?", "p2", 1e6)  # whenever it comes
    for number in range(MAX_CALLS + 1):
        session.is_second_call("which port?", str(number))
    assert len(session.calls) == MAX_CALLS


def test_without_an_id_an_equal_message_counts_that_came_just_before() -> None:
    session = Session()
    assert not session.is_second_call("which port?", None, 10.0)
    assert session.is_second_call("which port?", None, 10.0 + SECOND_CALL_SECONDS)
    assert not session.is_second_call("which port\ud800?", None, 10.1)
    assert not session.is_second_call("which port?", None, 10.1 + 2.1 * SECOND_CALL_SECONDS)
    assert not Session().is_second_call("which port?", None, 10.0)


def test_no_word_of_a_message_is_kept() -> None:
    session = Session()
    session.is_second_call("Quetzalcoatlus", None)
    assert "Quetzal" not in repr(session)
    assert all(len(call) == 16 for call in session.calls)


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


@pytest.mark.parametrize("written", ["before", "after"])
def test_a_compaction_that_the_client_tells_of_counts_once(tmp_path: Path, written: str) -> None:
    transcript = tmp_path / "s.jsonl"
    transcript.write_text(line())
    session = Session(shown={NOTE}, listed=True)
    session.look(str(transcript))
    if written == "before":
        transcript.write_text(line() + COMPACTION + "\n")
    session.compact(str(transcript))
    assert (session.shown, session.listed) == (set(), False)
    session.shown.add(NOTE)
    session.listed = True
    transcript.write_text(line() + COMPACTION + "\n" + line())
    assert not session.look(str(transcript))
    assert (session.shown, session.listed) == ({NOTE}, True)
    if written == "after":  # the next one that nobody tells of counts again
        with transcript.open("a") as file:
            file.write(BOUNDARY + "\n")
        assert session.look(str(transcript))
        assert (session.shown, session.listed) == (set(), False)


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
    sessions.restore([Past("s-1", paths=[NOTE]), Past("s-2"), Past("s-1", paths=["/notes/b.md"], prompt="p-1")])
    assert sessions.of("s-1").shown == {NOTE, "/notes/b.md"}
    assert not sessions.of("s-1").listed
    assert sessions.of("s-1").is_second_call("which port?", "p-1")
    assert not sessions.of("s-2").is_second_call("which port?", "p-1")
    sessions.restore([Past("s-1", emptied=True, paths=["/adr/7.md"], listed=True), Past("s-1", paths=["/notes/c.md"])])
    assert (sessions.of("s-1").shown, sessions.of("s-1").listed) == ({"/adr/7.md", "/notes/c.md"}, True)
    sessions.restore([Past("s-1", emptied=True)])
    assert (sessions.of("s-1").shown, sessions.of("s-1").listed) == (set(), False)
