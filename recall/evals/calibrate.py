"""Finding gate values for a model from measured messages: how often it would speak, and how often rightly.

The four values are found one after the other:

floor, weak   the pair, over the values that occur, at which most questions get a relevant note while at most a given
              share of the plain unrelated messages gets anything; among equals the one that speaks less.
strong        the gap that one in fifty unrelated messages reaches, near misses included, so that the large budget is
              for what chance hardly brings.
near          how far below the top the relevant note stands, at most, in 19 of 20 questions that have it in the top
              three.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from recall.embed.manifest import Gate
from recall.evals.measure import Outcome
from recall.search.select import MAX_NOTES

#: So many values of each sign are tried, evenly spaced over those that occur.
_STEPS = 100
_STRONG_QUANTILE = 0.98
_NEAR_QUANTILE = 0.95

Bools = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Cases:
    """Messages as arrays of one length: the signs that the gate sees, and what each message deserves.

    `found` marks questions with a relevant note in the top three, and `behind` says how far that note scored below
    the top. `question`, `plain` and `hard` part the messages.
    """

    top: Numbers
    gap: Numbers
    behind: Numbers
    found: Bools
    question: Bools
    plain: Bools
    hard: Bools


@dataclass(frozen=True, slots=True)
class Point:
    """One choice of floor and weak, and what it does; shares run from 0 to 1.

    `handed` is the share of questions that get a relevant note, `of_found` the same among those that have it in the
    top three; `plain` and `hard` are the shares of unrelated messages that get anything.
    """

    floor: float
    weak: float
    handed: float
    of_found: float
    plain: float
    hard: float


def cases_of(outcomes: Sequence[Outcome]) -> Cases:
    """The signs of measured messages. Those too short to be searched count as messages with no score at all."""
    unrelated = np.array([outcome.unrelated for outcome in outcomes], np.bool_)
    hard = np.array([outcome.question.hard for outcome in outcomes], np.bool_)
    found = [outcome.rank if outcome.rank is not None and outcome.rank <= MAX_NOTES else 0 for outcome in outcomes]
    return Cases(
        top=np.array([outcome.result.top if outcome.searched else -1.0 for outcome in outcomes]),
        gap=np.array([outcome.result.gap if outcome.searched else 0.0 for outcome in outcomes]),
        behind=np.array(
            [
                outcome.result.top - outcome.result.hits[rank - 1].score if rank else 0.0
                for outcome, rank in zip(outcomes, found, strict=True)
            ]
        ),
        found=np.array(found) > 0,
        question=~unrelated,
        plain=unrelated & ~hard,
        hard=unrelated & hard,
    )


def measure_point(cases: Cases, floor: float, weak: float) -> Point:
    """What a floor and a weakest gap do to these messages, budgets and `near` left out of account."""
    speaks = (cases.top >= floor) & (cases.gap >= weak)
    return Point(
        floor,
        weak,
        handed=_share(speaks & cases.found, cases.question),
        of_found=_share(speaks, cases.found),
        plain=_share(speaks, cases.plain),
        hard=_share(speaks, cases.hard),
    )


def best_point(cases: Cases, false_speech: float) -> Point:
    """The floor and weakest gap that hand over most while speaking on at most so many plain unrelated messages."""
    points = (
        measure_point(cases, floor, weak)
        for floor in _thresholds(cases.top[cases.top > -1])
        for weak in _thresholds(cases.gap)
    )
    return max(
        (point for point in points if point.plain <= false_speech),
        key=lambda point: (point.handed, -point.plain - point.hard),
    )


def propose(cases: Cases, false_speech: float) -> Gate:
    """Gate values for the model of these messages, as the module's docstring describes them."""
    point = best_point(cases, false_speech)
    strong = np.quantile(cases.gap[~cases.question], _STRONG_QUANTILE)
    near = np.quantile(cases.behind[cases.found], _NEAR_QUANTILE)
    return Gate(floor=point.floor, weak=point.weak, strong=max(_rounded(strong), point.weak), near=_rounded(near))


def separation(signs: Numbers, positive: Bools, negative: Bools) -> float:
    """The area under the curve: how often a positive's sign exceeds a negative's, ties counted half; 0.5 is chance."""
    differences = signs[positive][:, None] - signs[negative][None, :]
    return float(np.mean((differences > 0) + 0.5 * (differences == 0))) if differences.size else 0.5


def _thresholds(signs: Numbers) -> list[float]:
    """Values to try for a threshold, three decimals as manifests hold them: from all pass to none does."""
    quantiles = np.quantile(signs, np.linspace(0, 1, _STEPS))
    return sorted({*map(_rounded, quantiles), math.floor(signs.min() * 1000) / 1000, _rounded(signs.max() + 0.001)})


def _rounded(value: float | np.floating) -> float:
    return round(float(value), 3)


def _share(marked: Bools, among: Bools) -> float:
    return float(np.mean(marked[among])) if among.any() else 0.0
