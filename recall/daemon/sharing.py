"""When records are exchanged with the team: the daemon starts a command for it, for it reaches no network itself."""

from recall.core.config import Config
from recall.core.log import Log
from recall.daemon.live import Live
from recall.replica.membership import Membership, read_membership
from recall.wire.paths import StatePaths
from recall.wire.spawn import Started, start_detached


class Sharing:
    """Starts `recall share sync` while the daemon is in use; one at a time."""

    def __init__(self, paths: StatePaths, log: Log) -> None:
        self._paths = paths
        self._log = log
        self._membership = Live[Membership | None](paths.share, read_membership, None)
        self._last = -float("inf")
        self._running: Started | None = None

    def look(self, now: float, config: Config) -> None:
        """Start an exchange where one is due; `now` is monotonic, in seconds. Costs one `stat` where none is."""
        member = self._membership.current()
        if member is None or not member.agreed:
            return
        if not is_due(now, self._last, config["share.minutes"], paused=member.paused):
            return
        if self._running is not None and self._running.poll() is None:
            return
        self._last = now
        try:
            self._running = start_detached(self._paths.home, ["share", "sync", "--quiet", "--home", self._paths.home])
            self._log.event("exchange")
        except OSError as error:
            self._log.failure("exchange-failed", error)


def is_due(now: float, last: float, minutes: int, *, paused: bool) -> bool:
    """Whether records should be exchanged, so long after the last time; times in seconds. A pure decision."""
    return minutes > 0 and not paused and now - last >= 60 * minutes
