"""A throw-away person under the real client: a home with a project, notes and settings, all in the default places."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

NOTES = Path(__file__).parent / "notes" / "memory"

#: What stood in settings.json before setup. Tips on the screen might speak of hooks, as errors do.
SETTINGS = b'{\n  "spinnerTipsEnabled": false,\n  "permissions": {"allow": ["Bash(git status)"]}\n}\n'
#: A loaded machine must not fail these tests; that 300 ms are enough is measured elsewhere.
CONFIG = "[hook]\nbudget_ms = 3000\n"


class Person:
    """A throw-away home with a project, its notes, and settings of Claude Code."""

    def __init__(self, home: Path) -> None:
        self.project = home / "project"
        self.settings = home / ".claude" / "settings.json"
        self.environment = {"HOME": str(home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
        (self.project / ".git").mkdir(parents=True)
        encoded = re.sub(r"[^A-Za-z0-9]", "-", str(self.project))
        shutil.copytree(NOTES, home / ".claude" / "projects" / encoded / "memory")
        self.settings.write_bytes(SETTINGS)

    def recall(self, *words: str) -> str:
        """Run a recall command in the project; what it printed."""
        done = subprocess.run(
            [sys.executable, "-m", "recall", *words], cwd=self.project, env=self.environment,
            stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", timeout=120,
        )  # fmt: skip
        assert done.returncode == 0, f"{words}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def status(self) -> Any:
        return json.loads(self.recall("status", "--json"))

    def set_up(self) -> None:
        """`recall setup`, with a budget for a loaded machine."""
        state = Path(self.status()["home"])
        state.mkdir(parents=True, mode=0o700)
        (state / "config.toml").write_text(CONFIG, encoding="utf-8")
        self.recall("setup")

    def register(self, command: str) -> None:
        """Have the client call another hook than recall's, to see that the tests can see."""
        entry = {"type": "command", "command": command, "timeout": 1}
        settings = {"hooks": {"UserPromptSubmit": [{"hooks": [entry]}]}}
        self.settings.write_text(json.dumps(settings), encoding="utf-8")
