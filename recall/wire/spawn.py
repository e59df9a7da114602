"""Starting the daemon so that nothing of the starter stays in it: no stream, no session, no environment."""

import os
import subprocess
import sys
from typing import Any

from recall.wire.environment import clean_environment


def is_frozen() -> bool:
    """Whether this is the packed program."""
    return bool(getattr(sys, "frozen", False))


def own_command() -> list[str]:
    """The command line that runs this program again."""
    if is_frozen():
        return [sys.executable]
    # -P: the daemon's working folder is the state folder, and nothing may be imported from there.
    return [sys.executable, "-P", "-m", "recall"]


class Started(subprocess.Popen[bytes]):
    """A process that we started. It outlives us and nobody has to wait for it: `poll` says whether it has ended."""

    def __del__(self) -> None:
        """Nothing: Popen's own would warn of a forgotten child."""


def start_daemon(home: str, *, replace: str = "", program: str = "") -> Started:
    """Start `recall serve` detached from this process and return at once. Raises OSError.

    `replace`: whose place it may take, `older` or `any`. `program`: the executable, this program by default.

    None of the three streams is inherited: Claude Code waits for end-of-file on the hook's stdout and stderr, and a
    daemon that held one would hang every message.
    """
    arguments = ["serve", "--home", home, "--detached", *(["--replace", replace] if replace else [])]
    return start_detached(home, arguments, program=program)


def start_detached(home: str, arguments: list[str], *, program: str = "") -> Started:
    """Start a command of this program (or of `program`) detached, with the state folder as its own. Raises OSError."""
    command = [*([program] if program else own_command()), *arguments]
    environment = clean_environment(os.environ)
    if sys.platform != "win32":
        return _launch(command, home, environment, start_new_session=True)
    flags = subprocess.CREATE_NO_WINDOW | subprocess.CREATE_NEW_PROCESS_GROUP
    try:
        return _launch(command, home, environment, creationflags=flags | subprocess.CREATE_BREAKAWAY_FROM_JOB)
    except PermissionError:  # the job that we run in forbids leaving it
        return _launch(command, home, environment, creationflags=flags)


def _launch(command: list[str], folder: str, environment: dict[str, str], **options: Any) -> Started:
    return Started(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        close_fds=True,
        **options,
    )
