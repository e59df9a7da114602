"""A colleague's machine: no Python on PATH, an empty home with a space and Japanese letters in its name."""

import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

from recall.install.place import Place
from recall.wire.lock import HeldLock
from recall.wire.paths import StatePaths
from support import wait_until

NOTE = "The staging database listens on port 6543, not 5432"
QUESTION = "which port does the staging database listen on?"
FOUND = b"staging-port"


class Laptop:
    """Everything lies below `home`; `path` is all of PATH."""

    def __init__(self, root: Path) -> None:
        self.home = root / "山田 太郎"
        self.bin = root / "bin"  # programs that a test wants on PATH
        self.project = self.home / "shop"
        (self.project / ".git").mkdir(parents=True)
        self.place = Place(self.home / ".local" / "share" / "recall")
        self.paths = StatePaths(str(self.place.data))
        self.link = self.home / ".local" / "bin" / "recall"
        self.settings = self.home / ".claude" / "settings.json"
        self.crontab = root / "crontab"
        self.seen = root / "environment"
        self._messages = 0

    def keep_crontab(self, content: str = "") -> None:
        """A `crontab` that keeps its table beside the home, for the machine's own is somebody's; it also notes the
        environment that it is started with."""
        self.bin.mkdir()
        self.crontab.write_text(content)
        program = self.bin / "crontab"
        keep = f'if [ "$1" = -l ]; then cat "{self.crontab}"; else cat >"{self.crontab}"; fi'
        program.write_text(f'#!/bin/sh\nenv >"{self.seen}"\n{keep}\n', encoding="utf-8")
        program.chmod(0o755)

    def write_note(self) -> None:
        """A note that answers the question, and one that does not."""
        memory = self.home / ".claude" / "projects" / re.sub(r"[^A-Za-z0-9]", "-", str(self.project)) / "memory"
        memory.mkdir(parents=True)
        for name, description in (("staging-port", NOTE), ("tabs", "Indent Makefiles with tabs")):
            text = f"---\nname: {name}\ndescription: {description}\n---\nx\n"
            (memory / f"{name}.md").write_text(text, encoding="utf-8")

    @property
    def environment(self) -> dict[str, str]:
        return {"HOME": str(self.home), "PATH": f"{self.bin}:/usr/bin:/bin"}

    def run(
        self, *command: str | Path, check: bool = True, environment: Mapping[str, str] = {}, timeout: float = 180.0
    ) -> "subprocess.CompletedProcess[str]":
        """Run a command in the project, with nothing on stdin."""
        done = subprocess.run(
            list(map(str, command)), cwd=self.project, env={**self.environment, **environment}, encoding="utf-8",
            stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout,
        )  # fmt: skip
        assert not check or done.returncode == 0, f"{command}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    def recall(self, *words: str, check: bool = True) -> "subprocess.CompletedProcess[str]":
        """Run the installed program, by its link."""
        return self.run(self.link, *words, check=check)

    def json(self, *words: str) -> Any:
        return json.loads(self.recall(*words, "--json").stdout)

    def registered(self) -> list[str]:
        """The command that settings.json names."""
        (group,) = json.loads(self.settings.read_bytes())["hooks"]["UserPromptSubmit"]
        (entry,) = group["hooks"]
        return [entry["command"], *entry["args"]]

    def message(self, prompt: str = QUESTION) -> bytes:
        """The hook's stdin, for a session of its own."""
        self._messages += 1
        fields = {"session_id": f"s-{self._messages}", "cwd": str(self.project), "prompt": prompt}
        return json.dumps(fields | {"hook_event_name": "UserPromptSubmit"}).encode()

    def hook(
        self, command: list[str] | None = None, environment: Mapping[str, str] = {}, prompt: str = QUESTION
    ) -> "subprocess.CompletedProcess[bytes]":
        """Run the registered command, or another one, as Claude Code does."""
        return subprocess.run(
            command or self.registered(), input=self.message(prompt), cwd=self.project, capture_output=True,
            timeout=60, env={**self.environment, "CLAUDE_CODE_ENTRYPOINT": "cli", **environment},
        )  # fmt: skip

    def set_up(self, carrier: Path) -> None:
        """Run `setup` with the carrier, with a budget for a loaded machine, and wait until questions are answered."""
        self.write_note()
        self.run(carrier, "install")
        Path(self.paths.config).write_text("hook.budget_ms = 3000\n", encoding="utf-8")
        self.run(carrier, "setup", "--yes")
        wait_until(lambda: FOUND in self.hook().stdout, "the hook answers", 60)

    def tree(self) -> dict[str, bytes | str | None]:
        """Every path below the home: a file's bytes, a link's target, None for a folder."""
        found: dict[str, bytes | str | None] = {}
        for path in sorted(self.home.rglob("*")):
            content = str(path.readlink()) if path.is_symlink() else path.read_bytes() if path.is_file() else None
            found[str(path.relative_to(self.home))] = content
        return found

    def processes(self) -> list[psutil.Process]:
        """The processes whose program lies below the home."""
        found = []
        for process in psutil.process_iter():
            try:
                if process.exe().startswith(str(self.home)):
                    found.append(process)
            except (psutil.Error, OSError):
                continue
        return found

    def no_rubbish(self) -> bool:
        """Whether the folder of the versions holds whole versions and their locks alone."""
        names = self.place.names()
        return {path.name for path in self.place.versions.iterdir()} <= {*names, *(f".{name}.lock" for name in names)}

    def close(self) -> None:
        """End what runs, the daemon first."""
        if HeldLock.is_held(self.paths.daemon_lock) and self.link.exists():
            self.recall("stop", check=False)
        for process in self.processes():
            process.kill()
            process.wait(10)
        shutil.rmtree(self.home.parent, ignore_errors=True)


@contextmanager
def borrowed() -> Iterator[Laptop]:
    """A machine that is given back at the end."""
    laptop = Laptop(Path(tempfile.mkdtemp(prefix="r-")).resolve())
    try:
        yield laptop
    finally:
        laptop.close()
