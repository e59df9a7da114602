"""A case: the installation that is examined, and what a check finds there."""

import json
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from recall.core.config import Config, load_config
from recall.core.errors import ConfigError
from recall.models.listing import verify
from recall.setup.agents import CLAUDE
from recall.setup.places import HookFile, hook_files
from recall.wire.lock import HeldLock
from recall.wire.paths import StatePaths
from recall.wire.transport import Refused, ask

State = Literal["ok", "note", "problem", "fixed"]

#: Seconds that a daemon gets for its status, which it answers from memory also while it is busy; and the tries, for one
#: that has only just taken its lock does not listen yet.
STATUS_SECONDS = 5.0
_TRIES = 3


@dataclass(frozen=True, slots=True)
class Finding:
    """One line: the check's `name`, what was found in a fixed word (`code`) and in a sentence, and what to do.

    A problem keeps recall from working as it should; a note does not. `fix` mends it and says what it did, or raises
    RecallError or OSError; None where a person has to. `facts` are numbers and fixed words: a bug report holds them,
    and never the sentences, which name the person's files.
    """

    name: str
    state: State
    code: str
    found: str
    advice: str = ""
    fix: Callable[[], str] | None = None
    facts: Mapping[str, int | float | str] = field(default_factory=dict)

    @property
    def fixable(self) -> bool:
        return self.fix is not None


@dataclass(frozen=True, slots=True)
class Serve:
    """The daemon of the state folder: whether one holds the lock, and what it says of itself, None where it is mute."""

    held: bool
    says: Mapping[str, Any] | None = None
    error: str = ""


#: Where an administrator puts Claude Code's settings, by its documentation (code.claude.com/docs/en/settings).
MANAGED = {
    "darwin": Path("/Library/Application Support/ClaudeCode"),
    "win32": Path("C:/Program Files/ClaudeCode"),
}
_MANAGED_ELSEWHERE = Path("/etc/claude-code")


@dataclass(frozen=True)
class Case:
    """One look at an installation. Nothing is made or started by looking; what several checks need is read once.

    `folder` is the working folder, `now` in seconds since 1970, `managed` the administrator's folder.
    """

    paths: StatePaths
    environment: Mapping[str, str]
    folder: Path | None
    platform: str
    now: float
    managed: Path

    @classmethod
    def here(cls, paths: StatePaths, environment: Mapping[str, str], folder: str | None, platform: str) -> "Case":
        """The case of this machine at this moment."""
        managed = MANAGED.get(platform, _MANAGED_ELSEWHERE)
        return cls(paths, environment, Path(folder) if folder else None, platform, time.time(), managed)

    @property
    def home(self) -> Path:
        """The state folder."""
        return Path(self.paths.home)

    @cached_property
    def is_set_up(self) -> bool:
        """Whether `recall setup` has been here, or at least an index is; a folder that we may not look into counts."""
        if not self.home.is_dir() or not os.access(self.home, os.X_OK):
            return self.home.is_dir()
        return Path(self.paths.config).exists() or Path(self.paths.index).exists()

    @cached_property
    def _read(self) -> tuple[Config, list[Path], str]:
        try:
            config = load_config(Path(self.paths.config))
            return config, config.claude_folders(self.environment), ""
        except ConfigError as error:
            return Config(), Config().claude_folders(self.environment), str(error)

    @property
    def config(self) -> Config:
        """The configuration, by its defaults where config.toml is wrong."""
        return self._read[0]

    @property
    def config_problem(self) -> str:
        """What is wrong with config.toml, "" where nothing is."""
        return self._read[2]

    @property
    def claude(self) -> list[Path]:
        """The Claude folders that are read."""
        return self._read[1]

    @cached_property
    def hook_files(self) -> list[HookFile]:
        """The settings files of all agents that there are, or that nobody lets us look for; Claude Code's first."""
        folder = str(self.folder) if self.folder else None
        found = hook_files(self.home, self.claude, self.environment, folder)
        return sorted((file for file in found if _may_be(file.path)), key=lambda file: file.agent is not CLAUDE)

    @property
    def settings(self) -> list[Path]:
        """Those of Claude Code."""
        return [file.path for file in self.hook_files if file.agent is CLAUDE]

    @cached_property
    def model_troubles(self) -> list[str]:
        """What is wrong with the files of the configured model, which are all read. Raises ModelError where it is not
        here."""
        return [problem for _, problem in verify(self.paths, self.config["model"]) if problem]

    @cached_property
    def serve(self) -> Serve:
        """What the daemon says."""
        if not self.home.is_dir() or not HeldLock.is_held(self.paths.daemon_lock):
            return Serve(held=False)
        error = ""
        for attempt in range(_TRIES):
            time.sleep(0.5 * attempt)
            try:
                reply, body = ask(self.paths, "status", b"{}", timeout=STATUS_SECONDS)
                return Serve(True, json.loads(body) if reply.status == "ok" else None, reply.status)
            except TimeoutError:
                return Serve(held=True, error=f"no answer within {STATUS_SECONDS:g} s")
            except (OSError, Refused, ValueError) as failure:
                error = str(failure)
        return Serve(held=HeldLock.is_held(self.paths.daemon_lock), error=error)


def _may_be(file: Path) -> bool:
    try:
        file.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return True
