"""The coding agents that recall knows: where each keeps what belongs to one person.

agent    folder       moved by
claude   ~/.claude    CLAUDE_CONFIG_DIR
codex    ~/.codex     CODEX_HOME
qwen     ~/.qwen      QWEN_HOME
gemini   ~/.gemini    GEMINI_CLI_HOME, which names the folder that holds .gemini
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

AgentName = Literal["claude", "codex", "qwen", "gemini"]


@dataclass(frozen=True, slots=True)
class Home:
    """An agent's folder: `usual`, unless the environment's `variable` names another one. `below`: what the agent adds
    to the variable's value."""

    variable: str
    usual: str
    below: str = ""


HOMES: Mapping[AgentName, Home] = {
    "claude": Home("CLAUDE_CONFIG_DIR", "~/.claude"),
    "codex": Home("CODEX_HOME", "~/.codex"),
    "qwen": Home("QWEN_HOME", "~/.qwen"),
    "gemini": Home("GEMINI_CLI_HOME", "~/.gemini", ".gemini"),
}


def agent_folder(name: AgentName, environment: Mapping[str, str]) -> Path:
    """The folder that an agent uses in this environment, absolute, whether it exists or not."""
    home = HOMES[name]
    named = environment.get(home.variable)
    return (Path(named) / home.below if named else Path(home.usual)).expanduser().absolute()


def record_folders(environment: Mapping[str, str]) -> list[Path]:
    """Where the agents besides Claude Code keep sessions and memory notes: their folders, and those that Qwen Code's
    variables move apart from its settings."""
    folders = [agent_folder(name, environment) for name in HOMES if name != "claude"]
    apart = [environment.get(name) for name in ("QWEN_RUNTIME_DIR", "QWEN_CODE_MEMORY_BASE_DIR")]
    return [*folders, *(Path(folder).expanduser().absolute() for folder in apart if folder)]
