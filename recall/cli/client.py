"""What commands share to talk to the daemon: ask it, start it, wait for it."""

import json
import os
import time
from collections.abc import Mapping
from typing import Any

from recall.core.errors import DaemonMute, DaemonRefused, DaemonUnreachable, UsageError
from recall.wire.lock import HeldLock, holder
from recall.wire.paths import StatePaths, make_private_folder
from recall.wire.spawn import Started, start_daemon
from recall.wire.transport import Refused, ask

#: Seconds that a command waits for a daemon that starts: the model loads in one or two, on a cold disk in ten.
START_SECONDS = 60.0
#: Seconds that a command waits for an answer; `index` waits as long as it takes.
ANSWER_SECONDS = 10.0


def current_folder() -> str | None:
    """The working folder as the system spells it, like the client's `cwd`; None when it was deleted."""
    try:
        return os.getcwd()  # noqa: PTH109
    except OSError:
        return None


def call(paths: StatePaths, verb: str, fields: Mapping[str, Any] | None = None, timeout: float = ANSWER_SECONDS) -> Any:
    """One request to a running daemon. Raises DaemonUnreachable, or DaemonRefused with the daemon's sentence.

    Returns the reply's JSON, None while the daemon is warming up.
    """
    try:
        reply, body = ask(paths, verb, json.dumps(fields or {}).encode(), timeout=timeout)
    except TimeoutError:
        raise DaemonMute(mute(paths, timeout)) from None
    except (OSError, Refused) as error:
        raise DaemonUnreachable(f"no daemon answers for {paths.home} ({error})") from None
    if reply.status == "warming":
        return None
    if reply.status == "busy":
        raise DaemonRefused("the daemon is busy with other questions; try again in a moment")
    value = json.loads(body or b"{}")
    if reply.status == "error":
        if value.get("exit_code") == UsageError.exit_code:
            raise UsageError(value["error"])
        raise DaemonRefused(value.get("error", "the daemon failed; see daemon.log"))
    return value


def mute(paths: StatePaths, seconds: float) -> str:
    """The sentence about a daemon that has not answered for so long."""
    pid = holder(paths.daemon_lock)
    return (
        f"the daemon of {paths.home}{f' (process {pid})' if pid else ''} did not answer within {seconds:g} s; it hangs "
        "or the machine is very busy: try again, or have `recall doctor --fix` end it"
    )


def call_warm(paths: StatePaths, verb: str, fields: Mapping[str, Any] | None = None) -> Any:
    """Like `call`, but starts a daemon when none runs and waits until it is warm."""
    deadline = time.monotonic() + START_SECONDS
    started: Started | None = None
    while True:
        try:
            value = call(paths, verb, fields)
            if value is not None:
                return value
        except DaemonUnreachable:
            # The process first: a daemon that has only just taken the lock would otherwise be taken for one that ended.
            if started and started.poll() is not None and not HeldLock.is_held(paths.daemon_lock):
                raise DaemonUnreachable(
                    f"the daemon ended while starting; run `recall serve --home {paths.home}` to see why"
                ) from None
            if not started and not HeldLock.is_held(paths.daemon_lock):
                make_private_folder(paths.home)
                started = start_daemon(paths.home)
        if time.monotonic() > deadline:
            raise DaemonUnreachable(f"the daemon was not ready within {START_SECONDS:g} s; see {paths.daemon_log}")
        time.sleep(0.05)
