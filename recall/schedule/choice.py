"""Which schedulers a machine can have, which of them holds an entry of ours, and which one to use."""

import os
import sys

from recall.core.errors import RecallError, UsageError
from recall.schedule.schedulers import Cron, Launchd, Scheduler, Systemd, Task

#: The schedulers that a system can have, the one that fits it best first.
SCHEDULERS: dict[str, tuple[Scheduler, ...]] = {
    "win32": (Task(),),
    "darwin": (Launchd(), Cron()),
    "linux": (Systemd(), Cron()),
}
NAMES = ("cron", "systemd", "launchd", "task")


def schedulers_here(platform: str = sys.platform) -> tuple[Scheduler, ...]:
    """The schedulers of this system, whether they answer or not."""
    return SCHEDULERS.get(platform, (Cron(),))


def holding(home: str) -> list[Scheduler]:
    """The schedulers that hold an entry for this state folder. Raises RecallError."""
    return [scheduler for scheduler in schedulers_here() if scheduler.stands(home)]


def choose(using: str | None, home: str) -> Scheduler:
    """The scheduler to use: the one asked for, else the one that holds our entry, else the first that answers.
    Raises UsageError for one that is not here, RecallError where there is none."""
    answering = [scheduler for scheduler in schedulers_here() if scheduler.answers()]
    if not answering:
        raise RecallError(
            "expected a scheduler (systemd's user manager, cron, launchd, Windows' tasks), found none that answers; "
            "let what you have run `recall index` now and then"
        )
    if using is not None:
        found = next((scheduler for scheduler in answering if scheduler.name == using), None)
        if found is None:
            known = " or ".join(scheduler.name for scheduler in answering)
            raise UsageError(f"expected a scheduler that answers here ({known}), found --using {using}; take that")
        return found
    return next((scheduler for scheduler in answering if scheduler.stands(home)), answering[0])


def remove(home: "str | os.PathLike[str]") -> list[str]:
    """Take this state folder's entries out of every scheduler; what was done, in words, nothing where none stood.

    One that refuses does not keep the others. Raises RecallError at the end, with what refused.
    """
    home = os.fspath(home)
    done, refused = [], []
    for scheduler in schedulers_here():
        try:
            if scheduler.stands(home):
                done.append(scheduler.remove(home))
        except RecallError as error:
            refused.append(str(error))
    if refused:
        raise RecallError("\n".join([*done, *refused]))
    return done
