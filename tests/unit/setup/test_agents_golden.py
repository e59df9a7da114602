"""The files of tests/golden/agents: shapes that the hook settings of Codex, Qwen Code and Gemini CLI have, before and
after setup with the begin of sessions. `*.refused.*` are those that setup must leave alone."""

import json
from pathlib import Path

import pytest

from recall.core.errors import SettingsError
from recall.setup.agents import Agent, agents
from recall.setup.registration import register, unregister
from recall.setup.settings import HookEntry, plan_register, plan_unregister, registered, snippet, starts

GOLDEN = Path(__file__).parents[2] / "golden" / "agents"
FILES = sorted(path.relative_to(GOLDEN).as_posix() for path in GOLDEN.rglob("*.before.json"))
EDITED = [name for name in FILES if ".refused." not in name]
REFUSED = [name for name in FILES if ".refused." in name]
HOME = "/home/mia/記録 ノート/recall"
ENTRY = HookEntry(f"{HOME}/bin/recall-hook", ("hook", "--home", HOME), 5)
AGENTS = agents("linux")

#: Files that hold an entry of ours, or nothing at all, before setup: uninstall by surgery ends elsewhere.
HAD_OURS = ["codex/older-entry.before.json"]
BLANK = ["codex/empty-file.before.json"]

WORDS = {
    "codex/byte-order-mark": "without a byte order mark, which Codex cannot read",
    "codex/comments": "found a comment; Codex cannot read this file either",
    "codex/broken": "line 4, column 1: expected a value, found the end of the file",
    "codex/event-is-an-object": 'expected "UserPromptSubmit" to be a list, found an object',
    "qwen/comments": "found a comment; recall edits no file with comments",
    "qwen/trailing-comma": "found } after a comma; Qwen Code cannot read this file either",
    "qwen/hooks-is-a-list": 'expected "hooks" to be an object, found a list',
    "gemini/byte-order-mark": "without a byte order mark, which Gemini CLI cannot read",
    "gemini/comments": "found a comment; recall edits no file with comments",
    "gemini/trailing-comma": "found } after a comma; Gemini CLI cannot read this file either",
}


def _agent(name: str) -> Agent:
    return next(agent for agent in AGENTS.values() if agent.name == name.partition("/")[0])


def _before(name: str) -> bytes:
    return (GOLDEN / name).read_bytes()


def _after(name: str) -> bytes:
    return (GOLDEN / name.replace(".before.", ".after.")).read_bytes()


@pytest.mark.parametrize("name", EDITED)
def test_setup_makes_exactly_the_expected_file_and_a_second_one_changes_nothing(name: str) -> None:
    agent = _agent(name)
    assert plan_register(_before(name), ENTRY, agent, start=True) == _after(name)
    assert registered(_after(name), agent) == ENTRY
    assert starts(_after(name), agent)
    for start in (True, None):
        assert plan_register(_after(name), ENTRY, agent, start=start) is None


@pytest.mark.parametrize("name", sorted(set(EDITED) - set(HAD_OURS + BLANK)))
def test_surgical_removal_gives_the_file_back(name: str) -> None:
    agent = _agent(name)
    assert plan_unregister(_after(name), _before(name), agent) == _before(name)
    without = plan_register(_before(name), ENTRY, agent)
    assert without is not None
    assert plan_unregister(without, _before(name), agent) == _before(name)
    assert plan_register(_after(name), ENTRY, agent, start=False, original=_before(name)) == without


@pytest.mark.parametrize("name", HAD_OURS)
def test_surgical_removal_leaves_the_entries_of_others(name: str) -> None:
    left = plan_unregister(_after(name), None, _agent(name))
    assert left is not None
    assert b"echo keep-me" in left
    assert b"recall" not in left


@pytest.mark.parametrize("name", EDITED)
def test_uninstall_gives_the_original_bytes_back_after_all_kinds_of_setup(name: str, tmp_path: Path) -> None:
    agent, path, state = _agent(name), tmp_path / _agent(name).file, tmp_path / "state"
    path.write_bytes(_before(name))
    for start, begins in ((None, False), (True, True), (None, True), (False, False), (True, True)):
        register(path, ENTRY, state, agent, start=start)
        assert starts(path.read_bytes(), agent) is begins
        assert registered(path.read_bytes(), agent) == ENTRY
    if name in HAD_OURS:
        unregister(path, state, agent)
        assert registered(path.read_bytes(), agent) is None
    else:
        assert unregister(path, state, agent).action == "restored"
        assert path.read_bytes() == _before(name)


@pytest.mark.parametrize("name", EDITED)
def test_uninstall_after_an_edit_by_another_program_takes_our_entries_only(name: str, tmp_path: Path) -> None:
    agent, path, state = _agent(name), tmp_path / _agent(name).file, tmp_path / "state"
    path.write_bytes(_before(name))
    register(path, ENTRY, state, agent, start=True)
    mark = b"\xef\xbb\xbf" if path.read_bytes().startswith(b"\xef\xbb\xbf") else b""
    theirs = json.loads(path.read_bytes().removeprefix(mark))
    theirs["hooks"].setdefault("Notification", []).append({"hooks": [{"type": "command", "command": "beep"}]})
    theirs["added"] = 1
    path.write_bytes(mark + json.dumps(theirs, indent=3).encode())  # a client writes the file anew
    assert unregister(path, state, agent).action == "removed"
    left = json.loads(path.read_bytes().removeprefix(mark))
    assert left.pop("added") == 1
    assert left["hooks"].pop("Notification") == [{"hooks": [{"type": "command", "command": "beep"}]}]
    assert b"recall" not in path.read_bytes() or name == "gemini/claude-events-are-others.before.json"
    original = json.loads(_before(name).removeprefix(mark) or b"{}")
    if name not in HAD_OURS:
        assert {**left, "hooks": left["hooks"] or None} == {**original, "hooks": original.get("hooks") or None}


@pytest.mark.parametrize("name", REFUSED)
def test_a_file_that_cannot_be_edited_is_refused_in_words_and_stays(name: str, tmp_path: Path) -> None:
    agent, path = _agent(name), tmp_path / _agent(name).file
    path.write_bytes(_before(name))
    with pytest.raises(SettingsError) as error:
        register(path, ENTRY, tmp_path / "state", agent)
    assert WORDS[name.partition(".")[0]] in str(error.value)
    assert str(path) in str(error.value)
    assert path.read_bytes() == _before(name)
    assert not (tmp_path / "state").exists()


@pytest.mark.parametrize("agent", AGENTS.values(), ids=list(AGENTS))
def test_the_snippet_is_what_setup_writes_into_a_missing_file(agent: Agent) -> None:
    assert snippet(ENTRY, agent).encode() == plan_register(None, ENTRY, agent)
    assert snippet(ENTRY, agent, start=True).encode() == plan_register(None, ENTRY, agent, start=True)
    assert registered(snippet(ENTRY, agent).encode(), agent) == ENTRY


def test_a_bad_group_of_another_event_keeps_nobody_from_the_hook() -> None:
    raw = b'{"hooks": {"SessionStart": {"x": 1}, "Stop": "y"}}'
    for agent in AGENTS.values():
        new = plan_register(raw, ENTRY, agent)
        assert new is not None
        assert plan_unregister(new, raw, agent) == raw
        with pytest.raises(SettingsError, match='"SessionStart" to be a list'):
            plan_register(raw, ENTRY, agent, start=True)


def test_an_entry_of_ours_beside_a_bad_group_of_the_begin_of_sessions_is_found_and_taken_out() -> None:
    command = "/s/bin/recall-hook hook"
    groups = [7, {"hooks": [{"type": "command", "command": command}]}, {"matcher": "x"}]
    raw = json.dumps({"hooks": {"SessionStart": groups}}).encode()
    for agent in list(AGENTS.values())[1:]:
        assert starts(raw, agent)
        left = plan_unregister(raw, None, agent)
        assert left is not None
        assert json.loads(left) == {"hooks": {"SessionStart": [7, {"matcher": "x"}]}}
