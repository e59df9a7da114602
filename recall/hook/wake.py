"""The rest of the hook ring: what to do when no daemon answered, or an old one did.

`wake` runs after the answer, or when there will be none, so it may import what the pipe must not.
"""

import os
import time

from recall.hook import pipe
from recall.wire.lock import POLL_SECONDS, HeldLock
from recall.wire.paths import StatePaths, make_private_folder, state_home

#: An older daemon is replaced only when it has run for this long (seconds), and so long after the last try: two
#: programs used in turn must not fight, and a new one that cannot start must not be tried with every message.
REPLACE_AFTER = 60.0
#: Seconds that a daemon gets to take its lock: it needs a quarter of one, on a busy machine several.
START_SECONDS = 10.0


def wake(home: str, outcome: str, message: bytes, deadline: float) -> None:
    """Find the daemon where the pipe could not look, else start one; replace one that is older than this program."""
    paths = StatePaths(state_home(home or None))
    if outcome == pipe.UNREACHABLE:
        outcome = _ask_elsewhere(paths, home, message, deadline)
    if outcome == pipe.DONE:
        return
    pipe.release_streams()
    if hasattr(os, "fork"):
        # Starting takes longer than the hook itself, on a busy machine longer than the budget. A child does it: nobody
        # waits for it, and the dead man, a thread, does not come along.
        if os.fork():
            return
        os.setsid()
    if outcome == pipe.UNREACHABLE:
        make_private_folder(paths.home)
        if not HeldLock.is_held(paths.daemon_lock):  # else one is starting, or too busy to accept
            _start(paths)
    elif may_replace(time.time() - _taken(paths.daemon_lock), time.time() - _taken(paths.start_lock)):
        _start(paths, replace="older")


def may_replace(age: float, tried: float) -> bool:
    """Whether a daemon that has run for `age` seconds may be replaced, so many seconds after it was `tried` last."""
    return min(age, tried) >= REPLACE_AFTER


def _start(paths: StatePaths, *, replace: str = "") -> None:
    """Start a daemon and hold `start.lock` until it has its own lock: twenty hooks on a cold machine start one."""
    starting = HeldLock.acquire(paths.start_lock)
    if starting is None:
        return
    from recall.wire.spawn import start_daemon  # noqa: PLC0415  (its subprocess takes longer than all else here)

    with starting:
        began = time.time()
        start_daemon(paths.home, replace=replace)
        pipe.note(paths.home, "replaced" if replace else "started", 0)
        while _taken(paths.daemon_lock) < began and time.time() < began + START_SECONDS:
            time.sleep(POLL_SECONDS)


def _ask_elsewhere(paths: StatePaths, home: str, message: bytes, deadline: float) -> str:
    """The pipe knows neither the default state folder nor the short socket folder of a very long one."""
    if paths.home == home and paths.socket == os.path.join(home, pipe.SOCKET):
        return pipe.UNREACHABLE
    connected = pipe.connect(paths.home, paths.socket)
    if connected is None:
        return pipe.UNREACHABLE
    return pipe.exchange(paths.home, connected, message, deadline)


def _taken(path: str) -> float:
    """When the lock was last taken (its file is touched then), in seconds since the epoch; 0 for never."""
    try:
        return os.stat(path).st_mtime
    except FileNotFoundError:
        return 0.0
