"""The hook's checks in each agent's own file, shape and unit of time."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from recall.doctor import hook
from recall.doctor.case import Case, Finding
from recall.setup.agents import AGENTS, CLAUDE, Agent
from recall.setup.launcher import DEFAULT_BUDGET_MS, hook_entry, write_launcher
from recall.setup.registration import register
from recall.sources.agents import HOMES
from recall.wire.paths import StatePaths

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the launcher is a script")


@pytest.fixture(params=list(AGENTS.values()), ids=list(AGENTS))
def agent(request: pytest.FixtureRequest) -> Agent:
    found: Agent = request.param
    return found


@pytest.fixture
def case(tmp_path: Path, agent: Agent) -> Case:
    """A state folder whose hook is registered with one agent, for messages and for the begin of sessions."""
    state = tmp_path / "state"
    state.mkdir(mode=0o700)
    (state / "config.toml").touch(0o600)
    environment = {home.variable: str(tmp_path / name) for name, home in HOMES.items()}
    write_launcher(state)
    register(agent.settings(environment), hook_entry(state, DEFAULT_BUDGET_MS), state, agent, start=True)
    return Case(StatePaths(str(state)), environment, tmp_path, "linux", 0.0, tmp_path / "managed")


def again(case: Case) -> Case:
    """The same machine, looked at anew."""
    return Case(case.paths, case.environment, case.folder, case.platform, case.now, case.managed)


def findings(case: Case) -> list[Finding]:
    checks = (hook.readable, hook.switched_off, hook.registered, hook.entry, hook.command)
    return [line for check in checks for line in check(again(case)) if line.state != "ok"]


def change(case: Case, agent: Agent, how: Callable[[dict[str, object]], object]) -> None:
    """Change our handler for messages."""
    file = agent.settings(case.environment)
    value = json.loads(file.read_text("utf-8"))
    how(value["hooks"][agent.prompt][0]["hooks"][0])
    file.write_text(json.dumps(value, indent=2), "utf-8")


def mend(found: Finding) -> None:
    assert found.fix is not None
    assert found.fix()


def test_what_setup_registers_is_well(case: Case, agent: Agent) -> None:
    assert findings(case) == []
    (found,) = hook.registered(case)
    assert found.facts["agents"] == agent.name


def test_a_time_limit_is_judged_in_the_agents_own_unit(case: Case, agent: Agent) -> None:
    wrong = 0.1 if agent.per_second == 1 else 5
    change(case, agent, lambda handler: handler.update(timeout=wrong))
    (found,) = findings(case)
    assert (found.name, found.code) == ("entry", "timeout-short")
    mend(found)
    assert findings(case) == []


def test_a_command_that_is_gone_is_written_again_wherever_it_is_named(case: Case) -> None:
    (case.home / "bin" / "recall-hook").unlink()
    (found,) = findings(case)
    assert (found.name, found.code) == ("command", "gone")
    mend(found)
    assert findings(case) == []


def test_an_entry_for_the_begin_of_sessions_alone_names_a_missing_command_too(
    case: Case, agent: Agent, tmp_path: Path
) -> None:
    file = agent.settings(case.environment)
    value = json.loads(file.read_text("utf-8"))
    (handler,) = value["hooks"][agent.start][0]["hooks"]
    handler["command"] = handler["command"].replace(str(case.home / "bin"), str(tmp_path / "gone"))
    file.write_text(json.dumps(value), "utf-8")
    (found,) = findings(case)
    assert (found.name, found.code) == ("command", "gone")
    mend(found)
    assert findings(case) == []


def test_hooks_that_are_switched_off_are_named(case: Case, agent: Agent) -> None:
    names, word = agent.switch
    if not names:
        return  # its switch stands in another file
    file = agent.settings(case.environment)
    value = json.loads(file.read_text("utf-8"))
    inner = value
    for name in names[:-1]:
        inner = inner.setdefault(name, {})
    inner[names[-1]] = json.loads(word)
    file.write_text(json.dumps(value), "utf-8")
    (found,) = findings(case)
    assert (found.name, found.state) == ("hooks", "problem")
    assert not found.fixable


def test_a_file_with_comments_is_broken_for_those_alone_that_do_not_read_them(case: Case, agent: Agent) -> None:
    file = agent.settings(case.environment)
    file.write_text("// mine\n" + file.read_text("utf-8"), "utf-8")
    found = {(line.name, line.state) for line in findings(case)}
    assert ("settings", "note" if agent.comments else "problem") in found
    assert ("hook", "note") in found, "whether it calls recall cannot be told"


def test_an_entry_of_another_state_folder_is_not_ours(case: Case, agent: Agent) -> None:
    other = Case(StatePaths(f"{case.paths.home}2"), case.environment, case.folder, "linux", 0.0, case.managed)
    (found,) = hook.registered(other)
    assert found.code == "other-folder"


def begin(case: Case, agent: Agent, how: Callable[[dict[str, object], dict[str, object]], object]) -> None:
    """Change our group and our handler for the begin of sessions."""
    file = agent.settings(case.environment)
    value = json.loads(file.read_text("utf-8"))
    group = value["hooks"][agent.start][0]
    how(group, group["hooks"][0])
    file.write_text(json.dumps(value, indent=2), "utf-8")


def test_an_entry_for_the_begin_of_sessions_is_judged_like_the_other(case: Case, agent: Agent) -> None:
    begin(case, agent, lambda _, handler: handler.update(timeout=0))
    (found,) = findings(case)
    assert (found.name, found.code) == ("entry", "timeout-wrong")
    mend(found)
    assert findings(case) == []
    begin(case, agent, lambda group, _: group.update(matcher="Bash"))
    (found,) = findings(case)
    assert (found.name, found.code) == ("entry", "matcher")
    mend(found)
    assert findings(case) == []
    begin(case, agent, lambda group, _: group.update(matcher="startup"))
    assert findings(case) == []


def test_a_matcher_that_others_share_is_left_to_the_person(case: Case, agent: Agent) -> None:
    theirs = {"type": "command", "command": "say hello"}
    begin(case, agent, lambda group, handler: group.update(matcher="Bash", hooks=[handler, theirs]))
    (found,) = findings(case)
    assert (found.code, found.fixable) == ("matcher", False)


def test_a_hook_that_runs_beside_the_message_is_named(case: Case, agent: Agent) -> None:
    change(case, agent, lambda handler: handler.update({"async": True}))
    if agent.name == "gemini":  # knows no such key
        assert findings(case) == []
        return
    (found,) = findings(case)
    assert (found.name, found.code, found.state) == ("entry", "async", "problem")
    mend(found)
    assert findings(case) == []


def codex_config(case: Case, text: str) -> None:
    AGENTS["codex"].settings(case.environment).with_name("config.toml").write_text(text, "utf-8")


@pytest.mark.parametrize(
    ("config", "found"),
    [
        ("[features]\nhooks = false\n", [("hooks", "disabled")]),
        ("[features]\ncodex_hooks = false\n", [("hooks", "disabled")]),
        ("[features]\nhooks = true\n", []),
        ("[features\n", [("settings", "invalid")]),
        ("a = 1\na = 2\n", [("settings", "invalid")]),
    ],
)
@pytest.mark.parametrize("agent", [AGENTS["codex"]], ids=["codex"])
def test_codex_other_file_is_looked_into(case: Case, config: str, found: list[tuple[str, str]]) -> None:
    codex_config(case, config)
    assert [(line.name, line.code) for line in findings(case)] == found


@pytest.mark.parametrize("agent", [AGENTS["codex"]], ids=["codex"])
def test_what_a_person_wrote_into_codex_config_is_a_registration_and_theirs_to_mend(case: Case, agent: Agent) -> None:
    command = json.loads(agent.settings(case.environment).read_text())["hooks"][agent.prompt][0]["hooks"][0]["command"]
    text = "[[hooks.UserPromptSubmit]]\n[[hooks.UserPromptSubmit.hooks]]\ntype = 'command'\n"
    codex_config(case, f'{text}command = "{command}"\n')
    (found,) = findings(case)
    assert (found.name, found.code, found.fixable) == ("entry", "both", False)
    agent.settings(case.environment).unlink()
    assert findings(case) == []
    codex_config(case, f'{text}command = "{command}"\ntimeout = 0.1\n')
    (found,) = findings(case)
    assert (found.code, found.fixable) == ("timeout-short", False)
    codex_config(case, f'{text}command = "/gone/recall hook --home {case.home}"\n')
    (found,) = findings(case)
    assert (found.name, found.code, found.fixable) == ("command", "gone", False)


def test_a_hook_in_another_spelling_is_found_and_judged(case: Case, agent: Agent) -> None:
    spelt = f"RECALL_HOME={case.home} /gone/recall hook"
    change(case, agent, lambda handler: (handler.pop("args", None), handler.update(command=spelt)))
    (found,) = findings(case)
    assert (found.name, found.code) == ("command", "gone")
    mend(found)
    assert findings(case) == []


def test_a_name_alone_is_looked_for_on_the_path(case: Case, agent: Agent, tmp_path: Path) -> None:
    spelt = f"recall hook --home {case.home}"
    change(case, agent, lambda handler: (handler.pop("args", None), handler.update(command=spelt)))
    (found,) = findings(case)
    assert found.code == "gone"
    (tmp_path / "recall").symlink_to(Path(sys.executable).with_name("recall"))
    there = {**case.environment, "PATH": str(tmp_path)}
    assert findings(Case(case.paths, there, case.folder, case.platform, case.now, case.managed)) == []


@pytest.mark.parametrize(
    ("plant", "code", "state"),
    [
        (lambda file: file.write_text("{"), "invalid", "problem"),
        (lambda file: (file.unlink(), file.mkdir()), "no-file", "problem"),
        (lambda file: file.write_text('{"a": ' + "[" * 150 + "]" * 150 + "}"), "not-edited", "note"),
    ],
)
def test_what_cannot_be_edited_is_said_and_no_mending_is_promised(
    case: Case, agent: Agent, plant: Callable[[Path], object], code: str, state: str
) -> None:
    file = agent.settings(case.environment)
    plant(file)
    found = [line for line in findings(case) if line.name == "settings"]
    assert [(line.code, line.state) for line in found] == [(code, state)]
    assert all(line.advice for line in found)
    if agent is CLAUDE:
        assert not any(line.fixable for line in findings(case))


def test_only_claude_code_s_entry_has_conditions(case: Case, agent: Agent) -> None:
    change(case, agent, lambda handler: handler.update({"if": "x"}))
    found = findings(case)
    assert [line.code for line in found] == (["if"] if agent is CLAUDE else [])
    for line in found:
        mend(line)
    assert agent is not CLAUDE or findings(case) == []
