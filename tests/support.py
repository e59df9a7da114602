"""A throw-away person's machine for tests: folders, notes, commands, the daemon, hook calls."""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from recall.wire.lock import HeldLock
from recall.wire.paths import StatePaths
from recall.wire.transport import Refused, ask

#: Generous: a loaded machine must not fail a test that waits for something to become true.
PATIENCE = 60.0


def wait_until(true: Callable[[], bool], what: str, seconds: float = PATIENCE) -> None:
    """Poll until `true()`; fail with `what` after `seconds`."""
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, f"not within {seconds:g} s: {what}"
        time.sleep(0.02)


class Sandbox:
    """One person's folders under `root`: home, home/.claude, a project that is a git repository, the state folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.home = root / "home"
        self.claude = self.home / ".claude"
        self._messages = 0
        self.project = self.home / "project"
        self.move_state(root / "state")
        (self.project / ".git").mkdir(parents=True)
        self.claude.mkdir()

    def move_state(self, state: Path) -> None:
        """Use another state folder."""
        self.state = state
        self.paths = StatePaths(str(state))
        os.environ["RECALL_HOME"] = str(state)

    def environment(self) -> dict[str, str]:
        return {"HOME": str(self.home), "RECALL_HOME": str(self.state), "CLAUDE_CONFIG_DIR": str(self.claude)}

    def note(self, name: str, description: str, body: str, *, project: Path | None = None) -> Path:
        """Write a memory note of a project; its path."""
        path = self.claude_folder(project or self.project) / "memory" / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"---\nname: {name}\ndescription: {description}\n---\n\n{body}\n", encoding="utf-8")
        return path

    def claude_folder(self, project: Path) -> Path:
        """Claude Code's folder for a project."""
        return self.claude / "projects" / re.sub(r"[^A-Za-z0-9]", "-", str(project.resolve()))

    def trust(self, *projects: Path) -> None:
        """Let the person have trusted these projects in Claude Code."""
        trusted = {str(project.resolve()): {"hasTrustDialogAccepted": True} for project in projects}
        (self.home / ".claude.json").write_text(json.dumps({"projects": trusted}), encoding="utf-8")

    def session(self, name: str, title: str, *exchanges: tuple[str, str], project: Path | None = None) -> Path:
        """Write the transcript of a session with a person: (message, answer) each; its path."""
        folder = project or self.project
        path = self.claude_folder(folder) / f"{name}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        common = {
            "sessionId": name,
            "cwd": str(folder.resolve()),
            "entrypoint": "cli",
            "timestamp": "2026-08-14T09:30:00Z",
        }
        lines: list[dict[str, object]] = [{"type": "custom-title", "customTitle": title, "sessionId": name}]
        for number, (message, answer) in enumerate(exchanges):
            person: dict[str, object] = {
                "type": "user",
                "uuid": f"{name}-{number}",
                "origin": {"kind": "human"},
                "promptSource": "typed",
            }
            lines.append(common | person | {"message": {"role": "user", "content": message}})
            said = {"id": f"m-{number}", "role": "assistant", "content": [{"type": "text", "text": answer}]}
            lines.append(common | {"type": "assistant", "uuid": f"{name}-{number}-a", "message": said})
        path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
        return path

    def configure(self, text: str) -> None:
        self.state.mkdir(mode=0o700, exist_ok=True)
        Path(self.paths.config).write_text(text, encoding="utf-8")

    def run(self, *words: str, check: bool = True, timeout: float = 120.0) -> "subprocess.CompletedProcess[str]":
        """Run a recall command in the project folder."""
        done = subprocess.run(
            [sys.executable, "-m", "recall", *words],
            cwd=self.project, capture_output=True, encoding="utf-8", timeout=timeout, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        assert not check or done.returncode == 0, f"{words}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    def json(self, *words: str) -> Any:
        return json.loads(self.run(*words, "--json").stdout)

    def message(self, prompt: str, **fields: object) -> bytes:
        """The hook's stdin for a prompt typed in the project, in a session of its own unless one is given."""
        self._messages += 1
        usual = {
            "session_id": f"session-{self._messages}",
            "cwd": str(self.project),
            "hook_event_name": "UserPromptSubmit",
            "prompt": prompt,
        }
        return json.dumps(usual | fields).encode()

    def hook(
        self, data: bytes, *words: str, environment: Mapping[str, str] = {}, timeout: float = 20.0
    ) -> "subprocess.CompletedProcess[bytes]":
        """Run the hook as Claude Code does: JSON on stdin, both streams read to their end."""
        return subprocess.run(
            [sys.executable, "-m", "recall", "hook", "--home", str(self.state), *words],
            input=data, cwd=self.project, capture_output=True, timeout=timeout,
            env={**os.environ, "CLAUDE_CODE_ENTRYPOINT": "cli", **environment},
        )  # fmt: skip

    def hooks_at_once(self, count: int, prompt: str) -> list[bytes]:
        """What `count` hooks print that are called at the same moment; each must exit 0."""
        command = [sys.executable, "-m", "recall", "hook", "--home", str(self.state), "--budget", "5000"]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        calls = [subprocess.Popen(command, **pipes) for _ in range(count)]  # type: ignore[call-overload]
        with ThreadPoolExecutor(count) as pool:
            printed = list(pool.map(lambda call: call.communicate(self.message(prompt)), calls))
        assert [(call.returncode, errors) for call, (_, errors) in zip(calls, printed, strict=True)] == [
            (0, b"")
        ] * count
        return [output for output, _ in printed]

    def context(self, prompt: str, **fields: object) -> str | None:
        """What the hook hands over for a prompt, None for silence."""
        done = self.hook(self.message(prompt, **fields), "--budget", "5000")
        assert done.returncode == 0
        assert done.stderr == b""
        return json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"] if done.stdout else None

    def start(self) -> dict[str, Any]:
        """Start the daemon as the hook does, and wait until it is ready and has looked the sources over."""
        self.start_without_waiting()
        return self.settled()

    def start_without_waiting(self) -> None:
        """Start the daemon as the hook does."""
        from recall.wire.spawn import start_daemon

        self.state.mkdir(mode=0o700, exist_ok=True)
        start_daemon(str(self.state))

    def settled(self) -> dict[str, Any]:
        """Wait until the daemon is ready and no look is under way; its status."""
        found: dict[str, Any] = {}

        def quiet() -> bool:
            found.clear()
            found.update(self.daemon() or {})
            return found.get("state") == "ready"

        wait_until(quiet, "the daemon is ready")
        return found

    def daemon(self) -> dict[str, Any] | None:
        """The daemon's own status, None when nobody answers."""
        try:
            reply, body = ask(self.paths, "status", timeout=5.0)
        except (OSError, Refused):
            return None
        return json.loads(body) if reply.status == "ok" else None

    def close(self) -> None:
        """End the daemon and wait until it is gone."""
        if self.state.exists() and HeldLock.is_held(self.paths.daemon_lock):
            self.run("stop")
