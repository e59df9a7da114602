"""The calibrated gate: what raises the probability, which silence is called what, and how wrong lines lower it."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.embed.manifest import Calibration
from recall.search.gate import Signs, judge_calibrated, learned, length_of, probability

CALIBRATION = Calibration(bias=-6.0, cosine=1.0, score=0.5, length=1.5, some=0.5, strong=0.75, near=0.6)
LIKELY = Signs(cosine=2.0, score=1.0, length=length_of(13))
SIGNS = st.builds(Signs, cosine=st.floats(-5, 15), score=st.floats(-5, 15), length=st.integers(2, 40).map(length_of))


def test_no_record_gives_nothing() -> None:
    assert judge_calibrated(None, [], CALIBRATION).reason == "no records"


@pytest.mark.parametrize(
    ("signs", "tier", "reason"),
    [
        (Signs(5.0, 3.0, length_of(16)), "strong", "very likely"),
        (LIKELY, "some", "likely"),
        (Signs(2.0, 1.0, length_of(2)), "none", "too short to tell"),
        (Signs(-1.0, 1.0, length_of(16)), "none", "no closer than everyday messages"),
        (Signs(0.5, 0.0, length_of(16)), "none", "unlikely"),
    ],
)
def test_the_tier_and_its_reason_follow_from_the_signs(signs: Signs, tier: str, reason: str) -> None:
    verdict = judge_calibrated(signs, [0.8], CALIBRATION)
    assert (verdict.tier, verdict.reason) == (tier, reason)
    assert verdict.probability == probability(signs, CALIBRATION)


def test_signs_are_read_back_from_their_numbers_and_from_nothing_else() -> None:
    assert Signs.of(LIKELY.numbers()) == LIKELY
    assert Signs.of({"cosine": 1.0, "score": 1.0}) is None
    assert Signs.of({"cosine": math.inf, "score": 1.0, "length": 2.0}) is None


def test_without_a_wrong_line_nothing_is_learned() -> None:
    assert learned(CALIBRATION, ()) == CALIBRATION


def test_one_wrong_line_says_little_and_ten_make_it_unlikely() -> None:
    wrong = Signs(2.0, 1.0, length_of(16))
    assert probability(wrong, CALIBRATION) == pytest.approx(0.66, abs=0.01)
    assert probability(wrong, learned(CALIBRATION, (wrong,))) == pytest.approx(0.62, abs=0.01)
    assert probability(wrong, learned(CALIBRATION, (wrong,) * 10)) < 0.45


@given(st.lists(SIGNS, min_size=1, max_size=60))
def test_each_wrong_line_makes_recall_more_reticent_and_never_mute(wrong: list[Signs]) -> None:
    fewer, all_of_them = learned(CALIBRATION, tuple(wrong[:-1])), learned(CALIBRATION, tuple(wrong))
    assert all_of_them.bias <= fewer.bias + 1e-9
    assert all_of_them.bias >= CALIBRATION.bias - len(wrong) / 4
    assert (all_of_them.cosine, all_of_them.some) == (CALIBRATION.cosine, CALIBRATION.some)
