"""A case: the installation that is examined, and what a check finds there."""

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from recall.core.config import Config, load_config
from recall.core.errors import ConfigError, DaemonError, DaemonMute
from recall.daemon.process import daemon_processes, status_of
from recall.models.listing import verify
from recall.setup.agents import CLAUDE
from recall.setup.places import HookFile, hook_files
from recall.wire.lock import HeldLock
from recall.wire.paths import StatePaths

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
    """The daemon of the state folder: whether one lives (`held`), by its lock or because it answers, and what it `says`
    of itself, None where it is mute. `locked`: whether it has its lock. `stranger`: somebody else sits at its address.
    `error`: why nothing is known of it.
    """

    held: bool
    says: Mapping[str, Any] | None = None
    error: str = ""
    locked: bool = True
    stranger: bool = False


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
        """What the daemon says. Whoever answers is one, whatever became of its lock."""
        if not self.home.is_dir():
            return Serve(held=False)
        try:
            locked, error = HeldLock.is_held(self.paths.daemon_lock), ""
        except OSError as refusal:
            locked, error = False, str(refusal)
        for attempt in range(_TRIES if locked else 1):
            time.sleep(0.5 * attempt)
            try:
                return Serve(True, status_of(self.paths, STATUS_SECONDS), locked=locked)
            except DaemonMute as failure:
                return self._mute(locked, str(failure))
            except DaemonError as failure:
                error = str(failure) if locked else error
        return Serve(locked and HeldLock.is_held(self.paths.daemon_lock), error=error, locked=locked)

    def _mute(self, locked: bool, error: str) -> Serve:
        """Somebody takes the question and does not answer it: our daemon, or one that only sits at its address."""
        ours = locked or bool(daemon_processes(self.paths))
        return Serve(ours, error=error, locked=locked, stranger=not ours)


def _may_be(file: Path) -> bool:
    try:
        file.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return True
