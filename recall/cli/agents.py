"""Which coding agents a setup is for: those that were named, else those that are on this machine."""

import contextlib
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from recall.cli.ask import confirm, somebody
from recall.core.errors import RecallError, UsageError
from recall.setup.agents import AGENTS, CLAUDE, Agent
from recall.setup.codex import CODEX, calls_us, config_of
from recall.setup.places import HookFile
from recall.setup.registration import entry_in
from recall.setup.settings import settings_path
from recall.setup.switch import switched_off, unreadable
from recall.sources.agents import AgentName, agent_folder


def choose_agents(named: Sequence[AgentName], *, ask: bool, yes: bool) -> tuple[list[Agent], list[Agent]]:
    """The agents to register in, and those that are here too but were neither named nor agreed to.

    Without names: Claude Code, which is what recall was made for, unless only others are here, and each other one that
    is here and calls recall already or is agreed to now. Nobody is asked where nothing is changed, and where nobody
    can be asked.
    """
    if named:
        return [AGENTS[name] for name in AGENTS if name in named], []
    here = [agent for agent in AGENTS.values() if is_here(agent)]
    if CLAUDE not in here and not (yes or somebody()):
        here = [CLAUDE, *here]
    taken: list[Agent] = []
    left: list[Agent] = []
    for agent in here or [CLAUDE]:
        agreed = agent is CLAUDE or yes or _calls_us(agent)
        if not agreed and ask and somebody():
            agreed = confirm(f"Register the hook for {agent.title} too, in {agent.settings(os.environ)}?")
        (taken if agreed else left).append(agent)
    return taken or [CLAUDE], left


def is_here(agent: Agent) -> bool:
    """Whether an agent is used on this machine: its folder exists, or its program is on PATH."""
    return agent_folder(agent.name, os.environ).is_dir() or shutil.which(agent.name) is not None


def target(agent: Agent, scope: str, project: str | None) -> HookFile:
    """The settings file to register in. Raises UsageError for a scope that this agent does not have."""
    if scope == "user":
        return HookFile(agent, agent.settings(os.environ))
    if agent is not CLAUDE:  # what a project has of theirs is committed, and our path is of this machine
        raise UsageError(f"scope project is for Claude Code only, not for {agent.title}; leave --scope out")
    return HookFile(agent, settings_path("project", Path(), Path(project or ".")))


def say_rest(files: Sequence[HookFile]) -> None:
    """What a person has to know at the end of setup: where answers come from now, and what keeps them away."""
    answered = []
    for file in files:
        if reason := switched_off(file):
            print(f"{file.agent.title} runs no hook at all: {reason}")
        elif reason := unreadable(file):
            print(f"{file.agent.title} gets no answers: {reason}")
        else:
            answered.append(file.agent.title)
    if answered:
        titles = ", ".join(answered)
        print(f"recall answers from the next message that you type into {titles}; `recall status` shows what it does")
    else:
        print("so recall answers nobody yet; what is said above has to change first")


def by_hand(file: HookFile) -> str:
    """Where a person has written our entry, so that setup adds none; empty where it does."""
    config = config_of(file.path)
    calls = calls_us(config) if file.agent is CODEX else None
    if calls is None:
        return ""
    with contextlib.suppress(RecallError):
        if entry_in(file.path, file.agent) is not None:
            return ""
    return f"{config} calls recall already ({calls.command}): nothing is added to {file.path}"


def _calls_us(agent: Agent) -> bool:
    """Whether recall was registered for it before."""
    with contextlib.suppress(RecallError):
        file = HookFile(agent, agent.settings(os.environ))
        return entry_in(file.path, agent) is not None or bool(by_hand(file))
    return False
