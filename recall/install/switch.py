"""Which of the installed versions is current: the decision, and the step that makes it so."""

from dataclasses import dataclass
from typing import Literal

from recall.core.errors import InstallError
from recall.install.place import Place, is_name, number
from recall.wire.lock import HeldLock

#: Seconds that another process gets for a switch; it needs milliseconds.
PATIENCE = 20.0

Verdict = Literal["first", "newer", "same", "asked", "older", "other build"]


@dataclass(frozen=True, slots=True)
class Switch:
    """`before` and `now`: names of the versions that were and are current."""

    verdict: Verdict
    before: str | None
    now: str


def verdict(current: str | None, coming: str, *, asked: bool) -> Verdict:
    """Whether a version that comes becomes current. A pure decision.

    A newer one does. An older one, and another build of the same version, only when a person asks for it: two files
    that are run in turn must not change places each time.
    """
    if current is None or not is_name(current):
        return "first"
    if current == coming:
        return "same"
    if asked:
        return "asked"
    if number(coming) > number(current):
        return "newer"
    return "older" if number(coming) < number(current) else "other build"


def switch(place: Place, coming: str, *, asked: bool) -> Switch:
    """Make a version current if it shall be. Raises InstallError, OSError."""
    lock = HeldLock.wait(place.lock, PATIENCE)
    if lock is None:
        raise InstallError("another recall is changing the installed version; wait a moment and run it again")
    with lock:
        before = place.current()
        what = verdict(before, coming, asked=asked)
        if what in ("first", "newer", "asked"):
            place.make_current(coming)
        return Switch(what, before, place.current() or coming)
