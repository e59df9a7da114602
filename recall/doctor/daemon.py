"""The daemon: whether it answers, of which version it is, whether it comes up at all, and what it has left behind."""

import contextlib
import re
import stat
import time
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

from recall.core.errors import DaemonError, DaemonUnreachable
from recall.daemon.journal import local_time
from recall.daemon.process import end_daemon, status_of
from recall.doctor.case import Case, Finding
from recall.doctor.folder import misplaced
from recall.doctor.journals import lines_of
from recall.version import BUILD, VERSION
from recall.wire.lock import HeldLock
from recall.wire.paths import StatePaths
from recall.wire.spawn import start_daemon
from recall.wire.transport import Refused, ask

#: Seconds that a daemon gets to take over from another.
TAKE_OVER_SECONDS = 60.0
#: A daemon that a message has started writes its first line within so many seconds, or has not come up.
START_SECONDS = 60.0
#: Checks of what the daemon complains about too.
_SAID_ELSEWHERE = frozenset({"config", "mutes", "gates", "model", "device", "index", "permissions", "disk"})

_STARTED = re.compile(r"(\S+) started ")


def daemon(case: Case) -> Iterator[Finding]:
    """Whether it runs, answers, and is of this version."""
    serve = case.serve
    if not serve.held:
        yield _stopped(case)
    elif serve.says is None:
        found = f"a daemon serves {case.home} and does not answer ({serve.error})"
        fix = partial(end, case.paths)
        yield Finding("daemon", "problem", "mute", found, "end its process; the next message starts another", fix)
    else:
        yield _running(case)
        if not serve.locked:
            found = f"its lock {case.paths.daemon_lock} was taken away"
            yield Finding("daemon", "note", "no-lock", found, "it ends by itself; the next message starts another")


def _running(case: Case) -> Finding:
    says = case.serve.says or {}
    state, build = str(says.get("state")), int(says.get("build") or 0)
    words = f"{state}, process {says.get('pid')}, version {says.get('version')}, {says.get('rss_mb')} MB"
    facts: dict[str, int | float | str] = {"state": state, "build": build}
    if build < BUILD:
        found = f"an older daemon answers ({words}); this is {VERSION}"
        fix = partial(take_over, case.paths)
        return Finding(
            "daemon", "problem", "older", found, "`recall stop`; the next message starts this one", fix, facts
        )
    if build > BUILD:
        found = f"a newer daemon answers ({words}); this is {VERSION}"
        return Finding("daemon", "note", "newer", found, "use the newer recall for commands too", None, facts)
    if state == "failed":  # why, says the check of the model, or `trouble`
        return Finding("daemon", "note", state, f"it runs and cannot answer ({words})", "", None, facts)
    return Finding("daemon", "ok", state, words, facts=facts)


def _stopped(case: Case) -> Finding:
    if case.serve.stranger:
        return Finding("daemon", "note", "displaced", "not running, and no message starts it: see `address`")
    if misplaced(map(Path, (case.paths.daemon_lock, case.paths.start_lock))):
        return Finding("daemon", "note", "blocked", "not running, and no message can start it: see `locks`")
    if case.serve.error:
        return Finding("daemon", "note", "unknown", f"nobody can tell whether it runs ({case.serve.error})")
    calls = [line.split()[0] for line in lines_of(Path(case.paths.hook_log)) if line.split()[1:2] == ["started"]]
    births = [born[1] for line in lines_of(Path(case.paths.daemon_log)) if (born := _STARTED.match(line))]
    if never_came(calls, births, local_time(case.now - START_SECONDS)):
        found = f"a message started a daemon at {calls[-1]} and none came up"
        advice = f"`recall serve --home {case.home}` shows why"
        return Finding("daemon", "problem", "does-not-start", found, advice)
    return Finding("daemon", "ok", "stopped", "not running; the next message starts it")


def never_came(calls: Sequence[str], births: Sequence[str], due: str) -> bool:
    """Whether no daemon has begun since the last one was called for, by the lines of the two logs (local times,
    ISO 8601). One that was called after `due` may still be on its way. A pure decision."""
    if not calls or calls[-1] > due:
        return False
    try:
        earliest = (datetime.fromisoformat(calls[-1]) - timedelta(seconds=1)).isoformat()
    except ValueError:
        return False
    return not any(birth >= earliest for birth in births)


def trouble(case: Case, findings: Sequence[Finding]) -> Finding | None:
    """What the daemon complains about, where no check has found the cause itself."""
    says = case.serve.says or {}
    problem = says.get("problem")
    if not problem or any(line.state == "problem" and line.name in _SAID_ELSEWHERE for line in findings):
        return None
    return Finding("daemon", "problem", "complains", f"the daemon says: {problem}", "see daemon.log too")


def address(case: Case) -> Iterator[Finding]:
    """Whether a daemon that is gone has left its address, or something else stands in that place."""
    found = []
    for path in map(Path, (case.paths.socket, case.paths.endpoint)):
        try:
            mode = path.lstat().st_mode
        except OSError:
            continue
        if not (stat.S_ISSOCK(mode) or (path.name == "endpoint" and stat.S_ISREG(mode))):
            words = f"{path}: expected a daemon's address, found something else"
            found.append(Finding("address", "problem", "no-address", words, "move it away"))
        elif case.serve.stranger:
            words = f"{path}: somebody else than recall's daemon takes the questions ({case.serve.error})"
            advice = "end the program that listens there, or take the file away; the next message starts the daemon"
            found.append(Finding("address", "problem", "stranger", words, advice))
        elif not case.serve.held and not case.serve.error:
            fix = partial(forget_address, case.paths, path)
            words = f"{path} is left of a daemon that did not end by itself"
            found.append(Finding("address", "note", "stale", words, "the next daemon takes it over", fix))
    yield from found or [Finding("address", "ok", "ok", "the daemon's address is its own")]


def forget_address(paths: StatePaths, path: Path) -> str:
    """Remove an address that nobody serves. Raises DaemonError where somebody has come meanwhile, OSError."""
    lock = HeldLock.acquire(paths.daemon_lock)
    if lock is None:
        raise DaemonError("a daemon runs by now")
    with lock:
        with contextlib.suppress(DaemonUnreachable):
            status_of(paths)
            raise DaemonError("a daemon answers by now")
        path.unlink(missing_ok=True)
    return f"removed {path}"


def end(paths: StatePaths) -> str:
    """End a daemon that answers no more. Raises DaemonError, OSError."""
    return f"{end_daemon(paths) or 'it has ended by itself'}; the next message starts another"


def take_over(paths: StatePaths) -> str:
    """Have a daemon of this version take the older one's place; until then that one answers. Raises DaemonError."""
    start_daemon(paths.home, replace="older")
    deadline = time.monotonic() + TAKE_OVER_SECONDS
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError, Refused):
            reply, _ = ask(paths, "status", b"{}", timeout=2.0)
            if reply.build >= BUILD:
                return f"a daemon of {VERSION} has taken its place"
        time.sleep(0.1)
    raise DaemonError(f"the older one still answers; see {paths.daemon_log}")
