"""Measures of ranking."""

import pytest

from recall.evals.metrics import rank_of, share, summarize


def test_the_first_accepted_document_gives_the_rank() -> None:
    assert rank_of({"b", "c"}, ["a", "c", "b"]) == 2
    assert rank_of({"z"}, ["a", "b"]) is None


def test_figures_count_what_was_not_found_as_zero() -> None:
    ranking = summarize([1, 3, 5, 20, None])
    assert ranking.questions == 5
    assert ranking.hit_at_1 == pytest.approx(0.2)
    assert ranking.hit_at_3 == pytest.approx(0.4)
    assert ranking.hit_at_5 == pytest.approx(0.6)
    assert ranking.mrr == pytest.approx((1 + 1 / 3 + 1 / 5 + 1 / 20) / 5)


def test_no_questions_give_zeros() -> None:
    ranking = summarize([])
    assert (ranking.questions, ranking.hit_at_1, ranking.mrr) == (0, 0.0, 0.0)
    assert share([]) == 0.0
