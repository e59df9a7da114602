"""What setup says of other programs called recall and of other hooks; the entries are those that these tools write."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from recall.setup.others import (
    candidates,
    enabled_plugins,
    hook_line,
    hooking_plugins,
    hooks_each_message,
    namesake_line,
    namesakes,
    notices,
    other_hooks,
    plugin_line,
)

CMEM = "node /home/a/.claude/cmem/dist/hooks/recall.js"
MEMORY_BANK = 'bash "$HOME/.claude/skills/memory-bank/hooks/on-prompt.sh"'
PLUGIN_HOOKS = {
    "description": "hooks",
    "hooks": {"UserPromptSubmit": [{"hooks": [{"type": "command", "command": "bash ${CLAUDE_PLUGIN_ROOT}/x.sh"}]}]},
}
OTHER_EVENT = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}}


def settings(*handlers: dict[str, Any], **more: object) -> dict[str, Any]:
    return {"hooks": {"UserPromptSubmit": [{"hooks": [handler]} for handler in handlers]}, **more}


def command(text: str, *args: str) -> dict[str, Any]:
    return {"type": "command", "command": text, **({"args": list(args)} if args else {})}


def program(path: Path, text: str = "#!/bin/sh\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


@pytest.fixture
def own(tmp_path: Path) -> Path:
    return program(tmp_path / "venv" / "bin" / "recall", "#!/bin/sh\n# this one\n")


def test_windows_looks_for_every_kind_of_program() -> None:
    found = candidates({"PATH": "C:\\a;;C:\\b", "PATHEXT": ".EXE;.CMD"}, "win32")
    assert [path.name for path in found] == ["recall.exe", "recall.cmd"] * 2
    assert len(candidates({"PATH": "C:\\a"}, "win32")) == 4
    assert candidates({"PATH": "/a::/b"}, "linux") == [Path("/a/recall"), Path("/b/recall")]
    assert candidates({}, "linux") == []


def test_another_program_is_told_from_links_and_copies_of_this_one(tmp_path: Path, own: Path) -> None:
    link = tmp_path / "link" / "recall"
    link.parent.mkdir()
    link.symlink_to(own)
    (tmp_path / "copy").mkdir()
    copy = Path(shutil.copy(own, tmp_path / "copy" / "recall"))
    other = program(tmp_path / "other" / "recall")
    again = tmp_path / "again" / "recall"
    again.parent.mkdir()
    again.symlink_to(other)
    (tmp_path / "folder" / "recall").mkdir(parents=True)
    (tmp_path / "text").mkdir()
    (tmp_path / "text" / "recall").write_text("no program")
    places = [link, copy, other, again, tmp_path / "folder" / "recall", tmp_path / "text" / "recall"]
    found = namesakes(own, {"PATH": ":".join(str(path.parent) for path in places)}, "linux")
    assert found == [(link, True), (copy, True), (other, False)]


def test_which_of_the_two_a_shell_starts_is_said(tmp_path: Path, own: Path) -> None:
    other = program(tmp_path / "other" / "recall")
    for first, second, words in (
        (other, own, f"`recall` in a shell starts another program, {other}; this one is {own}"),
        (own, other, f"another program called recall is on PATH too: {other}"),
    ):
        path = f"{first.parent}:{second.parent}"
        assert notices(own, tmp_path / "none", None, {"PATH": path}, "linux") == [words]
        assert words == namesake_line(other, own, first=first is other)
    assert notices(own, tmp_path / "none", None, {"PATH": str(own.parent)}, "linux") == []


def test_our_own_entries_are_no_other_hooks() -> None:
    ours = [
        command("/home/a/.local/share/recall/bin/recall-hook", "hook", "--home", "/x"),
        command("C:\\recall\\recall.exe", "hook"),
        command("/old/bin/recall-hook"),
    ]
    assert other_hooks(settings(*ours)) == []
    assert other_hooks(settings(*ours, command("/usr/bin/recall", "search"))) == ["/usr/bin/recall search"]


def test_hooks_of_every_kind_are_seen() -> None:
    found = other_hooks(
        settings(
            command(CMEM), {"type": "http", "url": "http://localhost:1/hook"}, {"type": "prompt", "prompt": "judge"}
        )
    )
    assert found == [CMEM, "http://localhost:1/hook", "a prompt"]


@pytest.mark.parametrize(
    "broken",
    [
        None,
        [],
        {},
        {"hooks": []},
        {"hooks": {"UserPromptSubmit": {}}},
        {"hooks": {"UserPromptSubmit": [1, {"hooks": 2}]}},
    ],
)
def test_what_is_not_of_the_clients_shape_says_nothing(broken: object, tmp_path: Path) -> None:
    assert other_hooks(broken) == []
    assert enabled_plugins([broken, {"enabledPlugins": ["a"]}]) == []
    (tmp_path / "settings.json").write_text(json.dumps(broken))
    assert notices(tmp_path / "recall", tmp_path, None, {}, "linux") == []
    (tmp_path / "settings.json").write_bytes(b'{"hooks": \xff')
    assert notices(tmp_path / "recall", tmp_path, None, {}, "linux") == []


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (CMEM, "cmem"),
        (MEMORY_BANK, "memory-bank"),
        ("uvx memsearch hook", "memsearch"),
        ("node /x/Claude-Mem/a.js", "claude-mem"),
    ],
)
def test_known_memories_are_named(text: str, name: str) -> None:
    assert hook_line(text, "/f") == f"{name} answers the same messages, by a hook in /f"


def test_other_hooks_are_shown_by_their_beginning_on_one_line() -> None:
    said = hook_line("curl\n-H 'Authorization: s3cret' http://x", "/f")
    assert said == "another hook answers the same messages: curl -H (/f)"
    assert "mem0" not in hook_line("/opt/mem01/run", "/f").split(":")[0]


def test_a_plugin_switched_off_in_the_project_is_off() -> None:
    user = {"enabledPlugins": {"mem0@mem0-plugins": True, "a@m": ["1.0"], "b@m": False}}
    project = {"enabledPlugins": {"mem0@mem0-plugins": False, "b@m": True}}
    assert enabled_plugins([user, project]) == ["a@m", "b@m"]


def installed(claude: Path, **plugins: object) -> None:
    """Write installed_plugins.json; underscores of a name stand for the @."""
    (claude / "plugins").mkdir(exist_ok=True)
    named = {name.replace("__", "@"): entry for name, entry in plugins.items()}
    (claude / "plugins" / "installed_plugins.json").write_text(json.dumps({"version": 2, "plugins": named}))


def test_plugins_are_named_when_they_hook_into_each_message(tmp_path: Path) -> None:
    roots = {name: tmp_path / name for name in ("by_file", "by_path", "inline", "quiet", "no_hooks")}
    for root in roots.values():
        (root / "hooks").mkdir(parents=True)
        (root / ".claude-plugin").mkdir()
    (roots["by_file"] / "hooks" / "hooks.json").write_text(json.dumps(PLUGIN_HOOKS))
    (roots["by_path"] / "more.json").write_text(json.dumps(PLUGIN_HOOKS))
    (roots["by_path"] / ".claude-plugin" / "plugin.json").write_text('{"name": "x", "hooks": ["./more.json"]}')
    (roots["inline"] / ".claude-plugin" / "plugin.json").write_text(json.dumps({"hooks": PLUGIN_HOOKS["hooks"]}))
    (roots["quiet"] / "hooks" / "hooks.json").write_text(json.dumps(OTHER_EVENT))
    installed(
        tmp_path,
        **{f"{name}__m": [{"scope": "user", "installPath": str(root)}] for name, root in roots.items()},
        old__m={"installPath": str(roots["by_file"])},
    )
    enabled = [f"{name}@m" for name in (*roots, "old", "unknown")]
    assert hooking_plugins(enabled, tmp_path) == ["by_file@m", "by_path@m", "inline@m", "old@m"]


def test_a_known_memory_counts_without_its_files_but_not_when_they_say_otherwise(tmp_path: Path) -> None:
    assert hooking_plugins(["claude-mem@thedotmack", "formatter@m"], tmp_path) == ["claude-mem@thedotmack"]
    (tmp_path / "root" / "hooks").mkdir(parents=True)
    (tmp_path / "root" / "hooks" / "hooks.json").write_text(json.dumps(OTHER_EVENT))
    (tmp_path / "plugins").mkdir()
    registry = {"plugins": {"claude-mem@thedotmack": [{"installPath": str(tmp_path / "root")}]}}
    (tmp_path / "plugins" / "installed_plugins.json").write_text(json.dumps(registry))
    assert hooking_plugins(["claude-mem@thedotmack"], tmp_path) == []
    assert plugin_line("claude-mem@thedotmack") == "claude-mem answers the same messages: plugin claude-mem@thedotmack"
    assert not hooks_each_message([OTHER_EVENT])


def test_each_thing_is_said_once_and_nothing_is_written(tmp_path: Path, own: Path) -> None:
    claude = tmp_path / "home" / ".claude"
    claude.mkdir(parents=True)
    (claude / "settings.json").write_text(
        json.dumps(settings(command(CMEM), command(CMEM), enabledPlugins={"memsearch@memsearch-plugins": True}))
    )
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    said = notices(own, claude, tmp_path / "home", {"PATH": str(own.parent)}, "linux")
    assert said == [
        f"cmem answers the same messages, by a hook in {claude / 'settings.json'}",
        "memsearch answers the same messages: plugin memsearch@memsearch-plugins",
    ]
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before
