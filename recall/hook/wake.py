"""The rest of the hook ring: what to do when no daemon answered, or an old one did.

`wake` runs after the answer, or when there will be none, so it may import what the pipe must not.
"""

import os
import time

from recall.hook import pipe
from recall.wire.lock import HeldLock
from recall.wire.paths import StatePaths, make_private_folder, state_home
from recall.wire.spawn import start_daemon

#: An older daemon is replaced only when it has run for this long (seconds): two programs used in turn must not fight.
REPLACE_AFTER = 60.0


def wake(home: str, outcome: str, message: bytes, deadline: float) -> None:
    """Find the daemon where the pipe could not look, else start one; replace one that is older than this program."""
    paths = StatePaths(state_home(home or None))
    if outcome == pipe.UNREACHABLE:
        outcome = _ask_elsewhere(paths, home, message, deadline)
    pipe.release_streams()
    if outcome == pipe.UNREACHABLE:
        make_private_folder(paths.home)
        if not HeldLock.is_held(paths.daemon_lock):  # else one is starting, or too busy to accept
            start_daemon(paths.home)
            pipe.note(paths.home, "started", 0)
    elif outcome == pipe.OUTDATED and may_replace(_age(paths.daemon_lock)):
        start_daemon(paths.home, replace=True)
        pipe.note(paths.home, "replaced", 0)


def may_replace(age: float) -> bool:
    """Whether a daemon that runs for `age` seconds may be replaced by a newer one."""
    return age >= REPLACE_AFTER


def _ask_elsewhere(paths: StatePaths, home: str, message: bytes, deadline: float) -> str:
    """The pipe knows neither the default state folder nor the short socket folder of a very long one."""
    if paths.home == home and paths.socket == os.path.join(home, pipe.SOCKET):
        return pipe.UNREACHABLE
    connected = pipe.connect(paths.home, paths.socket)
    if connected is None:
        return pipe.UNREACHABLE
    return pipe.exchange(paths.home, connected, message, deadline)


def _age(path: str) -> float:
    """Seconds since the lock was taken (its file is touched then)."""
    return time.time() - os.stat(path).st_mtime
