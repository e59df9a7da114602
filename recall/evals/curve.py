"""The gate's whole curve: for each share of everyday messages that may get something, what else a threshold does."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from recall.evals.measure import Outcome
from recall.search.select import MAX_NOTES

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Choice:
    """A threshold of the probability (None: of each corpus its own) and what it does; shares run from 0 to 1.

    `of_found`: the questions that get their note, of those that have it in the top three. `plain`, `hard`: the
    unrelated messages and near misses that get anything.
    """

    threshold: float | None
    of_found: float
    plain: float
    hard: float


def measure(outcomes: Sequence[Outcome], threshold: float) -> Choice:
    """What a threshold does on some messages."""
    return Choice(threshold, *(_mean([part >= threshold]) for part in _parts(outcomes)))


def measure_all(judged: Sequence[tuple[Sequence[Outcome], float]]) -> Choice:
    """What thresholds do together, each on messages of its own."""
    parts = [[part >= threshold for part in _parts(outcomes)] for outcomes, threshold in judged]
    return Choice(None, *(_mean(part) for part in zip(*parts, strict=True)))


def choose(outcomes: Sequence[Outcome], plain: float, hard: float = 1.0) -> float:
    """The lowest threshold at which at most these shares of unrelated messages and near misses get anything."""
    _, easy, near = _parts(outcomes)
    return max(_lowest(easy, plain), _lowest(near, hard))


def _mean(parts: Sequence[npt.NDArray[np.bool_]]) -> float:
    joined = np.concatenate(parts)
    return float(joined.mean()) if len(joined) else 0.0


def _lowest(values: Numbers, share: float) -> float:
    """The lowest threshold that at most `share` of the values reach: just above the first that must not."""
    ordered = np.sort(values)[::-1]
    allowed = int(share * len(ordered))
    return float(np.nextafter(ordered[allowed], 2.0)) if allowed < len(ordered) else 0.0


def _parts(outcomes: Sequence[Outcome]) -> tuple[Numbers, Numbers, Numbers]:
    """Probabilities of found questions, unrelated messages, near misses. What the hook does not search has none."""

    def values(of: list[Outcome]) -> Numbers:
        return np.array([outcome.result.probability if outcome.searched else 0.0 for outcome in of])

    questions = [outcome for outcome in outcomes if not outcome.unrelated]
    return (
        values([outcome for outcome in questions if outcome.rank is not None and outcome.rank <= MAX_NOTES]),
        values([outcome for outcome in outcomes if outcome.unrelated and not outcome.question.hard]),
        values([outcome for outcome in outcomes if outcome.unrelated and outcome.question.hard]),
    )
