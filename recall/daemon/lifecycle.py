"""When the daemon looks at the sources, ends, and drops work: pure decisions over plain values, times in seconds."""

import math

#: The daemon counts as in use for so long after a question; outside of it nothing runs, so a laptop can sleep.
IN_USE_SECONDS = 600.0

#: Requests that wait for a place beyond those in flight; one more is told `busy` at once.
MAX_WAITING = 64

#: Requests that are worked on at the same time.
MAX_IN_FLIGHT = 16


def should_look(now: float, last_asked: float, last_looked: float, interval: float) -> bool:
    """Whether the sources should be looked over: the last look is older than `interval` and somebody asks."""
    return now - last_looked >= interval and now - last_asked <= IN_USE_SECONDS


def next_event(now: float, last_asked: float, last_looked: float, interval: float, idle_seconds: float) -> float:
    """Seconds until something is due: the next look, if the daemon still counts as in use by then, else its end."""
    due, end = max(now, last_looked + interval), max(now, last_asked + idle_seconds)
    return (min(due, end) if due - last_asked <= IN_USE_SECONDS else end) - now


def should_exit(now: float, last_asked: float, idle_seconds: float, busy: bool) -> bool:
    """Whether nobody asked for so long that the daemon ends. It never ends while it works."""
    return not busy and now - last_asked >= idle_seconds


def seconds_left(now: float, arrived: float, budget_ms: int) -> float:
    """How long the asker still waits; nobody reads an answer that comes later. Budget 0: as long as it takes."""
    return arrived + budget_ms / 1000 - now if budget_ms > 0 else math.inf
