"""Weekly: what recall did in some days, in figures. Pure functions over decisions."""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from recall.insight.decisions import Decision


@dataclass(frozen=True, slots=True)
class Figures:
    """Counts of messages; `since` is the time of the earliest, without any the one that was asked from.

    `silent` counts them by reason without the time-outs, `lines` those handed over by kind, `shown` messages by the
    path that they brought; all with the largest first. `p50` and `p95` are the daemon's milliseconds for messages that
    were searched, None without any. A message whose answer was ready too late counts as one that was answered and as a
    time-out: nothing in the journals tells that they are the same.
    """

    since: datetime
    messages: int = 0
    sessions: int = 0
    searched: int = 0
    spoken: int = 0
    timeouts: int = 0
    bytes: int = 0
    silent: dict[str, int] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    shown: dict[str, int] = field(default_factory=dict)
    p50: float | None = None
    p95: float | None = None


def figures(decisions: Iterable[Decision], since: datetime) -> Figures:
    """The figures of the messages from a local time on."""
    chosen = [decision for decision in decisions if decision.time >= since and decision.event is None]
    spoken = [decision for decision in chosen if decision.items]
    silent = Counter(decision.reason for decision in chosen if not decision.items)
    timeouts = silent.pop("timeout", 0)
    times = sorted(decision.ms for decision in chosen if decision.searched)
    return Figures(
        since=min((decision.time for decision in chosen), default=since),
        messages=len(chosen),
        sessions=len({decision.session for decision in chosen if decision.session}),
        searched=len(times),
        spoken=len(spoken),
        timeouts=timeouts,
        bytes=sum(decision.size for decision in spoken),
        silent=_ordered(silent),
        lines=_ordered(Counter(kind for decision in spoken for kind, _ in decision.items)),
        shown=_ordered(Counter(path for decision in spoken for path in {path for _, path in decision.items})),
        p50=percentile(times, 0.5),
        p95=percentile(times, 0.95),
    )


def never_shown(paths: Iterable[str], shown: Collection[str]) -> list[str]:
    """The paths that were not shown, in order."""
    return sorted({path for path in paths if path not in shown})


def percentile(ordered: Sequence[float], share: float) -> float | None:
    """The smallest value that at least this share of them does not exceed; None of none."""
    return ordered[max(math.ceil(share * len(ordered)) - 1, 0)] if ordered else None


def _ordered(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
