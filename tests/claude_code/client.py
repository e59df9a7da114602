"""Drives the real Claude Code client: in a terminal, as a person does, or with `claude -p`, as a program does.

The client comes from the npm registry at first use, into RECALL_CLIENT_CACHE, else into the user's cache folder. It
talks to a stand-in for the API on loopback with a key that is none; telemetry and updates are switched off.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import psutil
from platformdirs import user_cache_path

from claude_code.messages_api import MessagesApi
from support import wait_until

PACKAGE = "@anthropic-ai/claude-code"

# Taken when this file is imported: the tripwire gives the tests another home and drops the RECALL_ variables.
_REAL_ENVIRONMENT = dict(os.environ)
CACHE = Path(os.environ.get("RECALL_CLIENT_CACHE") or user_cache_path("recall-claude-code", appauthor=False))

#: Generous, for a loaded machine: seconds for a message to reach the API, and for anything to appear on the screen.
PATIENCE = 60.0
#: Seconds for npm to fetch the client, some 250 MB.
INSTALL_SECONDS = 600.0

_KEY = "sk-ant-loopback-only-000000000000"
#: What the client puts before the line where a person types.
_INPUT = "\u276f"
_COLUMNS, _LINES = 200, 60


def missing() -> str | None:
    """What keeps the client from being driven on this machine, None when it can be."""
    lacking = [name for name in ("npm", "tmux") if shutil.which(name) is None]
    return f"needs {' and '.join(lacking)} on the PATH" if lacking else None


def installed() -> Path:
    """The client's executable, fetched with npm when the cache lacks it."""
    binary = CACHE / "node_modules" / ".bin" / "claude"
    if not binary.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        command = ["npm", "install", "--no-audit", "--no-fund", "--prefix", str(CACHE), PACKAGE]
        subprocess.run(command, check=True, env=_REAL_ENVIRONMENT, timeout=INSTALL_SECONDS)
    return binary


class Client:
    """The client of one person; `environment` is all that it sees besides its own settings, HOME included."""

    def __init__(self, api: MessagesApi, environment: Mapping[str, str], project: Path) -> None:
        self.api = api
        self.project = project
        self.environment = {
            **environment,
            "TERM": "xterm-256color",
            "ANTHROPIC_API_KEY": _KEY,
            "ANTHROPIC_BASE_URL": api.url,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_ERROR_REPORTING": "1",
            "DISABLE_TELEMETRY": "1",
        }
        self._binary = str(installed())
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
    """One session of the client in a tmux server of its own."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._socket = Path(client.environment["HOME"]) / "tmux.sock"
        self._process: psutil.Process | None = None
        self._greeting: frozenset[str] = frozenset()

    def start(self, command: list[str]) -> None:
        environment = [f"{name}={value}" for name, value in self._client.environment.items()]
        size = ["-x", str(_COLUMNS), "-y", str(_LINES)]
        where = ["-c", str(self._client.project)]
        self._tmux("new-session", "-d", *size, *where, "env", "-i", *environment, *command)
        self._process = psutil.Process(int(self._tmux("list-panes", "-F", "#{pane_pid}")))
        self._wait(lambda: _INPUT in self.screen(), "the client lets a person type")
        self._greeting = frozenset(self.screen().splitlines())

    def type(self, prompt: str) -> str | None:
        """Type a message (one line, shorter than the screen is wide), send it, and wait until it is answered; what
        hooks handed to the model with it, None for nothing."""
        self._tmux("send-keys", "-l", prompt)
        # Enter together with the text would be taken for a line break of something pasted.
        self._wait(lambda: prompt in self._typed(), f"the client took {prompt!r}")
        since = self._client.api.count
        self._tmux("send-keys", "Enter")
        asked = self._client.api.wait_for(prompt, since, PATIENCE)
        assert asked is not None, (
            f"{prompt!r} did not reach the API within {PATIENCE:g} s; the screen:\n{self.screen()}"
        )
        self._wait(lambda: asked.answer in self.screen(), f"the client shows {asked.answer!r}")
        return asked.added

    def clear(self) -> None:
        """Begin a new conversation in the same client, as a person does with `/clear`."""
        self._tmux("send-keys", "-l", "/clear")
        self._wait(lambda: "/clear" in self._typed(), "the client took /clear")
        self._tmux("send-keys", "Enter")
        # The command stands above the line once it is done; what is typed before that may be typed twice.
        self._wait(lambda: "/clear" in self._above() and "/clear" not in self._typed(), "the conversation is cleared")

    def screen(self) -> str:
        """All that the terminal shows, with what has scrolled away."""
        return self._tmux("capture-pane", "-p", "-S", "-")

    def notices(self) -> list[str]:
        """The lines that speak of hooks since the session began: errors, time-outs, anything that a person would see.
        What the client greeted with is left out: its news may be about hooks."""
        return [line for line in self.screen().splitlines() if "hook" in line.casefold() and line not in self._greeting]

    def close(self) -> None:
        """End the client and wait until it is gone: it writes into the home to its end."""
        self._tmux("kill-server", check=False)  # the server is gone already when the client ended by itself
        process = self._process
        if process is None:
            return
        try:
            wait_until(lambda: _gone(process), "the client ended with its terminal", PATIENCE)
        except AssertionError:
            process.kill()
            raise

    def _typed(self) -> str:
        """What stands in the line where a person types, and below it."""
        return self.screen().rpartition(_INPUT)[2]

    def _above(self) -> str:
        """What stands above that line."""
        return self.screen().rpartition(_INPUT)[0]

    def _tmux(self, *words: str, check: bool = True) -> str:
        done = subprocess.run(
            ["tmux", "-u", "-f", os.devnull, "-S", str(self._socket), *words], env=self._client.environment,
            capture_output=True, encoding="utf-8", timeout=PATIENCE,
        )  # fmt: skip
        assert not check or done.returncode == 0, f"tmux {words[0]}: {done.stderr}"
        return done.stdout

    def _wait(self, true: Callable[[], bool], what: str) -> None:
        try:
            wait_until(true, what, PATIENCE)
        except AssertionError as error:
            raise AssertionError(f"{error}; the screen:\n{self.screen()}") from None


def _gone(process: psutil.Process) -> bool:
    """Whether the process has ended; a zombie has, whoever is to collect it."""
    try:
        return process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def _answer_first_questions(home: Path, project: Path) -> None:
    """What a person answers once: the theme, whether to use this key, whether to trust the project folder."""
    state = {
        "hasCompletedOnboarding": True,
        "theme": "dark",
        "customApiKeyResponses": {"approved": [_KEY[-20:]], "rejected": []},  # the client keeps a key's end
        "projects": {str(project): {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}},
    }
    (home / ".claude.json").write_text(json.dumps(state), encoding="utf-8")
