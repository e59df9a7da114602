"""Commands as one text: what the shells of this machine make of it, and what is written for those of Windows."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.core.errors import SettingsError
from recall.setup.agents import AGENTS, agents
from recall.setup.entries import HookEntry, handler_of
from recall.setup.settings import plan_register, plan_unregister, registered
from recall.setup.shells import Shell, join, split

HOME = '/home/mia/the 記録\'s "notes" $HOME `x` \\ end'
SHELLS = [shell for shell in ("sh", "bash", "dash", "zsh", "ksh", "fish") if shutil.which(shell)]
WINDOWS = HookEntry("C:\\Users\\Mia Ito\\記録\\recall.exe", ("hook", "--home", "C:\\Users\\Mia Ito\\it’s"), 5)


@pytest.mark.parametrize("shell", SHELLS)
def test_a_shell_takes_the_text_apart_into_the_same_words(shell: str, tmp_path: Path) -> None:
    words = ["hook", "--home", HOME, ""]
    script = tmp_path / "a folder" / "recall-hook"
    script.parent.mkdir()
    script.write_text(f"#!{sys.executable} -IS\nimport json, sys\nprint(json.dumps(sys.argv[1:]))\n")
    script.chmod(0o755)
    done = subprocess.run([shell, "-c", join([str(script), *words], "sh")], capture_output=True)
    assert json.loads(done.stdout) == words


@given(st.sampled_from(["sh", "powershell"]), st.lists(st.text(st.characters(codec="utf-8")), min_size=1, max_size=4))
def test_what_is_joined_splits_into_the_same_words(shell: Shell, words: list[str]) -> None:
    assert split(join(words, shell), shell) == words


@given(st.lists(st.text(st.characters(codec="utf-8"), min_size=1), min_size=1, max_size=4))
def test_cmd_is_told_plain_words_or_nothing(words: list[str]) -> None:
    try:
        text = join(words, "cmd")
    except SettingsError as error:
        assert "RECALL_HOME" in str(error)
    else:
        assert split(text, "cmd") == words
        assert not set(text) & set("\"'&|<>^%!()\t\n")


@given(st.text(max_size=30), st.sampled_from(["sh", "powershell", "cmd"]))
def test_any_text_splits_into_something(text: str, shell: Shell) -> None:
    assert all(isinstance(word, str) for word in split(text, shell))


def test_windows_agents_are_told_in_the_words_of_their_shell() -> None:
    table = agents("win32")
    said = "& 'C:\\Users\\Mia Ito\\記録\\recall.exe' 'hook' '--home' 'C:\\Users\\Mia Ito\\it’’s'"
    assert handler_of(table["gemini"], WINDOWS) == {"type": "command", "command": said, "timeout": 5000}
    qwen = {"type": "command", "command": said, "timeout": 5000, "shell": "powershell"}
    assert handler_of(table["qwen"], WINDOWS) == qwen
    plain = HookEntry("C:\\Users\\ito\\記録\\recall.exe", ("hook", "--home", "C:\\Users\\ito\\s"), 5)
    codex = {
        "type": "command",
        "command": "C:\\Users\\ito\\記録\\recall.exe hook --home C:\\Users\\ito\\s",
        "timeout": 5,
    }
    assert handler_of(table["codex"], plain) == codex
    claude = {"type": "command", "command": WINDOWS.command, "args": list(WINDOWS.args), "timeout": 5}
    assert handler_of(table["claude"], WINDOWS) == claude


@pytest.mark.parametrize("name", ["claude", "qwen", "gemini"])
def test_windows_entries_are_known_again_and_taken_out(name: str) -> None:
    agent = agents("win32")[name]  # type: ignore[index]
    raw = b'{\n  "theme": "x"\n}\n'
    new = plan_register(raw, WINDOWS, agent, start=True)
    assert new is not None
    assert registered(new, agent) == WINDOWS
    assert plan_register(new, WINDOWS, agent) is None
    assert plan_unregister(new, raw, agent) == raw


def test_codex_on_windows_knows_an_entry_that_was_quoted_by_hand() -> None:
    agent = agents("win32")["codex"]
    handler = {"type": "command", "command": '"C:\\Program Files\\recall.exe" hook --home "C:\\a b"'}
    raw = json.dumps({"hooks": {"UserPromptSubmit": [{"hooks": [handler]}]}}).encode()
    assert registered(raw, agent) == HookEntry("C:\\Program Files\\recall.exe", ("hook", "--home", "C:\\a b"), 0)


@pytest.mark.parametrize(
    "command",
    ["recall", "recall serve hook", "/x/total-recall hook", "node /x/recall-hook", "echo 'recall hook'", "'", "", "  "],
)
def test_a_command_of_another_tool_is_left_alone(command: str) -> None:
    raw = json.dumps({"hooks": {"UserPromptSubmit": [{"hooks": [{"type": "command", "command": command}]}]}}).encode()
    assert registered(raw, AGENTS["codex"]) is None
    assert plan_unregister(raw, None, AGENTS["codex"]) is None
