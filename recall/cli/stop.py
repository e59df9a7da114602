"""`recall stop`: ends the daemon."""

import argparse
import contextlib
import time

import psutil

from recall.cli.client import call
from recall.core.errors import DaemonError, DaemonUnreachable
from recall.wire.lock import POLL_SECONDS, HeldLock
from recall.wire.paths import StatePaths, state_home

HELP = "end the daemon; the next message starts it again"
#: Longer than a daemon takes to notice that its address was removed, and to end (recall.daemon.main.PLACE_SECONDS).
WAIT_SECONDS = 40.0
#: Seconds that a process gets to end once it has released its lock.
END_SECONDS = 10.0


def add_arguments(_parser: argparse.ArgumentParser) -> None:
    """No arguments of its own."""


def run(arguments: argparse.Namespace) -> int:
    paths = StatePaths(state_home(arguments.home))
    print("stopped" if stop(paths) else "no daemon was running")
    return 0


def stop(paths: StatePaths) -> bool:
    """End the daemon and wait until it is gone; False when none ran. Raises DaemonError when it does not end."""
    if not HeldLock.is_held(paths.daemon_lock):
        return False
    deadline = time.monotonic() + WAIT_SECONDS
    process = daemon_process(paths)
    asked = False
    while HeldLock.is_held(paths.daemon_lock):
        if not asked:
            try:
                call(paths, "stop", timeout=2.0)
                asked = True
            except DaemonUnreachable:
                pass  # it holds the lock but does not listen yet, or no more
        if time.monotonic() > deadline:
            raise DaemonError(
                f"the daemon of {paths.home} does not end; find the process `recall serve --home {paths.home}` "
                "and end it by hand"
            )
        time.sleep(POLL_SECONDS)
    wait_for_end(process)
    return True


def wait_for_end(process: psutil.Process | None) -> None:
    """Wait for a daemon that has let go of everything: the end of its process takes some moments more. One that ended
    and whose parent has not asked yet how counts as gone."""
    if process is not None:
        deadline = time.monotonic() + END_SECONDS
        with contextlib.suppress(psutil.Error):
            while process.is_running() and process.status() != psutil.STATUS_ZOMBIE and time.monotonic() < deadline:
                time.sleep(POLL_SECONDS)


def daemon_process(paths: StatePaths) -> psutil.Process | None:
    """The daemon's process, None where it does not tell."""
    try:
        found = call(paths, "status", timeout=2.0)
        return psutil.Process(int(found["pid"]))
    except (DaemonError, psutil.Error, KeyError, TypeError):
        return None
