"""Drives the real Claude Code client: in a terminal, as a person does, or with `claude -p`, as a program does.

The client comes from the npm registry at first use. It talks to a stand-in for the API on loopback with a key that is
none; telemetry and updates are switched off.
"""

import json
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from claude_code.messages_api import MessagesApi
from terminal import PATIENCE, Tmux, installed

PACKAGE = "@anthropic-ai/claude-code"

_KEY = "sk-ant-loopback-only-000000000000"
#: What the client puts before the line where a person types.
_INPUT = "\u276f"


class Client:
    """The client of one person; `environment` is all that it sees besides its own settings, HOME included."""

    def __init__(self, api: MessagesApi, environment: Mapping[str, str], project: Path) -> None:
        self.api = api
        self.project = project
        self.environment = {
            **environment,
            "ANTHROPIC_API_KEY": _KEY,
            "ANTHROPIC_BASE_URL": api.url,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_ERROR_REPORTING": "1",
            "DISABLE_TELEMETRY": "1",
        }
        self._binary = installed(PACKAGE, "claude")
        _answer_first_questions(Path(environment["HOME"]), project)

    def print_mode(self, prompt: str) -> str | None:
        """Ask with `claude -p`; what hooks handed to the model with the prompt, None for nothing."""
        since = self.api.count
        done = subprocess.run(
            [self._binary, "-p", prompt], cwd=self.project, env=self.environment, stdin=subprocess.DEVNULL,
            capture_output=True, encoding="utf-8", timeout=2 * PATIENCE,
        )  # fmt: skip
        assert done.returncode == 0, f"claude -p: {done.returncode}\n{done.stdout}\n{done.stderr}"
        asked = self.api.wait_for(prompt, since, 0)
        assert asked is not None, "claude -p ended without asking the API"
        assert asked.answer in done.stdout
        return asked.added

    @contextmanager
    def terminal(self, *words: str) -> Iterator["Terminal"]:
        """The client in a terminal of its own, called with these words, ready to be typed into; ended at the end of the
        context."""
        terminal = Terminal(self)
        try:
            terminal.start([self._binary, *words])
            yield terminal
        finally:
            terminal.close()


class Terminal:
    """One session of the client in a terminal."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._tmux = Tmux(client.environment, client.project)
        self._greeting: frozenset[str] = frozenset()

    def start(self, command: list[str]) -> None:
        self._tmux.start(command)
        self._tmux.wait(lambda: _INPUT in self.screen(), "the client lets a person type")
        self._greeting = frozenset(self.screen().splitlines())

    def type(self, prompt: str) -> str | None:
        """Type a message (one line, shorter than the screen is wide), send it, and wait until it is answered; what
        hooks handed to the model with it, None for nothing."""
        self._tmux.write(prompt)
        # Enter together with the text would be taken for a line break of something pasted.
        self._tmux.wait(lambda: prompt in self._typed(), f"the client took {prompt!r}")
        since = self._client.api.count
        self._tmux.press("Enter")
        asked = self._client.api.wait_for(prompt, since, PATIENCE)
        assert asked is not None, (
            f"{prompt!r} did not reach the API within {PATIENCE:g} s; the screen:\n{self.screen()}"
        )
        self._tmux.wait(lambda: asked.answer in self.screen(), f"the client shows {asked.answer!r}")
        return asked.added

    def clear(self) -> None:
        """Begin a new conversation in the same client, as a person does with `/clear`."""
        self._tmux.write("/clear")
        self._tmux.wait(lambda: "/clear" in self._typed(), "the client took /clear")
        self._tmux.press("Enter")
        # The command stands above the line once it is done; what is typed before that may be typed twice.
        self._tmux.wait(
            lambda: "/clear" in self._above() and "/clear" not in self._typed(), "the conversation is cleared"
        )

    def screen(self) -> str:
        """All that the terminal shows, with what has scrolled away."""
        return self._tmux.screen()

    def notices(self) -> list[str]:
        """The lines that speak of hooks since the session began: errors, time-outs, anything that a person would see.
        What the client greeted with is left out: its news may be about hooks."""
        return [line for line in self.screen().splitlines() if "hook" in line.casefold() and line not in self._greeting]

    def close(self) -> None:
        """End the client and wait until it is gone."""
        self._tmux.close()

    def _typed(self) -> str:
        """What stands in the line where a person types, and below it."""
        return self.screen().rpartition(_INPUT)[2]

    def _above(self) -> str:
        """What stands above that line."""
        return self.screen().rpartition(_INPUT)[0]


def _answer_first_questions(home: Path, project: Path) -> None:
    """What a person answers once: the theme, whether to use this key, whether to trust the project folder."""
    state = {
        "hasCompletedOnboarding": True,
        "theme": "dark",
        "customApiKeyResponses": {"approved": [_KEY[-20:]], "rejected": []},  # the client keeps a key's end
        "projects": {str(project): {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}},
    }
    (home / ".claude.json").write_text(json.dumps(state), encoding="utf-8")
