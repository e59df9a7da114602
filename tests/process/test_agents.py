"""setup and uninstall for several agents, as a person runs them; each agent's shell runs what was registered."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from support import Sandbox

QUESTION = "which port does the staging database listen on?"
CODEX = '{\r\n\t"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}\r\n}'
GEMINI = '{"security": {"auth": {"selectedType": "gemini-api-key"}}}\n'


@pytest.fixture
def noted(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> Sandbox:
    """A person whose state folder has a name that a shell would take apart. Only the system's programs are on PATH."""
    for name in ("CODEX_HOME", "QWEN_HOME", "QWEN_RUNTIME_DIR", "QWEN_CODE_MEMORY_BASE_DIR", "GEMINI_CLI_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", os.defpath)
    sandbox.move_state(sandbox.root / "the 記録's")
    sandbox.note("staging-port", "The staging database listens on port 6543, not 5432", "It was moved in May.")
    return sandbox


def registered(path: Path, event: str) -> str:
    """The command that stands last under an event."""
    command = json.loads(path.read_bytes())["hooks"][event][-1]["hooks"][-1]["command"]
    assert isinstance(command, str)
    return command


def test_an_entry_of_ours_in_a_file_that_recall_does_not_edit_keeps_the_program(noted: Sandbox) -> None:
    folder = noted.home / ".codex"
    folder.mkdir()
    text = "[[hooks.UserPromptSubmit]]\n[[hooks.UserPromptSubmit.hooks]]\ntype = 'command'\ncommand = 'recall hook'\n"
    (folder / "config.toml").write_text(text, encoding="utf-8")
    done = noted.run("uninstall", check=False)
    assert done.returncode == 1
    assert f"{folder / 'config.toml'} calls recall; take that entry out by hand" in done.stderr
    assert (folder / "config.toml").read_text("utf-8") == text
    (folder / "config.toml").write_text("", encoding="utf-8")
    noted.run("uninstall")


def test_several_agents_are_set_up_answered_and_given_their_bytes_back(noted: Sandbox) -> None:
    codex, gemini = noted.home / ".codex" / "hooks.json", noted.home / ".gemini" / "settings.json"
    qwen = noted.home / ".qwen" / "settings.json"
    for path, text in ((codex, CODEX), (gemini, GEMINI)):
        path.parent.mkdir()
        path.write_bytes(text.encode())
    said = noted.run("setup", "--agent", "codex,gemini", "--agent", "qwen", "--session-start").stdout
    assert "type into Codex, Qwen Code, Gemini CLI;" in said
    assert said.count("open /hooks there") == 1  # what Codex asks of a person
    assert not (noted.claude / "settings.json").exists()
    for path, event, shell in ((codex, "UserPromptSubmit", "sh"), (qwen, "UserPromptSubmit", "bash")):
        command = registered(path, event)
        assert registered(path, "SessionStart") == command
        done = subprocess.run([shell, "-c", command], input=noted.message(QUESTION), capture_output=True)
        assert (done.returncode, done.stderr) == (0, b"")
        assert b"staging-port" in done.stdout
    assert registered(gemini, "BeforeAgent") == registered(gemini, "SessionStart")
    before = [path.read_bytes() for path in (codex, qwen, gemini)]
    again = noted.run("setup", "--agent", "codex,gemini,qwen").stdout
    assert again.count("the hook stands in") == 3
    assert "open /hooks there" not in again
    assert [path.read_bytes() for path in (codex, qwen, gemini)] == before

    noted.run("setup", "--agent", "qwen", "--no-session-start")
    assert set(json.loads(qwen.read_bytes())["hooks"]) == {"UserPromptSubmit"}
    assert noted.run("uninstall").stdout.count("took the hook out of") == 3
    assert codex.read_bytes() == CODEX.encode()
    assert gemini.read_bytes() == GEMINI.encode()
    assert not qwen.parent.exists()


def test_without_a_name_and_a_person_only_claude_code_is_set_up_and_the_others_are_named(noted: Sandbox) -> None:
    (noted.home / ".codex").mkdir()
    said = noted.run("setup").stdout
    assert "also here: Codex; add with `recall setup --agent codex`" in said
    assert not list((noted.home / ".codex").iterdir())
    assert "type into Claude Code;" in said

    said = noted.run("setup", "--yes").stdout
    assert "type into Claude Code, Codex;" in said
    command = registered(noted.home / ".codex" / "hooks.json", "UserPromptSubmit")
    # One that was registered is kept up to date without being named again.
    noted.configure("hook.budget_ms = 999\n")
    assert f"updated the hook in {noted.home / '.codex' / 'hooks.json'}" in noted.run("setup").stdout
    assert registered(noted.home / ".codex" / "hooks.json", "UserPromptSubmit") == f"{command} --budget 999"
    noted.run("uninstall")
    assert not list((noted.home / ".codex").iterdir())


def test_a_dry_run_shows_each_agents_lines_and_changes_nothing(noted: Sandbox) -> None:
    before = sorted(noted.home.rglob("*"))
    said = noted.run("setup", "--dry-run", "--agent", "claude,codex,qwen,gemini", "--session-start").stdout
    assert said.count("would add this to") == 4
    assert '"BeforeAgent"' in said
    assert said.count('"SessionStart"') == 4
    assert said.count('"timeout": 5000') == 4
    assert sorted(noted.home.rglob("*")) == before
    assert not noted.state.exists()


def test_an_agent_whose_file_cannot_be_edited_keeps_nobody_else_back(noted: Sandbox) -> None:
    gemini = noted.home / ".gemini" / "settings.json"
    gemini.parent.mkdir()
    gemini.write_text('{\n  // mine\n  "ui": {}\n}\n')
    done = noted.run("setup", "--agent", "codex,gemini", check=False)
    assert done.returncode == 1
    assert "edits no file with comments" in done.stderr
    assert '"BeforeAgent"' in done.stderr  # what to paste
    assert gemini.read_text() == '{\n  // mine\n  "ui": {}\n}\n'
    assert registered(noted.home / ".codex" / "hooks.json", "UserPromptSubmit")
    noted.run("uninstall")
    assert not (noted.home / ".codex").exists()


def test_folders_that_the_environment_moves_are_used(noted: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODEX_HOME", str(noted.home / "my codex"))
    monkeypatch.setenv("GEMINI_CLI_HOME", str(noted.home / "g"))
    noted.run("setup", "--agent", "codex,gemini")
    assert (noted.home / "my codex" / "hooks.json").exists()
    assert (noted.home / "g" / ".gemini" / "settings.json").exists()
    monkeypatch.delenv("CODEX_HOME")  # another shell: the receipts know the place
    noted.run("uninstall")
    assert not (noted.home / "my codex").exists()


@pytest.mark.parametrize(
    ("file", "text", "reason"),
    [
        (".codex/config.toml", "[features]\nhooks = false\n", "features.hooks is false"),
        (".codex/config.toml", "[features]\ncodex_hooks = false\n", "features.codex_hooks is false"),
        (".gemini/settings.json", '{"hooksConfig": {"enabled": false}}', "hooksConfig.enabled is false"),
        (".qwen/settings.json", '{"disableAllHooks": true}', "disableAllHooks is true"),
    ],
)
def test_a_switch_that_keeps_all_hooks_off_is_named(noted: Sandbox, file: str, text: str, reason: str) -> None:
    path = noted.home / file
    path.parent.mkdir()
    path.write_text(text)
    said = noted.run("setup", "--agent", path.parent.name.removeprefix(".")).stdout
    assert f"runs no hook at all: {reason}" in said
    assert "recall answers from the next message" not in said


def test_what_stands_in_codex_own_file_is_not_registered_again(noted: Sandbox) -> None:
    config = noted.home / ".codex" / "config.toml"
    config.parent.mkdir()
    config.write_text(
        "[[hooks.UserPromptSubmit]]\n[[hooks.UserPromptSubmit.hooks]]\ntype = 'command'\ncommand = 'recall hook'\n"
    )
    for words in (("--dry-run",), ()):
        said = noted.run("setup", "--agent", "codex", *words).stdout
        assert f"{config} calls recall already" in said
        assert not (config.parent / "hooks.json").exists()


@pytest.mark.parametrize(
    "words",
    [("--agent", "cursor"), ("--agent", "codex,"), ("--agent", "")],
)
def test_an_unknown_agent_is_wrong_usage(noted: Sandbox, words: tuple[str, ...]) -> None:
    done = noted.run("setup", *words, check=False)
    assert done.returncode == 2
    assert "claude, codex, qwen, gemini" in done.stderr


def test_a_project_has_a_file_of_its_own_for_claude_code_only(noted: Sandbox) -> None:
    done = noted.run("setup", "--scope", "project", "--agent", "codex", check=False)
    assert done.returncode == 2
    assert "for Claude Code only" in done.stderr


def test_what_was_typed_into_codex_is_found_and_goes_when_it_is_switched_off(noted: Sandbox) -> None:
    day = noted.home / ".codex" / "sessions" / "2026" / "08" / "14"
    day.mkdir(parents=True)
    meta = {"id": "0199", "cwd": str(noted.project), "source": "cli", "originator": "codex-tui"}
    typed = {"type": "user_message", "message": "Which wood is the shed's new roof made of?"}
    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Of larch."}]}
    lines = [("session_meta", meta), ("event_msg", typed), ("response_item", said)]
    stamp = "2026-08-14T09:30:00Z"
    text = "".join(json.dumps({"timestamp": stamp, "type": kind, "payload": one}) + "\n" for kind, one in lines)
    (day / "rollout-2026-08-14T09-30-00-0199.jsonl").write_text(text)
    summaries = noted.home / ".codex" / "memories" / "rollout_summaries"
    summaries.mkdir(parents=True)
    kept = f"thread_id: 0199\ncwd: {noted.project}\n\n# The roof was made by the carpenter from Uri\n"
    (summaries / "2026-08-14T09-30-00-aaaa-roof.md").write_text(kept)

    noted.run("index")
    ask = ("query", "what is the roof of the shed made of?")
    talk, *_ = noted.json(*ask, "--kind", "conversation")["hits"]
    assert (talk["name"], talk["date"]) == ("Which wood is the shed's new roof made of?", "2026-08-14")
    assert noted.json(*ask, "--kind", "memory")["hits"][0]["name"] == "roof"
    assert "[conversation] 2026-08-14 Which wood" in (
        noted.context("which wood is the new roof of the shed made of?") or ""
    )
    noted.run("stop")
    noted.configure("agents.sources = false\nconversations.keep_days = 0\n")
    assert noted.json("index")["removed"] == 2
    assert noted.json(*ask, "--kind", "conversation")["hits"] == []
