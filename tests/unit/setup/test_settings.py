"""Which files setup refuses, and with which words; which entries are ours; what the small readers say."""

import json
from pathlib import Path

import pytest

from recall.core.errors import SettingsError, UsageError
from recall.setup.settings import (
    EVENT,
    HookEntry,
    hooks_disabled,
    plan_register,
    plan_unregister,
    registered,
    settings_path,
    snippet,
)

ENTRY = HookEntry("/s/bin/recall-hook", ("hook", "--home", "/s"), 5)


def _event(*handlers: object) -> bytes:
    return json.dumps({"hooks": {EVENT: [{"hooks": list(handlers)}]}}).encode()


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"// mine\n{}", "line 1, column 1: expected a value, found a comment"),
        (b'{\n  "a": 1, // mine\n}', "line 2, column 11: expected a name in double quotes, found a comment"),
        (b'{\r\n  "a": 1,\r\n}', "line 3, column 1: expected a name in double quotes, found } after a comma"),
        (b'{"a": [1,]}', "line 1, column 10: expected a value, found ] after a comma"),
        (b'{"a": 1 "b": 2}', "line 1, column 9: expected a comma or }, found '\"'"),
        (b"{'a': 1}", 'line 1, column 2: expected a name in double quotes, found "\'"'),
        (b'{"a": ', "line 1, column 7: expected a value, found the end of the file"),
        (b'{"a" 1}', "line 1, column 6: expected a colon, found '1'"),
        (b"{}{}", "line 1, column 3: expected the end of the file, found '{'"),
        (b'{"a": NaN}', "line 1, column 7: expected a value, found 'N'"),
        ('{"日本": truE}'.encode(), "line 1, column 8: expected a value, found 't'"),
        (b"[" * 5000, "line 1, column 102: expected at most 100 levels of nesting"),
        (b'{"a": ' + b"[" * 150 + b"]" * 150 + b"}", "recall edits no file that is nested deeper"),
        (b'{"a": ' + b"[" * 150 + b"]" * 149 + b"}", "Claude Code cannot read this file either"),
        (b"[]", "line 1, column 1: expected the document to be an object, found a list"),
        (b"null", "expected the document to be an object, found null"),
        (b'{"hooks": []}', 'line 1, column 11: expected "hooks" to be an object, found a list'),
        (b'{"hooks": null}', 'expected "hooks" to be an object, found null'),
        (b'{"hooks": {"UserPromptSubmit": {}}}', 'expected "UserPromptSubmit" to be a list, found an object'),
        (b'{"hooks": {"UserPromptSubmit": ["x"]}}', 'a group of "UserPromptSubmit" to be an object, found a text'),
        (b'{"hooks": {"UserPromptSubmit": [{"command": "x"}]}}', 'a group of "UserPromptSubmit" with a list "hooks"'),
        (b'{"hooks": {"UserPromptSubmit": [{"hooks": {}}]}}', '"hooks" in a group of "UserPromptSubmit" to be a list'),
        (_event("x"), 'a hook of "UserPromptSubmit" to be an object, found a text'),
        (_event({"command": "x"}), 'a hook of "UserPromptSubmit" with a "type"'),
        (b'{"hooks": {},\n "h\\u006foks": {}}', 'line 2, column 2: expected "hooks" once, found it twice'),
        (b'{"hooks": {"UserPromptSubmit": [], "UserPromptSubmit": []}}', 'expected "UserPromptSubmit" once'),
        (b'\xef\xbb\xbf{"a": 1,}', "line 1, column 9: expected a name in double quotes"),
        (b'{"a":\n"\xff"}', "line 2, column 2: expected UTF-8, found byte 0xff"),
        ("{}".encode("utf-16"), "expected UTF-8, found UTF-16"),
        (b"\x00{}", "expected a value, found '\\x00'"),
    ],
)
def test_a_file_that_cannot_be_edited_safely_is_refused_with_the_place(raw: bytes, words: str) -> None:
    with pytest.raises(SettingsError) as at_setup:
        plan_register(raw, ENTRY)
    with pytest.raises(SettingsError) as at_uninstall:
        plan_unregister(raw)
    assert words in str(at_setup.value)
    assert "run the command again" in str(at_setup.value)
    assert str(at_uninstall.value) == str(at_setup.value)


def test_a_key_that_stands_twice_elsewhere_is_no_concern_of_ours() -> None:
    raw = b'{"env": {"A": "1", "A": "2"}, "model": "a", "model": "b"}'
    new = plan_register(raw, ENTRY)
    assert new is not None
    assert new.startswith(raw[:-1])


def test_a_path_that_json_cannot_hold_is_refused() -> None:
    entry = HookEntry("/s/\udcff/recall-hook", ("hook",), 5)
    with pytest.raises(SettingsError, match="RECALL_HOME"):
        plan_register(b"{}", entry)


@pytest.mark.parametrize(
    "handler",
    [
        {"type": "command", "command": "/any/where/recall-hook"},
        {"type": "command", "command": "C:\\Users\\Mia\\recall\\recall-hook.exe", "args": []},
        {"type": "command", "command": "/v/bin/recall", "args": ["hook"]},
        {"type": "command", "command": "C:\\v\\Scripts\\recall.exe", "args": ["hook", "--home", "C:\\s"]},
        {"type": "command", "command": "recall", "args": ["hook"], "timeout": 5.5},
        {"type": "command", "command": "/home/me/Downloads/recall-0.1.0-linux-x86_64", "args": ["hook"]},
        {"type": "command", "command": "C:\\d\\recall-1.2.3rc1-windows-x86_64.exe", "args": ["hook"]},
    ],
)
def test_an_entry_of_ours_is_known_by_its_command(handler: dict[str, object]) -> None:
    raw = _event({"type": "command", "command": "echo"}, handler)
    found = registered(raw)
    assert found is not None
    assert found.command == handler["command"]
    assert json.loads(plan_unregister(raw) or b"") == json.loads(_event({"type": "command", "command": "echo"}))
    assert registered(plan_register(raw, ENTRY) or b"") == ENTRY


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("recall hook", ["recall", "hook"]),
        ("/s/current/recall hook", ["/s/current/recall", "hook"]),
        ("RECALL_HOME=/r recall hook", ["recall", "hook", "--home", "/r"]),
        ("A=1 RECALL_HOME='/a b' exec recall hook", ["recall", "hook", "--home", "/a b"]),
        ("RECALL_HOME=/r recall hook --home /q", ["recall", "hook", "--home", "/q"]),
        (
            "/path/to/recall hook --home '/a b' --budget 700",
            ["/path/to/recall", "hook", "--home", "/a b", "--budget", "700"],
        ),
        ('"$HOME/.local/bin/recall" hook', ["$HOME/.local/bin/recall", "hook"]),
        ("C:\\v\\recall.EXE hook", ["C:\\v\\recall.EXE", "hook"]),
        ('"C:\\a b\\recall.exe" hook', ["C:\\a b\\recall.exe", "hook"]),
        ("& 'C:\\a b\\recall.exe' 'hook'", ["C:\\a b\\recall.exe", "hook"]),
        ("recall hook 2>/dev/null || true", ["recall", "hook"]),
        ("recall hook 2>&1", ["recall", "hook"]),
        ("python3 -m recall hook", ["python3", "-m", "recall", "hook"]),
        ("/s/bin/recall-hook hook --home /s", ["/s/bin/recall-hook", "hook", "--home", "/s"]),
        ("'/the notes/recall-hook'", ["/the notes/recall-hook"]),
    ],
)
def test_an_entry_of_ours_is_known_in_every_spelling_replaced_and_removed(command: str, words: list[str]) -> None:
    raw = _event({"type": "command", "command": "echo"}, {"type": "command", "command": command, "timeout": 5})
    found = registered(raw)
    assert found is not None
    assert [found.command, *found.args] == words
    assert json.loads(plan_unregister(raw) or b"") == json.loads(_event({"type": "command", "command": "echo"}))
    new = plan_register(raw, ENTRY) or b""
    assert registered(new) == ENTRY
    assert new.count(b"recall") == 1, "one entry, and it is the new one"


@pytest.mark.parametrize(
    "handler",
    [
        {"type": "command", "command": "/v/bin/recall"},
        {"type": "command", "command": "/v/bin/recall", "args": ["serve", "hook"]},
        {"type": "command", "command": "/v/bin/recall", "args": "hook"},
        {"type": "command", "command": "recall hook && say done"},
        {"type": "command", "command": "recall hook; say done"},
        {"type": "command", "command": "recall hook | tee /tmp/x"},
        {"type": "command", "command": "recall hook\nsay done"},
        {"type": "command", "command": "recall query hook"},
        {"type": "command", "command": "node /x/recall-hook"},
        {"type": "command", "command": "say 'recall hook"},
        {"type": "command", "command": "/v/bin/total-recall", "args": ["hook"]},
        {"type": "command", "command": "/v/recall-hook/run.sh"},
        {"type": "command", "command": "node", "args": ["/x/recall-hook"]},
        {"type": "command", "command": 7, "args": [["hook"]]},
        {"type": "prompt", "prompt": "recall hook"},
        {"type": "http", "command": "recall-hook", "url": "http://localhost"},
    ],
)
def test_an_entry_of_another_tool_is_left_alone(handler: dict[str, object]) -> None:
    raw = _event(handler)
    assert registered(raw) is None
    assert plan_unregister(raw) is None
    new = plan_register(raw, ENTRY)
    assert new is not None
    assert json.loads(new)["hooks"][EVENT][0] == {"hooks": [handler]}


def test_an_entry_of_ours_under_another_event_is_left_alone() -> None:
    raw = b'{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "/s/bin/recall-hook"}]}]}}'
    assert registered(raw) is None
    assert plan_unregister(raw) is None


def test_an_update_keeps_what_the_person_added_to_the_entry_and_how_it_is_written() -> None:
    raw = b"""{"hooks": {"UserPromptSubmit": [{"hooks": [
  {"timeout":  30, "statusMessage": "looking",
   "command": "/old/recall-hook", "type": "command"}
]}]}}"""
    new = plan_register(raw, ENTRY)
    assert (
        new
        == b"""{"hooks": {"UserPromptSubmit": [{"hooks": [
  {"timeout":  5, "statusMessage": "looking",
   "command": "/s/bin/recall-hook", "type": "command", "args": ["hook", "--home", "/s"]}
]}]}}"""
    )


def test_the_same_number_written_otherwise_becomes_a_whole_number() -> None:
    raw = (plan_register(None, ENTRY) or b"").replace(b'"timeout": 5', b'"timeout": "5"')
    assert (registered(raw) or ENTRY).timeout == 0
    assert plan_register(raw, ENTRY) == plan_register(None, ENTRY)


def test_containers_that_stood_empty_before_setup_stay() -> None:
    for raw in (b'{\n  "hooks": {}\n}', b'{\n  "hooks": {\n    "UserPromptSubmit": []\n  }\n}'):
        new = plan_register(raw, ENTRY)
        assert new is not None
        assert plan_unregister(new, raw) == raw
        assert plan_unregister(new) == b"{}"


def test_a_group_of_the_person_that_only_held_our_entry_goes_with_it() -> None:
    raw = _event({"type": "command", "command": "recall-hook"}).replace(b'{"hooks": [{', b'{"matcher": "", "hooks": [{')
    assert plan_unregister(raw) == b"{}"


def test_the_client_may_have_rewritten_the_file_in_between() -> None:
    ours = json.loads(plan_register(b"{}", ENTRY) or b"")
    raw = json.dumps({**ours, "skipDangerousModePermissionPrompt": True}, indent=2).encode()
    assert plan_unregister(raw) == b'{\n  "skipDangerousModePermissionPrompt": true\n}'


def test_the_snippet_is_what_setup_writes_into_a_missing_file() -> None:
    assert snippet(ENTRY).encode() == plan_register(None, ENTRY)
    assert registered(snippet(ENTRY).encode()) == ENTRY


def test_blank_files_hold_nothing_of_ours() -> None:
    for raw in (b"", b" \r\n", b"\xef\xbb\xbf"):
        assert registered(raw) is None
        assert plan_unregister(raw) is None
        assert not hooks_disabled(raw)


def test_a_switch_for_all_hooks_is_seen() -> None:
    assert hooks_disabled(b'{"disableAllHooks" : true}')
    assert not hooks_disabled(b'{"disableAllHooks": "true"}')
    assert not hooks_disabled(b'{"env": {"disableAllHooks": true}}')


def test_the_settings_file_of_each_scope() -> None:
    claude, project = Path("/h/.claude"), Path("/p")
    assert settings_path("user", claude, project) == Path("/h/.claude/settings.json")
    assert settings_path("project", claude, project) == Path("/p/.claude/settings.local.json")
    with pytest.raises(UsageError, match="project folder"):
        settings_path("project", claude, None)
