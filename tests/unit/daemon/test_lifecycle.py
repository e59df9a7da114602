"""When the daemon looks, ends and drops work."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.daemon.lifecycle import IN_USE_SECONDS, next_event, seconds_left, should_exit, should_look

times = st.floats(0, 1e6, allow_nan=False)


def test_sources_are_looked_over_only_when_the_last_look_is_older_and_somebody_asks() -> None:
    assert should_look(now=100, last_asked=100, last_looked=40, interval=60)
    assert not should_look(now=100, last_asked=100, last_looked=41, interval=60)
    assert should_look(now=1000, last_asked=1000 - IN_USE_SECONDS, last_looked=0, interval=60)
    assert not should_look(now=1001, last_asked=1000 - IN_USE_SECONDS, last_looked=0, interval=60)


def test_an_idle_daemon_ends_but_not_while_it_works() -> None:
    assert should_exit(now=3600, last_asked=0, idle_seconds=3600, busy=False)
    assert not should_exit(now=3599, last_asked=0, idle_seconds=3600, busy=False)
    assert not should_exit(now=3600, last_asked=0, idle_seconds=3600, busy=True)


@given(now=times, asked=times, looked=times, interval=st.floats(1, 1e5), idle=st.floats(1, 1e5))
def test_the_loop_never_spins(now: float, asked: float, looked: float, interval: float, idle: float) -> None:
    """Where nothing is due now, the time until the next event is not zero."""
    asked, looked = min(asked, now), min(looked, now)
    if should_look(now, asked, looked, interval) or should_exit(now, asked, idle, busy=False):
        return
    assert next_event(now, asked, looked, interval, idle) > 0


def test_an_idle_daemon_wakes_only_to_end() -> None:
    assert next_event(now=5000, last_asked=0, last_looked=4000, interval=60, idle_seconds=21600) == 16600


@pytest.mark.parametrize(
    ("waited_ms", "budget_ms", "stale"), [(0, 250, False), (249, 250, False), (250, 250, True), (10**6, 0, False)]
)
def test_work_is_dropped_when_its_asker_has_given_up(waited_ms: int, budget_ms: int, stale: bool) -> None:
    assert (seconds_left(now=10 + waited_ms / 1000, arrived=10, budget_ms=budget_ms) <= 0) is stale
