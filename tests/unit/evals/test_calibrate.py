"""Finding gate values."""

import numpy as np
import pytest

from recall.evals.calibrate import Cases, best_point, measure_point, propose, separation


def _cases(
    found: list[tuple[float, float]],
    missed: list[tuple[float, float]],
    plain: list[tuple[float, float]],
    hard: list[tuple[float, float]],
) -> Cases:
    """Messages by what they deserve, each as (top, gap)."""
    groups = [found, missed, plain, hard]
    signs = np.array([sign for group in groups for sign in group])
    kind = np.repeat(np.arange(4), [len(group) for group in groups])
    return Cases(
        top=signs[:, 0],
        gap=signs[:, 1],
        behind=np.zeros(len(signs)),
        found=kind == 0,
        question=kind <= 1,
        plain=kind == 2,
        hard=kind == 3,
    )


CASES = _cases(
    found=[(0.9, 0.10), (0.8, 0.02), (0.6, 0.10)],
    missed=[(0.7, 0.03)],
    plain=[(0.5, 0.10), (0.55, 0.09), (0.8, 0.01), (0.7, 0.01)],
    hard=[(0.85, 0.02), (0.4, 0.01)],
)


def test_a_point_counts_who_passes_both_thresholds() -> None:
    point = measure_point(CASES, floor=0.6, weak=0.02)
    assert point.handed == pytest.approx(3 / 4)
    assert point.of_found == 1
    assert point.plain == 0
    assert point.hard == pytest.approx(1 / 2)


def test_the_best_point_hands_over_most_within_the_allowed_false_speech() -> None:
    silent = best_point(CASES, 0.0)
    assert silent.plain == 0
    assert silent.handed == pytest.approx(3 / 4)
    assert 0.55 < silent.floor <= 0.6
    assert 0.01 < silent.weak <= 0.02


def test_among_equal_points_the_quieter_one_is_chosen() -> None:
    cases = _cases(found=[(0.9, 0.1)], missed=[], plain=[(0.5, 0.05)] * 10, hard=[(0.6, 0.06)] * 10)
    point = best_point(cases, 1.0)
    assert (point.handed, point.plain, point.hard) == (1, 0, 0)


def test_with_no_message_to_keep_apart_there_is_still_a_proposal() -> None:
    gate = propose(_cases(found=[(0.9, 0.1)], missed=[], plain=[(0.95, 0.2)], hard=[]), 0.0)
    assert gate.floor > 0.95 or gate.weak > 0.2
    assert gate.strong >= gate.weak


def test_separation_is_the_share_of_pairs_in_the_right_order() -> None:
    signs = np.array([3.0, 1.0, 2.0, 1.0])
    positive = np.array([True, True, False, False])
    assert separation(signs, positive, ~positive) == pytest.approx((1 + 1 + 0 + 0.5) / 4)
    assert separation(signs, positive, np.zeros(4, np.bool_)) == 0.5
