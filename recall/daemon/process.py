"""The daemon as others see it: whether it answers, which process it is, and its end, by force where it must be."""

import contextlib
import json
import os
import time
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

import psutil

from recall.core.errors import DaemonError, DaemonMute, DaemonRefused, DaemonUnreachable
from recall.wire.files import NotAFile
from recall.wire.lock import POLL_SECONDS, HeldLock, holder
from recall.wire.paths import StatePaths
from recall.wire.transport import Refused, ask

#: Seconds that a daemon gets to answer `status` or `stop`, which need nothing but its event loop.
ASK_SECONDS = 2.0
#: Seconds that one which agreed to end gets: questions in work and a batch of the index, or a model that loads.
AGREED_SECONDS = 20.0
#: Seconds that one gets which holds its lock and does not listen yet; a start takes less than one.
LISTEN_SECONDS = 5.0
#: Seconds that a process gets to end once it was told so by the system, or has let go of its lock.
END_SECONDS = 5.0


def status_of(paths: StatePaths, timeout: float = ASK_SECONDS) -> Mapping[str, Any]:
    """What the daemon says of itself, within `timeout` seconds. Whoever answers so is one, whatever the lock says.

    Raises DaemonUnreachable where nobody listens at the address, DaemonMute where somebody does and does not answer as
    a daemon, DaemonRefused for one that does and has only an error to tell.
    """
    try:
        reply, body = ask(paths, "status", b"{}", timeout=timeout)
        says = json.loads(body)
    except TimeoutError:
        raise DaemonMute(f"no answer within {timeout:g} s") from None
    except (FileNotFoundError, ConnectionRefusedError, PermissionError, NotAFile) as error:
        raise DaemonUnreachable(str(error)) from None
    except (OSError, Refused, ValueError) as error:
        raise DaemonMute(str(error)) from None
    if reply.status != "ok" or not isinstance(says, dict):
        raise DaemonRefused(f"its answer was {reply.status}")
    return says


def end_daemon(paths: StatePaths) -> str:
    """End the daemon: what became of it, "" where none ran. It is told so, and where it does not answer or does not
    end, its process is ended. Raises DaemonError where that does not help either, OSError."""
    told = daemon_process(paths)
    processes = [told] if told else daemon_processes(paths)
    if not processes and not _locked(paths) and not _answers(paths):
        return ""

    def gone() -> bool:
        # Of a process that was killed the first thread ends before the others, which hold lock and address a moment on.
        holds = _locked(paths) and (not processes or holder(paths.daemon_lock) in {one.pid for one in processes})
        return all(map(_is_gone, processes)) and not holds

    if _told_to_end(paths) and _within(AGREED_SECONDS, gone):
        return "stopped"
    try:
        ended = [str(one.pid) for one in processes if _end(one)]
    except psutil.Error as error:
        raise DaemonError(f"{_still(paths)}, and its process cannot be ended ({error}); end it by hand") from None
    if not _within(END_SECONDS, gone):
        raise DaemonError(f"{_still(paths)}; find the process `recall serve` of this folder and end it by hand")
    return f"stopped: it did not end by itself, so its process {', '.join(ended)} was ended" if ended else "stopped"


def daemon_process(paths: StatePaths) -> psutil.Process | None:
    """The process of the daemon that answers, None where none does or it cannot be seen from here."""
    try:
        return _daemon(paths, int(status_of(paths)["pid"]))
    except (DaemonError, KeyError, TypeError, ValueError):
        return None


def daemon_processes(paths: StatePaths) -> list[psutil.Process]:
    """The processes that serve this state folder, as far as this person may see them: the one that holds the lock, and
    those that name the folder."""
    found = {}
    for process in psutil.process_iter(["cmdline"]):
        if process.pid != os.getpid() and _serves(process.info["cmdline"] or [], paths):
            found[process.pid] = process
    pid = holder(paths.daemon_lock) if _locked(paths) else None
    if pid and (holds := _daemon(paths, pid)):
        found.setdefault(pid, holds)
    return list(found.values())


def wait_for_end(process: psutil.Process | None) -> None:
    """Wait for a daemon that has let go of everything: the end of its process takes some moments more."""
    if process is not None:
        _within(END_SECONDS, lambda: _is_gone(process))


def _daemon(paths: StatePaths, pid: int) -> psutil.Process | None:
    """The process of this number if it is a daemon of this folder: in another container the number is another's."""
    with contextlib.suppress(psutil.Error, ValueError):
        process = psutil.Process(pid)
        if pid != os.getpid() and _serves(process.cmdline(), paths, unnamed=True):
            return process
    return None


def _serves(words: list[str], paths: StatePaths, *, unnamed: bool = False) -> bool:
    """Whether a command line serves this folder; `unnamed`: also one that names none, as when a person typed it."""
    named = dict(pairwise(words)).get("--home")
    return "serve" in words and (unnamed if named is None else os.path.realpath(named) == os.path.realpath(paths.home))


def _answers(paths: StatePaths) -> bool:
    try:
        return bool(status_of(paths))
    except DaemonError:
        return False


def _told_to_end(paths: StatePaths) -> bool:
    """Tell the daemon to end; whether it agreed. One that holds its lock and does not listen may be starting."""
    deadline = time.monotonic() + LISTEN_SECONDS
    while True:
        try:
            ask(paths, "stop", timeout=ASK_SECONDS)
        except (FileNotFoundError, ConnectionRefusedError):
            if time.monotonic() > deadline or not _locked(paths):
                return False
        except (OSError, Refused):
            return False
        else:
            return True
        time.sleep(POLL_SECONDS)


def _end(process: psutil.Process) -> bool:
    """End a process of ours; whether it was there. It is asked first, unless it is stopped and cannot hear."""
    try:
        if process.status() != psutil.STATUS_STOPPED:
            process.terminate()
            if _within(END_SECONDS, lambda: _is_gone(process)):
                return True
        process.kill()
    except psutil.NoSuchProcess:
        return False
    _within(END_SECONDS, lambda: _is_gone(process))
    return True


def _is_gone(process: psutil.Process) -> bool:
    """Whether a process has ended; one whose parent has not asked yet how counts as gone."""
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def _locked(paths: StatePaths) -> bool:
    """Whether a daemon holds the lock. Nobody can where no file stands. Raises OSError."""
    try:
        return HeldLock.is_held(paths.daemon_lock)
    except NotAFile:
        return False


def _within(seconds: float, true: Callable[[], bool]) -> bool:
    """Whether it becomes true within so many seconds."""
    deadline = time.monotonic() + seconds
    while not true():
        if time.monotonic() > deadline:
            return False
        time.sleep(POLL_SECONDS)
    return True


def _still(paths: StatePaths) -> str:
    pid = holder(paths.daemon_lock)
    return f"the daemon of {paths.home} does not end" + (f" (process {pid})" if pid else "")
