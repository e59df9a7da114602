"""A real client in a terminal, as a person has it: a tmux server of its own, and a program from the npm registry."""

import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import psutil
from platformdirs import user_cache_path

from support import wait_until

# Taken when this file is imported: the tripwire gives the tests another home and drops the RECALL_ variables.
_REAL_ENVIRONMENT = dict(os.environ)
CACHE = Path(os.environ.get("RECALL_CLIENT_CACHE") or user_cache_path("recall-clients", appauthor=False))

#: Generous, for a loaded machine: seconds for anything to appear on the screen, or to reach the API.
PATIENCE = 90.0
#: Seconds for npm to fetch a client, some 250 MB.
_INSTALL_SECONDS = 900.0
_COLUMNS, _LINES = 200, 60


def missing() -> str | None:
    """What keeps clients from being driven on this machine, None when they can be."""
    lacking = [name for name in ("npm", "node", "tmux") if shutil.which(name) is None]
    return f"needs {' and '.join(lacking)} on the PATH" if lacking else None


def installed(package: str, program: str) -> str:
    """A client's executable, fetched with npm when the cache (RECALL_CLIENT_CACHE, else in the user's) lacks it."""
    binary = CACHE / "node_modules" / ".bin" / program
    if not binary.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        command = ["npm", "install", "--no-audit", "--no-fund", "--prefix", str(CACHE), package]
        subprocess.run(command, check=True, env=_REAL_ENVIRONMENT, timeout=_INSTALL_SECONDS)
    return str(binary)


class Tmux:
    """One program in a terminal. `environment` is all that it sees, HOME included."""

    def __init__(self, environment: Mapping[str, str], folder: Path) -> None:
        self._environment = {**environment, "TERM": "xterm-256color"}
        self._folder = folder
        self._socket = Path(environment["HOME"]) / "tmux.sock"
        self._process: psutil.Process | None = None

    def start(self, command: list[str]) -> None:
        environment = [f"{name}={value}" for name, value in self._environment.items()]
        size = ["-x", str(_COLUMNS), "-y", str(_LINES)]
        self._run("new-session", "-d", *size, "-c", str(self._folder), "env", "-i", *environment, *command)
        self._process = psutil.Process(int(self._run("list-panes", "-F", "#{pane_pid}")))

    def press(self, key: str) -> None:
        self._run("send-keys", key)

    def write(self, text: str) -> None:
        """Type a text, letter by letter as it stands."""
        self._run("send-keys", "-l", text)

    def visible(self) -> str:
        """What the terminal shows at this moment."""
        return self._run("capture-pane", "-p")

    def screen(self) -> str:
        """All that the terminal has shown: what has scrolled away, and what is visible."""
        return self._run("capture-pane", "-p", "-S", "-")

    def wait(self, true: Callable[[], bool], what: str) -> None:
        """Wait until `true()`; fail with `what` and the screen when it never is."""
        try:
            wait_until(true, what, PATIENCE)
        except AssertionError as error:
            raise AssertionError(f"{error}; the screen:\n{self.screen()}") from None

    def close(self) -> None:
        """End the program and wait until it and its children are gone: they write into the home to their end."""
        first = self._process
        family = [*first.children(recursive=True), first] if first and first.is_running() else []
        self._run("kill-server", check=False)  # the server is gone already when the program ended by itself
        try:
            wait_until(lambda: all(map(_gone, family)), "the program ended with its terminal", PATIENCE)
        finally:
            for process in family:
                if not _gone(process):
                    process.kill()

    def _run(self, *words: str, check: bool = True) -> str:
        done = subprocess.run(
            ["tmux", "-u", "-f", os.devnull, "-S", str(self._socket), *words], env=self._environment,
            capture_output=True, encoding="utf-8", timeout=PATIENCE,
        )  # fmt: skip
        assert not check or done.returncode == 0, f"tmux {words[0]}: {done.stderr}"
        return done.stdout


def _gone(process: psutil.Process) -> bool:
    """Whether the process has ended; a zombie has, whoever is to collect it."""
    try:
        return process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True
