"""Which agents a setup is for, by what is on the machine, what was named and what a person answers."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from recall.cli import agents
from recall.cli.agents import choose_agents, target
from recall.core.errors import UsageError
from recall.setup.agents import AGENTS
from recall.setup.places import HookFile
from recall.setup.registration import register
from recall.setup.settings import HookEntry
from recall.setup.switch import switched_off, unreadable
from recall.sources.agents import HOMES, AgentName

ENTRY = HookEntry("/s/bin/recall-hook", ("hook", "--home", "/s"), 5)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home without any agent, and no program of theirs on PATH."""
    for one in HOMES.values():
        monkeypatch.delenv(one.variable, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr(agents, "somebody", lambda: False)
    yield tmp_path


def names(named: list[AgentName], *, ask: bool = True, yes: bool = False) -> tuple[list[str], list[str]]:
    taken, left = choose_agents(named, ask=ask, yes=yes)
    return [agent.name for agent in taken], [agent.name for agent in left]


def answering(monkeypatch: pytest.MonkeyPatch, *yes: str) -> list[str]:
    """A person who says yes to the agents with these words; what they were asked."""
    asked: list[str] = []
    monkeypatch.setattr(agents, "somebody", lambda: True)

    def confirm(question: str) -> bool:
        asked.append(question)
        return any(word in question for word in yes)

    monkeypatch.setattr(agents, "confirm", confirm)
    return asked


def test_named_agents_are_taken_whether_they_are_here_or_not(home: Path) -> None:
    (home / ".qwen").mkdir()
    assert names(["gemini", "codex"]) == (["codex", "gemini"], [])


def test_on_a_machine_without_any_agent_claude_code_is_set_up_as_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    assert names([]) == (["claude"], [])
    assert names([], yes=True) == (["claude"], [])
    assert answering(monkeypatch) == []
    assert names([]) == (["claude"], [])


def test_nobody_to_ask_takes_claude_code_and_names_the_others(home: Path) -> None:
    (home / ".codex").mkdir()
    program = home / "bin" / "qwen"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert names([]) == (["claude"], ["codex", "qwen"])
    assert names([], yes=True) == (["codex", "qwen"], [])
    (home / ".claude").mkdir()
    assert names([], yes=True) == (["claude", "codex", "qwen"], [])


def test_a_person_is_asked_about_each_other_agent_that_is_here(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (".claude", ".codex", ".gemini"):
        (home / name).mkdir()
    asked = answering(monkeypatch, "Gemini")
    assert names([]) == (["claude", "gemini"], ["codex"])
    codex, gemini = asked
    assert str(home / ".codex" / "hooks.json") in codex
    assert str(home / ".gemini" / "settings.json") in gemini
    asked.clear()
    assert names([], ask=False) == (["claude"], ["codex", "gemini"])  # a dry run
    assert asked == []


def test_an_agent_that_calls_recall_is_not_asked_about_again(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    register(home / ".codex" / "hooks.json", ENTRY, home / "state", AGENTS["codex"])
    (home / ".gemini").mkdir()
    (home / ".gemini" / "settings.json").write_text("// broken for us\n")
    asked = answering(monkeypatch)
    assert names([]) == (["codex"], ["gemini"])
    assert len(asked) == 1


def test_the_scope_of_a_project_is_claude_codes(home: Path) -> None:
    assert target(AGENTS["claude"], "project", "/p").path == Path("/p/.claude/settings.local.json")
    assert target(AGENTS["qwen"], "user", None).path == home / ".qwen" / "settings.json"
    with pytest.raises(UsageError, match="not for Gemini CLI"):
        target(AGENTS["gemini"], "project", "/p")


@pytest.mark.parametrize(
    ("config", "off"),
    [
        ("[features]\nhooks = false\n", True),
        ("[features]\ncodex_hooks = false\n", True),
        ("[features]\nhooks = true\n", False),
        ("features = 1\n", False),
        ("[features\n", False),
    ],
)
def test_the_switch_of_codex_stands_in_another_file(tmp_path: Path, config: str, off: bool) -> None:
    file = HookFile(AGENTS["codex"], tmp_path / "hooks.json")
    (tmp_path / "config.toml").write_text(config)
    assert bool(switched_off(file)) is off
    assert bool(unreadable(file)) is (config == "[features\n")


@pytest.mark.parametrize(
    ("content", "readable"),
    [
        (b"\xef\xbb\xbf[features]\n", True),
        ("# d\u00e9sactiv\u00e9\n".encode("latin-1"), False),
        (b'model = "a"\nmodel = "b"\n', False),
        (b"[features]\n[features]\n", False),
        (b"", True),
    ],
)
def test_a_config_that_codex_cannot_read_is_named(tmp_path: Path, content: bytes, readable: bool) -> None:
    (tmp_path / "config.toml").write_bytes(content)
    said = unreadable(HookFile(AGENTS["codex"], tmp_path / "hooks.json"))
    assert ("Codex cannot read it" in said) is not readable
    assert str(tmp_path / "config.toml") in said or readable


CODEX_HOOKS = """
[[hooks.UserPromptSubmit]]
[[hooks.UserPromptSubmit.hooks]]
type = "command"
command = "{command}"
timeout = 5
"""


@pytest.mark.parametrize(
    ("command", "ours"),
    [("/s/bin/recall-hook hook --home /s", True), ("~/bin/recall hook", True), ("/opt/other hook", False)],
)
def test_what_a_person_wrote_into_codex_own_file_is_not_registered_again(
    tmp_path: Path, command: str, ours: bool
) -> None:
    (tmp_path / "config.toml").write_text(CODEX_HOOKS.format(command=command))
    file = HookFile(AGENTS["codex"], tmp_path / "hooks.json")
    assert bool(agents.by_hand(file)) is ours
    register(file.path, HookEntry("/s/bin/recall-hook", ("hook", "--home", "/s"), 5), tmp_path, file.agent)
    assert agents.by_hand(file) == ""  # what is registered twice is kept up to date


def test_answers_are_promised_to_nobody_whose_hooks_are_off(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    off = HookFile(AGENTS["codex"], tmp_path / "codex" / "hooks.json")
    off.path.parent.mkdir()
    (off.path.parent / "config.toml").write_text("[features]\ncodex_hooks = false\n")
    agents.say_rest([off])
    said = capsys.readouterr().out
    assert "Codex runs no hook at all: features.codex_hooks is false" in said
    assert "answers nobody" in said
    agents.say_rest([off, HookFile(AGENTS["claude"], tmp_path / "settings.json")])
    assert "type into Claude Code;" in capsys.readouterr().out


def test_a_switch_that_is_on_is_no_reason(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    for text in ('{"hooksConfig": {"enabled": true}}', '{"hooksConfig": 1}', "{}", '{"disableAllHooks": true}', "//"):
        path.write_text(text)
        assert switched_off(HookFile(AGENTS["gemini"], path)) == ""
