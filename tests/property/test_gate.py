"""The gate for any scores and thresholds."""

from hypothesis import given
from hypothesis import strategies as st

from recall.core.types import Hit, Kind, Tier
from recall.embed.manifest import Calibration, Gate
from recall.search.gate import Signs, judge, judge_calibrated, probability
from recall.search.select import MAX_NOTES, Asker, select_notes

_scores = st.lists(st.floats(-1, 1, width=32), max_size=40).map(lambda scores: sorted(scores, reverse=True))
_small = st.floats(0, 1, width=32)
_gates = st.tuples(_small, _small, _small, _small).map(
    lambda v: Gate(floor=v[0], weak=min(v[1], v[2]), strong=max(v[1], v[2]), near=v[3])
)
_kinds: list[Kind] = ["memory", "knowledge"]
_records = st.lists(st.tuples(st.floats(-1, 1, width=32), st.sampled_from(_kinds), st.sampled_from("ab")), max_size=30)


@given(_scores, _gates)
def test_below_the_floor_nothing_is_ever_handed_over(scores: list[float], gate: Gate) -> None:
    verdict = judge(scores, gate)
    if not scores or scores[0] < gate.floor:
        assert verdict.tier == "none"
    assert (verdict.tier == "none") == (verdict.reason in {"no records", "below the floor", "no record stands out"})
    assert verdict.gap >= -1e-12


@given(_scores, _gates, st.floats(0, 1))
def test_a_better_top_record_never_lowers_the_tier(scores: list[float], gate: Gate, rise: float) -> None:
    if scores:
        order = ["none", "some", "strong"]
        raised = judge([scores[0] + rise, *scores[1:]], gate)
        assert order.index(raised.tier) >= order.index(judge(scores, gate).tier)


@given(_records, _gates)
def test_the_choice_holds_at_most_three_different_notes_and_rules(
    records: list[tuple[float, Kind, str]], gate: Gate
) -> None:
    ordered = sorted(records, key=lambda record: -record[0])
    hits = [Hit(rank, score, kind, "n", "", f"/{rank}", project) for rank, (score, kind, project) in enumerate(ordered)]
    tiers: tuple[Tier, ...] = ("some", "strong")
    for tier in tiers:
        chosen = select_notes(hits, tier, gate.near, Asker(projects={"a"}))
        assert len(chosen) == len(set(chosen)) <= MAX_NOTES
        assert bool(chosen) == bool(hits)
        if hits:
            assert hits[0] in chosen


_numbers = st.floats(-1e6, 1e6)


@given(_numbers, _numbers, _numbers, st.floats(0, 1e3))
def test_the_probability_is_one_and_rises_with_each_sign(
    cosine: float, score: float, length: float, rise: float
) -> None:
    calibration = Calibration()
    before = probability(Signs(cosine, score, length), calibration)
    assert 0 <= before <= 1
    for signs in (Signs(cosine + rise, score, length), Signs(cosine, score + rise, length)):
        assert probability(signs, calibration) >= before
    tier = judge_calibrated(Signs(cosine, score, length), [0.5], calibration).tier
    assert (tier == "none") == (before < calibration.some)
    assert (tier == "strong") == (before >= calibration.strong)
