"""Measures of ranking, from the rank at which each question's right document stood."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Ranking:
    """Figures over some questions; shares run from 0 to 1. `mrr` is the mean reciprocal rank."""

    questions: int
    hit_at_1: float
    hit_at_3: float
    hit_at_5: float
    mrr: float


def rank_of(accepted: Collection[str], ranked: Iterable[str]) -> int | None:
    """The rank, from 1, of the first accepted document; None when none of them stands in the list."""
    return next((rank for rank, document in enumerate(ranked, start=1) if document in accepted), None)


def summarize(ranks: Sequence[int | None]) -> Ranking:
    """Figures over the ranks of some questions; a document that was not found counts as 0 everywhere."""
    found = [rank for rank in ranks if rank is not None]
    return Ranking(
        questions=len(ranks),
        hit_at_1=_within(ranks, 1),
        hit_at_3=_within(ranks, 3),
        hit_at_5=_within(ranks, 5),
        mrr=sum(1 / rank for rank in found) / len(ranks) if ranks else 0.0,
    )


def share(decisions: Iterable[bool]) -> float:
    """The share of true values; 0 where there are none."""
    values = list(decisions)
    return sum(values) / len(values) if values else 0.0


def _within(ranks: Sequence[int | None], limit: int) -> float:
    return share(rank is not None and rank <= limit for rank in ranks)
