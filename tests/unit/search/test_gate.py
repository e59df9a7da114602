"""The gap rule, with the published values of bge-m3."""

import pytest

from recall.core.types import Hit, Kind
from recall.embed.manifest import Gate
from recall.search.gate import judge

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
