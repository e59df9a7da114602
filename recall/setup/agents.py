"""How each agent wants a hook registered: the file, the names of the events, the unit of the time limit, the shape.

All share one document: `{"hooks": {EVENT: [{"hooks": [HANDLER]}]}}`. What their clients did with such files when they
were run here (Claude Code 2.1.197, Codex 0.171, Qwen Code 0.15.10, Gemini CLI 0.61):

    Claude Code   reads past a byte order mark; no comments; one bad group switches all hooks of the file off
    Codex         reads neither mark nor comments, no empty file, and no other member than `hooks` and `description`;
                  runs a hook only after the person has approved exactly this command
    Qwen Code     reads both, and writes the file anew when it is started the first time; it calls a hook at the begin
                  of a session too, and drops what that prints
    Gemini CLI    reads comments; a mark or a trailing comma keeps it from starting at all
"""

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from recall.setup.shells import Shell
from recall.sources.agents import AgentName, agent_folder


@dataclass(frozen=True, slots=True)
class Agent:
    """One agent. `prompt` and `start` name its events for a message of the person and for the begin of a session.

    `per_second`: units of its time limits in one second. `shell`: what takes the command apart, None where the client
    does (exec form). `extra`: what its handlers need besides. `reads_mark`, `comments`: whether it reads past a byte
    order mark and past comments. `switch`: the member that switches its hooks off, and the value that does. `todo`:
    what is left to the person.
    """

    name: AgentName
    title: str
    file: str
    prompt: str = "UserPromptSubmit"
    start: str = "SessionStart"
    per_second: int = 1000
    shell: Shell | None = "sh"
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False)
    reads_mark: bool = True
    comments: bool = False
    switch: tuple[tuple[str, ...], str] = (("disableAllHooks",), "true")
    todo: str = ""

    @property
    def events(self) -> tuple[str, str]:
        return self.prompt, self.start

    def settings(self, environment: Mapping[str, str]) -> Path:
        """Its settings file of the person."""
        return agent_folder(self.name, environment) / self.file


def agents(platform: str) -> dict[AgentName, Agent]:
    """The agents as they are on this platform (a value of `sys.platform`)."""
    windows = platform == "win32"
    table = (
        Agent("claude", "Claude Code", "settings.json", per_second=1, shell=None),
        Agent(
            "codex",
            "Codex",
            "hooks.json",
            per_second=1,
            shell="cmd" if windows else "sh",
            reads_mark=False,
            switch=((), ""),  # stands in another file
            todo="Codex runs it after you have approved it: start codex and choose to trust it, or open /hooks there",
        ),
        Agent(
            "qwen",
            "Qwen Code",
            "settings.json",
            shell="powershell" if windows else "sh",
            # Else it takes cmd, or Git's bash, by what it was started from; neither can be told from here.
            extra={"shell": "powershell"} if windows else {},
            comments=True,
        ),
        Agent(
            "gemini",
            "Gemini CLI",
            "settings.json",
            prompt="BeforeAgent",
            shell="powershell" if windows else "sh",
            reads_mark=False,
            comments=True,
            switch=(("hooksConfig", "enabled"), "false"),
        ),
    )
    return {agent.name: agent for agent in table}


AGENTS = agents(sys.platform)
CLAUDE = AGENTS["claude"]
