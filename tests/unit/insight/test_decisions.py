"""Decisions: what the journals say, old lines and damage included, and which of them is asked about."""

import json
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.core.errors import UsageError
from recall.insight.decisions import choose, moment, read_decisions, shown_before, signs_when_shown
from recall.insight.weekly import figures, percentile

NOW = datetime(2026, 8, 14, 12, 0, 0)
OLD = {"time": "2026-08-14T09:00:00", "session": "s-1", "tier": "some", "reason": "stands out", "gap": 0.03,
       "top": 0.85, "items": [{"kind": "memory", "path": "/a"}], "bytes": 300, "ms": 5.0}  # fmt: skip
NEW = OLD | {"time": "2026-08-14T09:10:00", "reason": "already shown", "items": [], "bytes": 0, "ms": 9.0,
             "held": ["/a"], "probability": 0.7, "signs": {"cosine": 2.5}, "prompt": "p-2",
             "ranked": [{"kind": "memory", "path": "/a", "score": 3.5, "signs": {"late": 3.1}}]}  # fmt: skip
OTHER = OLD | {
    "time": "2026-08-14T09:20:00",
    "session": "s-2",
    "reason": "short",
    "tier": "none",
    "items": [],
    "ms": 0.1,
}


def journal(folder: Path, *rows: object, hook: str = "") -> tuple[Path, Path]:
    (folder / "i").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (folder / "h").write_text(hook, encoding="utf-8")
    return folder / "i", folder / "h"


def test_old_new_and_unanswered_lines_come_in_order_of_time(tmp_path: Path) -> None:
    second_call = OLD | {"reason": "answered", "time": "2026-08-14T09:10:01"}
    found = list(
        read_decisions(
            *journal(tmp_path, OLD, 7, {}, NEW, second_call, OTHER, hook="2026-08-14T09:15:00 timeout 300\n")
        )
    )
    assert [decision.reason for decision in found] == ["stands out", "already shown", "timeout", "short"]
    old, new, timeout, short = found
    assert (old.ranked, old.probability, old.searched) == ((), None, True)
    assert (new.ranked[0].path, new.ranked[0].signs, new.held, new.prompt) == ("/a", {"late": 3.1}, ("/a",), "p-2")
    assert (timeout.answered, timeout.searched, short.searched) == (False, False, False)


def test_the_last_one_of_a_session_or_the_nearest_is_chosen(tmp_path: Path) -> None:
    found = list(read_decisions(*journal(tmp_path, OLD, NEW, OTHER)))
    assert choose(found, None, None) == found[2]
    assert choose(found, "s-1", None) == found[1]
    assert choose(found, None, datetime(2026, 8, 14, 9, 4)) == found[0]
    assert choose(found, "s-3", None) is None


def test_what_a_session_was_shown_ends_with_its_conversation(tmp_path: Path) -> None:
    found = list(read_decisions(*journal(tmp_path, OLD, NEW, NEW | {"time": "2026-08-14T10:00:00", "emptied": True})))
    assert shown_before(found, "s-1", found[1]) == {"/a"}
    assert shown_before(found, "s-1", found[0]) == set()
    assert shown_before(found, "s-1") == set()
    assert shown_before(found, "s-2") == set()


def test_the_start_of_a_session_is_no_message_but_what_it_listed_was_shown(tmp_path: Path) -> None:
    start = OLD | {"time": "2026-08-14T09:30:00", "reason": "decisions", "event": "SessionStart", "source": "compact",
                   "emptied": True, "items": [{"kind": "knowledge", "path": "/adr"}]}  # fmt: skip
    found = list(read_decisions(*journal(tmp_path, OLD, NEW, start)))
    assert len(found) == 3
    assert choose(found, "s-1", None) == found[1]
    assert shown_before(found, "s-1") == {"/adr"}
    assert figures(found, datetime(2026, 8, 14)).messages == 2
    assert signs_when_shown(found, {"/adr"}) == {}


@pytest.mark.parametrize("text", ["09:10", "2026-08-14T09:10", "2026-08-14 09:10:00"])
def test_times_are_typed_in_three_ways(text: str) -> None:
    assert moment(text, NOW) == datetime(2026, 8, 14, 9, 10)


def test_what_is_no_time_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="yesterday"):
        moment("yesterday", NOW)


@given(st.lists(st.dictionaries(st.sampled_from(list(NEW)), st.one_of(st.none(), st.text(), st.floats(), st.integers(),
    st.lists(st.one_of(st.text(), st.integers(), st.dictionaries(st.text(), st.none())))))))  # fmt: skip
def test_no_line_of_whatever_values_ends_the_reading(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, object]]
) -> None:
    found = list(read_decisions(*journal(tmp_path_factory.mktemp("j"), OLD, *rows, OTHER)))
    assert {"stands out", "short"} <= {decision.reason for decision in found}
    figures(found, datetime.min)


def test_a_week_in_figures(tmp_path: Path) -> None:
    hook = "2026-08-14T09:15:00 timeout 300\n2026-08-14T09:16:00 busy 2\n"
    week = figures(read_decisions(*journal(tmp_path, OLD, OLD, NEW, OTHER, hook=hook)), datetime(2026, 8, 8))
    assert (week.messages, week.spoken, week.searched, week.timeouts, week.sessions) == (6, 2, 3, 1, 2)
    assert week.silent == {"already shown": 1, "busy": 1, "short": 1}
    assert (week.lines, week.shown, week.bytes) == ({"memory": 2}, {"/a": 2}, 600)
    assert (week.p50, week.p95) == (5.0, 9.0)
    assert week.since == datetime(2026, 8, 14, 9)
    nothing = figures([], NOW)
    assert (nothing.messages, nothing.p50, nothing.since) == (0, None, NOW)


@given(st.lists(st.floats(0, 1e6), min_size=1), st.floats(0.01, 1))
def test_a_percentile_is_a_value_that_so_many_do_not_exceed(values: list[float], share: float) -> None:
    found = percentile(sorted(values), share)
    assert found in values
    assert sum(value <= found for value in values) >= share * len(values) - 1e-6
