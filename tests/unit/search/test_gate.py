"""The gap rule, with the published values of bge-m3."""

import pytest

from recall.core.types import Hit, Kind
from recall.embed.manifest import Gate
from recall.search.gate import judge, select

GATE = Gate(floor=0.5, weak=0.025, strong=0.11, near=0.05)


def _hit(rank: int, score: float, kind: Kind = "memory", project: str = "/shop") -> Hit:
    return Hit(rank, score, kind, f"note-{rank}", "", f"/notes/{rank}.md", project)


@pytest.mark.parametrize(
    ("top", "others", "tier", "reason"),
    [
        (0.625, 0.609375, "none", "no record stands out"),
        (0.625, 0.5625, "some", "stands out"),
        (0.625, 0.5, "strong", "strong"),
        (0.49, 0.2, "none", "below the floor"),
        (0.5, 0.45, "some", "stands out"),
    ],
)
def test_the_gap_over_ranks_2_to_11_decides(top: float, others: float, tier: str, reason: str) -> None:
    verdict = judge([top, *[others] * 10], GATE)
    assert (verdict.tier, verdict.reason) == (tier, reason)
    assert verdict.gap == pytest.approx(top - others)
    assert verdict.top == top


def test_a_gap_equal_to_a_threshold_belongs_to_the_higher_tier() -> None:
    gate = Gate(floor=0.5, weak=0.0625, strong=0.125, near=0.05)
    assert judge([0.75, *[0.6875] * 10], gate).tier == "some"
    assert judge([0.75, *[0.625] * 10], gate).tier == "strong"


def test_ranks_beyond_11_do_not_count() -> None:
    ten = [0.6, *[0.5] * 10]
    assert judge([*ten, *[0.1] * 50], GATE) == judge(ten, GATE)


def test_with_few_records_the_mean_is_taken_over_what_there_is() -> None:
    assert judge([0.625, 0.5, 0.25], GATE).gap == pytest.approx(0.25)
    assert judge([0.625, 0.5], GATE).tier == "strong"


def test_a_single_record_is_judged_by_the_floor_alone() -> None:
    assert judge([0.51], GATE).tier == "some"
    assert judge([0.9], GATE).reason == "only record"
    assert judge([0.49], GATE).reason == "below the floor"


def test_no_record_gives_nothing() -> None:
    verdict = judge([], GATE)
    assert (verdict.tier, verdict.gap, verdict.top, verdict.reason) == ("none", 0.0, 0.0, "no records")


def test_some_hands_over_the_three_best_notes_and_rules() -> None:
    hits = [_hit(1, 0.7), _hit(2, 0.69, "conversation"), _hit(3, 0.6, "knowledge"), _hit(4, 0.5), _hit(5, 0.4)]
    assert [hit.rank for hit in select(hits, "some", GATE, ())] == [1, 3, 4]


def test_strong_hands_over_only_what_is_near_the_top() -> None:
    hits = [_hit(1, 0.7), _hit(2, 0.66), _hit(3, 0.64)]
    assert [hit.rank for hit in select(hits, "strong", GATE, ())] == [1, 2]


def test_none_hands_over_nothing() -> None:
    assert select([_hit(1, 0.7)], "none", GATE, ()) == []
    assert select([], "some", GATE, ()) == []


def test_the_best_note_of_the_current_project_near_the_top_goes_in_first() -> None:
    shared = [_hit(rank, 0.7, "knowledge", "") for rank in range(1, 4)]
    hits = [*shared, _hit(4, 0.66), _hit(5, 0.655)]
    assert [hit.rank for hit in select(hits, "some", GATE, {"/shop"})] == [4, 1, 2]
    assert [hit.rank for hit in select(hits, "strong", GATE, {"/shop"})] == [4, 1, 2]
    assert [hit.rank for hit in select(hits, "some", GATE, {"/other"})] == [1, 2, 3]


def test_a_note_of_the_current_project_far_from_the_top_gains_nothing() -> None:
    hits = [*(_hit(rank, 0.7, "knowledge", "") for rank in range(1, 4)), _hit(4, 0.6)]
    assert [hit.rank for hit in select(hits, "some", GATE, {"/shop"})] == [1, 2, 3]
