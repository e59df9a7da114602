"""The plugin's files: one version, hooks in exec form, and nothing that is not there."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from recall.version import VERSION

ROOT = Path(__file__).resolve().parents[3]
PLUGIN = ROOT / "plugin"


def load(*parts: str) -> Any:
    return json.loads(ROOT.joinpath(*parts).read_text("utf-8"))


def test_the_version_is_the_programs() -> None:
    """Claude Code fetches an update only where the version has changed."""
    assert load("plugin", ".claude-plugin", "plugin.json")["version"] == VERSION
    assert {plugin["version"] for plugin in load(".claude-plugin", "marketplace.json")["plugins"]} == {VERSION}


def test_each_plugin_of_the_marketplace_is_there() -> None:
    for plugin in load(".claude-plugin", "marketplace.json")["plugins"]:
        folder = ROOT / plugin["source"]
        assert (folder / ".claude-plugin" / "plugin.json").is_file() or (folder / "SKILL.md").is_file()


def test_the_hooks_are_in_exec_form_and_would_harm_nobody_without_their_arguments() -> None:
    """Clients before 2.1.139 drop the arguments and send JSON: a bare `sh` would run the person's words."""
    hooks = load("plugin", "hooks", "hooks.json")["hooks"]
    assert hooks.keys() == {"UserPromptSubmit", "SessionStart"}
    for (group,) in hooks.values():
        (entry,) = group["hooks"]
        assert entry == {
            "type": "command", "command": "${CLAUDE_PLUGIN_ROOT}/bin/recall", "args": ["hook"], "timeout": 5,
        }  # fmt: skip


@pytest.mark.skipif(sys.platform == "win32", reason="Windows knows no such permission")
def test_the_launcher_may_be_run() -> None:
    assert os.access(PLUGIN / "bin" / "recall", os.X_OK)
