"""The settings files of the agents in which an entry of ours may stand."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from recall.setup.agents import AGENTS, CLAUDE, Agent
from recall.setup.receipt import registered_in
from recall.setup.settings import settings_path


class HookFile(NamedTuple):
    """A settings file and the agent that reads it."""

    agent: Agent
    path: Path


def hook_files(
    state: Path, claude_folders: Sequence[Path], environment: Mapping[str, str], project: str | None
) -> list[HookFile]:
    """Those that setup wrote (from wherever it ran), those of the persons' folders, and those of the folder we are in.

    `claude_folders` are read besides the one of the environment.
    """
    files = [HookFile(AGENTS[name], path) for name, path in registered_in(state)]
    files += [HookFile(CLAUDE, settings_path("user", folder, None)) for folder in claude_folders]
    files += [HookFile(agent, agent.settings(environment)) for agent in AGENTS.values()]
    if project is not None:
        local = settings_path("project", Path(), Path(project))
        files += [HookFile(CLAUDE, local), HookFile(CLAUDE, local.with_name("settings.json"))]
    return list({(file.agent.name, os.path.realpath(file.path)): file for file in files}.values())
