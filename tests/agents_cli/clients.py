"""Drives the real Codex, Qwen Code and Gemini CLI in a terminal, as a person does, and without one, as a program does.

The clients come from the npm registry at first use. They talk to a stand-in for their API on loopback with keys that
are none; telemetry is switched off.
"""

import json
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from agents_cli.model_api import ModelApi, Request
from terminal import PATIENCE, Tmux, installed

#: Seconds after which Enter is pressed again for a message that has not reached the API.
_ENTER_SECONDS = 5.0
#: Seconds in which the screen follows a key.
_KEY_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Kind:
    """One client: its package and program, its settings file below the home, where a person types, the words on the
    screen that ask to trust new hooks and the keys that say yes and no, and the words that ask one question."""

    name: str
    package: str
    file: str
    ready: str
    settings: str | None
    question: tuple[str, ...]
    trust: tuple[str, str, str] | None = None


KINDS = {
    "codex": Kind(
        "codex", "@openai/codex", ".codex/hooks.json", "Ask Codex to do anything",
        None, ("exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust"),
        ("Hooks need review", "2", "3"),
    ),
    "qwen": Kind(
        "qwen", "@qwen-code/qwen-code", ".qwen/settings.json", "Type your message",
        json.dumps(
            {"$version": 4, "security": {"auth": {"selectedType": "openai"}},
             "privacy": {"usageStatisticsEnabled": False}, "general": {"disableAutoUpdate": True}}, indent=4),
        ("-p",),
    ),
    "gemini": Kind(
        "gemini", "@google/gemini-cli", ".gemini/settings.json", "Type your message",
        json.dumps(
            {"security": {"auth": {"selectedType": "gemini-api-key"}},
             "privacy": {"usageStatisticsEnabled": False}, "general": {"enableAutoUpdate": False}}),
        ("-m", "gemini-2.5-flash", "-p"),
    ),
}  # fmt: skip


class Client:
    """One client of one person; `environment` is all that it sees besides its own settings, HOME included."""

    def __init__(self, kind: Kind, api: ModelApi, environment: Mapping[str, str], project: Path) -> None:
        self.kind = kind
        self.api = api
        self.project = project
        self.home = Path(environment["HOME"])
        self.settings = self.home / kind.file
        self.environment = {
            **environment,
            "SHELL": "/bin/sh",
            "OPENAI_API_KEY": "loopback-only",
            "OPENAI_BASE_URL": f"{api.url}/v1",
            "OPENAI_MODEL": "stand-in",
            "GEMINI_API_KEY": "loopback-only",
            "GOOGLE_GEMINI_BASE_URL": api.url,
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
        }
        self._binary = installed(kind.package, kind.name)
        self.settings.parent.mkdir()
        if kind.settings is not None:
            self.settings.write_text(kind.settings, encoding="utf-8")
        if kind.name == "codex":
            (self.settings.parent / "config.toml").write_text(_codex_config(api, project), encoding="utf-8")

    def ask(self, prompt: str) -> Request:
        """Ask as a program does; what the model got."""
        done = subprocess.run(
            [self._binary, *self.kind.question, prompt], cwd=self.project, env=self.environment,
            stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", timeout=2 * PATIENCE,
        )  # fmt: skip
        assert done.returncode == 0, f"{self.kind.name}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        asked = self.api.wait_for(prompt, 0)
        assert asked is not None, f"{self.kind.name} ended without asking the API\n{done.stdout}\n{done.stderr}"
        return asked

    @contextmanager
    def terminal(self, *, trust: bool = True) -> Iterator["Terminal"]:
        """The client in a terminal of its own, ready to be typed into; ended at the end of the context."""
        terminal = Terminal(self)
        try:
            words = ["-m", "gemini-2.5-flash"] if self.kind.name == "gemini" else []
            terminal.start([self._binary, *words], trust=trust)
            yield terminal
        finally:
            terminal.close()


class Terminal:
    """One session of a client in a terminal."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._tmux = Tmux(client.environment, client.project)

    def start(self, command: list[str], *, trust: bool) -> None:
        self._tmux.start(command)
        kind = self._client.kind
        if kind.trust is not None:
            question, yes, no = kind.trust
            self._tmux.wait(lambda: question in self.screen(), "the client asks about the new hooks")
            self._tmux.wait(lambda: self._answered(question, yes if trust else no), "the question is answered")
        self._tmux.wait(lambda: kind.ready in self.screen(), "the client lets a person type")

    def type(self, prompt: str) -> Request:
        """Type a message, send it, and wait until it has reached the model; what the model got with it."""
        self._tmux.write(prompt)
        self._tmux.wait(lambda: prompt in self.screen(), f"the client took {prompt!r}")
        # Enter soon after the text is a line break of something pasted, and a busy client may drop it: press it again.
        # Where the message is already on its way the line is empty, and Enter sends nothing.
        asked: Request | None = None
        for _ in range(int(PATIENCE / _ENTER_SECONDS)):
            self._tmux.press("Enter")
            if asked := self._client.api.wait_for(prompt, _ENTER_SECONDS):
                break
        assert asked is not None, f"{prompt!r} did not reach the API in {PATIENCE:g} s; the screen:\n{self.screen()}"
        self._tmux.wait(lambda: "This is answer" in self.screen(), "the client shows an answer")
        return asked

    def screen(self) -> str:
        """What the terminal shows."""
        return self._tmux.visible()

    def close(self) -> None:
        """End the client and wait until it is gone."""
        self._tmux.close()

    def _answered(self, question: str, choice: str) -> bool:
        """Whether the question is gone; else choose once more. A client that has just drawn it drops keys, and Enter
        alone would take the choice that is marked at first."""
        screen = self.screen()
        if question not in screen:
            return True
        self._tmux.press("Enter" if f"› {choice}." in screen else choice)
        time.sleep(_KEY_SECONDS)  # else a key more would end up in the line for messages
        return False


def _codex_config(api: ModelApi, project: Path) -> str:
    """The stand-in as a provider, the project as trusted, and no helper that outlives the client."""
    return f"""model = "stand-in"
model_provider = "loopback"
check_for_update_on_startup = false
[model_providers.loopback]
name = "loopback"
base_url = "{api.url}/v1"
wire_api = "responses"
[analytics]
enabled = false
[features]
apps = false
daemon_auto_start = false
[projects."{project}"]
trust_level = "trusted"
"""
