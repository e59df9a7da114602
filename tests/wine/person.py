"""A person on the Windows machine, with folders of their own whose names hold a space and Japanese letters."""

import json
import re
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from wine.machine import Done, Machine

QUESTION = "which port does the staging database listen on?"

#: Wine's first look at a file, and a loaded machine, take longer than a person's patience of 300 ms.
BUDGET_MS = 20_000
#: Seconds for a daemon to be there and to have looked over the notes.
PATIENCE = 120.0


class Person:
    """Folders, notes, commands and hook calls of one person. Paths are the machine's, as it writes them."""

    def __init__(self, machine: Machine, name: str, program: Sequence[str]) -> None:
        self.machine = machine
        self.program = list(program)
        self.home = f"C:\\人 びと\\{name}"
        self.state = f"{self.home}\\記録 state"
        self.claude = f"{self.home}\\.claude"
        self.project = f"{self.home}\\仕事 work"
        self.settings = self.file(f"{self.claude}\\settings.json")
        self.environment: dict[str, str | None] = {
            "RECALL_HOME": self.state,
            "CLAUDE_CONFIG_DIR": self.claude,
            "USERPROFILE": self.home,
            "CLAUDE_CODE_ENTRYPOINT": "cli",
        }
        self._messages = 0
        self.file(f"{self.project}\\.git").mkdir(parents=True)
        self.file(self.claude).mkdir()

    def file(self, path: str) -> Path:
        """Where a file of the machine lies here."""
        return self.machine.path(path)

    def state_file(self, name: str) -> Path:
        """Where a file of the state folder lies here."""
        return self.file(self.state) / name

    def note(self, name: str, description: str, body: str) -> None:
        """Write a memory note of the project."""
        project = re.sub(r"[^A-Za-z0-9]", "-", self.project)
        folder = self.file(self.claude) / "projects" / project / "memory"
        folder.mkdir(parents=True, exist_ok=True)
        text = f"---\r\nname: {name}\r\ndescription: {description}\r\n---\r\n\r\n{body}\r\n"
        (folder / f"{name}.md").write_text(text, encoding="utf-8", newline="")

    def usual_notes(self) -> None:
        """The three notes that the tests ask for."""
        self.note("staging-port", "The staging database listens on port 6543, not 5432", "It was moved in May.")
        self.note("返信は日本語で", "このプロジェクトでは日本語で返事をする", "コードのコメントは英語のままでよい。")
        self.note("no-friday-deploys", "Never deploy on a Friday afternoon", "Nobody is there when it breaks.")

    def run(self, *words: str, check: bool = True) -> Done:
        """Run a recall command in the project folder."""
        done = self.machine.run(
            [*self.program, *words], cwd=self.project, environment=self.environment, timeout=PATIENCE
        )
        assert not check or done.returncode == 0, f"{words}: {done.returncode}\n{_text(done)}"
        return done

    def said(self, *words: str) -> str:
        """What a command prints: UTF-8, whatever the console's code page."""
        return self.run(*words).stdout.decode("utf-8").replace("\r\n", "\n")

    def json(self, *words: str) -> Any:
        return json.loads(self.run(*words, "--json").stdout)

    def message(self, prompt: str) -> bytes:
        """The hook's stdin for a message that the person types in the project, each in a session of its own."""
        self._messages += 1
        usual = {
            "session_id": f"session-{self._messages}",
            "cwd": self.project,
            "hook_event_name": "UserPromptSubmit",
            "prompt": prompt,
        }
        return json.dumps(usual, ensure_ascii=False).encode()

    def call(self, command: Sequence[str], data: bytes, environment: Mapping[str, str | None] = {}) -> Done:
        """Run the hook's command as Claude Code does."""
        return self.machine.run(
            command, data, cwd=self.project, environment={**self.environment, **environment}, timeout=PATIENCE
        )

    def hook(self, prompt: str, **environment: str) -> Done:
        """Run the hook for a message."""
        words = ["hook", "--home", self.state, "--budget", str(BUDGET_MS)]
        return self.call([*self.program, *words], self.message(prompt), environment)

    def context(self, prompt: str) -> str | None:
        """What the hook hands over for a message, None for silence."""
        done = self.hook(prompt)
        assert (done.returncode, done.stderr) == (0, b""), _text(done)
        return json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"] if done.stdout else None

    def settled(self) -> dict[str, Any]:
        """Wait until the daemon that the hook started is ready; the whole status."""
        deadline = time.monotonic() + PATIENCE
        while (status := self.json("status"))["serve"]["state"] != "ready":
            assert time.monotonic() < deadline, f"no daemon within {PATIENCE:g} s: {status['serve']}\n{self.logs()}"
        found: dict[str, Any] = status
        return found

    def start(self) -> dict[str, Any]:
        """Let the hook start the daemon, with the first message, which it stays silent for; the whole status."""
        assert self.hook(QUESTION).silent
        return self.settled()

    def endpoint(self) -> tuple[int, str, str]:
        """Port, secret and proof of the running daemon."""
        port, secret, proof = self.state_file("endpoint").read_text("ascii").split()
        return int(port), secret, proof

    def logs(self) -> str:
        """What hook and daemon noted."""
        files = [self.state_file(name) for name in ("hook.log", "daemon.log")]
        return "".join(file.read_text("utf-8") for file in files if file.exists())

    def close(self) -> None:
        """End the daemon."""
        if self.file(self.state).exists():
            self.run("stop")


def _text(done: Done) -> str:
    return (done.stdout + done.stderr).decode("utf-8", "replace")
