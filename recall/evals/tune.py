"""Thresholds for the gate from a person's own questions, judged on questions that they were not found on. Pure.

Two rules, as the setting `gate` has them, each with what it decides by:

calibrated   `some` and `strong`, probabilities from which a little and from which much is handed over
gap          `floor` of the top cosine, `weak` and `strong` bounds of the gap
"""

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from recall.core.errors import UsageError
from recall.evals.answered import Answered
from recall.search.gate import Rule

#: At most these shares of unrelated messages and of near misses may get anything, where the questions allow it.
PLAIN, HARD = 0.10, 0.25
#: One in fifty unrelated messages, near misses included, may reach what hands over much.
STRONG = 0.02
FOLDS = 5
#: With fewer of either, a threshold is chance.
LEAST = 10
#: Values of each sign that are tried for the gap rule, spread over those that occur.
_STEPS = 60

Values = Mapping[str, float]
Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Case:
    """One message as the gate sees it. `found`: its note is in the first three, so that speaking hands it over."""

    probability: float
    top: float
    gap: float
    question: bool = False
    found: bool = False
    hard: bool = False


@dataclass(frozen=True, slots=True)
class Effect:
    """What thresholds do to some messages; shares run from 0 to 1.

    `of_found`: questions that get their note, of those with it in the first three; `handed`: of all questions. `plain`,
    `hard`: unrelated messages and near misses that get anything. `much`: all of both that get much.
    """

    of_found: float
    handed: float
    plain: float
    hard: float
    much: float


@dataclass(frozen=True, slots=True)
class Proposal:
    """Thresholds and what they do. `now` and `fitted` are measured on all messages, `fitted` on those that the proposal
    was found on, so that it flatters; `judged` is the honest one: each message under thresholds found without it."""

    rule: Rule
    before: Values
    after: Values
    now: Effect
    fitted: Effect
    judged: Effect
    cases: Sequence[Case]

    @property
    def is_better(self) -> bool:
        """Whether the proposal does better on messages that it was not found on: it keeps to the allowed shares where
        today's values do not, or hands over more within them."""
        allowed, allowed_now = _is_allowed(self.judged), _is_allowed(self.now)
        if allowed != allowed_now:
            return allowed
        return self.judged.of_found > self.now.of_found if allowed else _false(self.judged) < _false(self.now)


def case_of(answered: Answered) -> Case:
    """A message's case, from what it got."""
    return Case(
        probability=answered.probability,
        top=answered.top,
        gap=answered.gap,
        question=not answered.unrelated,
        found=answered.found,
        hard=answered.question.hard,
    )


def propose(cases: Sequence[Case], rule: Rule, before: Values, *, seed: int = 0) -> Proposal:
    """Thresholds found on all cases and judged by k-fold: each fold under those found on the others.

    The folds hold questions, unrelated messages and near misses in equal shares. Raises UsageError where there are too
    few of them to tell anything.
    """
    questions, unrelated = sum(case.question for case in cases), sum(not case.question for case in cases)
    if min(questions, unrelated) < LEAST:
        raise UsageError(
            f"expected at least {LEAST} questions and {LEAST} unrelated messages to find thresholds on, found "
            f"{questions} and {unrelated}; `recall eval make` tells how to come by more"
        )
    after = _fit(cases, rule)
    tiers: list[tuple[Case, int]] = []
    for held_out in folds(cases, FOLDS, seed):
        inside = set(held_out)
        values = _fit([case for place, case in enumerate(cases) if place not in inside], rule)
        tiers += [(cases[place], tier(cases[place], rule, values)) for place in held_out]
    return Proposal(
        rule=rule,
        before=before,
        after=after,
        now=effect(cases, rule, before),
        fitted=effect(cases, rule, after),
        judged=_effect(tiers),
        cases=cases,
    )


def folds(cases: Sequence[Case], number: int, seed: int) -> list[list[int]]:
    """The places of the cases in `number` parts, each kind of message spread evenly over them, by a seeded shuffle."""
    chance = random.Random(seed)  # noqa: S311  (a split that can be repeated, no secret)
    ordered: list[int] = []
    for kind in sorted({_kind(case) for case in cases}):
        places = [place for place, case in enumerate(cases) if _kind(case) == kind]
        chance.shuffle(places)
        ordered += places
    return [ordered[start::number] for start in range(number)]


def tier(case: Case, rule: Rule, values: Values) -> int:
    """How much a message gets under thresholds: 0 nothing, 1 a little, 2 much."""
    if rule == "calibrated":
        return (case.probability >= values["some"]) + (case.probability >= max(values["some"], values["strong"]))
    if case.top < values["floor"] or case.gap < values["weak"]:
        return 0
    return 1 + (case.gap >= values["strong"])


def effect(cases: Sequence[Case], rule: Rule, values: Values) -> Effect:
    """What thresholds do to these messages."""
    return _effect([(case, tier(case, rule, values)) for case in cases])


def _fit(cases: Sequence[Case], rule: Rule) -> dict[str, float]:
    return _fit_probability(cases) if rule == "calibrated" else _fit_gap(cases)


def _fit_probability(cases: Sequence[Case]) -> dict[str, float]:
    """The lowest `some` that the allowed shares permit, and the lowest `strong`."""
    values = sorted({case.probability for case in cases} | {0.0, 1.0})

    def lowest(among: Callable[[Case], bool], share: float) -> float:
        return _between(sorted(case.probability for case in cases if among(case)), share, values)

    some = max(
        lowest(lambda case: not case.question and not case.hard, PLAIN),
        lowest(lambda case: not case.question and case.hard, HARD),
    )
    strong = max(some, lowest(lambda case: not case.question, STRONG))
    return {"some": _rounded(some), "strong": _rounded(strong)}


def _between(unwanted: Sequence[float], share: float, values: Sequence[float]) -> float:
    """The threshold half way between the highest of the unwanted that must stay below and the next value that occurs:
    just above the one would fit these messages and no others."""
    allowed = int(share * len(unwanted))
    if allowed >= len(unwanted):
        return values[0]
    highest = unwanted[len(unwanted) - 1 - allowed]
    next_up = next((value for value in values if value > highest), 1.0)
    middle = (highest + next_up) / 2
    return middle if middle > highest else next_up  # of two neighbours the middle is one of them


def _fit_gap(cases: Sequence[Case]) -> dict[str, float]:
    """The floor and weakest gap that hand over most within the allowed shares, among equals those that speak least."""
    top, gap = _array(cases, lambda case: case.top), _array(cases, lambda case: case.gap)
    question = _array(cases, lambda case: case.question) > 0
    found, hard = _array(cases, lambda case: case.found) > 0, _array(cases, lambda case: case.hard) > 0
    best = (-1.0, 0.0, _rounded(top.max() + 0.001), _rounded(gap.max() + 0.001))
    for floor in _steps(top):
        for weak in _steps(gap):
            speaks = (top >= floor) & (gap >= weak)
            plain, near = _share(speaks, ~question & ~hard), _share(speaks, ~question & hard)
            if plain <= PLAIN and near <= HARD:
                best = max(best, (_share(speaks, found), -plain - near, floor, weak))
    _, _, floor, weak = best
    strong = max(float(np.quantile(gap[~question], 1 - STRONG)), weak)
    return {"floor": floor, "weak": weak, "strong": _rounded(strong)}


def _steps(values: Numbers) -> list[float]:
    """Values to try for a threshold, rounded: between those that occur, from all pass to none does."""
    inside = np.unique(values)
    between = (inside[1:] + inside[:-1]) / 2 if len(inside) > 1 else inside[:0]
    if len(between) > _STEPS:
        between = np.quantile(between, np.linspace(0, 1, _STEPS))
    return sorted({_rounded(value) for value in [inside[0] - 0.001, *between, inside[-1] + 0.001]})


def _effect(tiers: Sequence[tuple[Case, int]]) -> Effect:
    def share(among: Callable[[Case], bool], least: int = 1) -> float:
        got = [got >= least for case, got in tiers if among(case)]
        return sum(got) / len(got) if got else 0.0

    questions = sum(case.question for case, _ in tiers)
    return Effect(
        of_found=share(lambda case: case.found),
        handed=sum(case.found and got >= 1 for case, got in tiers) / questions if questions else 0.0,
        plain=share(lambda case: not case.question and not case.hard),
        hard=share(lambda case: not case.question and case.hard),
        much=share(lambda case: not case.question, 2),
    )


def _kind(case: Case) -> tuple[bool, bool, bool]:
    return case.question, case.found, case.hard


def _is_allowed(effect: Effect) -> bool:
    return effect.plain <= PLAIN and effect.hard <= HARD


def _false(effect: Effect) -> float:
    return max(effect.plain - PLAIN, 0.0) + max(effect.hard - HARD, 0.0)


def _array(cases: Sequence[Case], value: Callable[[Case], float]) -> Numbers:
    return np.array([value(case) for case in cases], np.float64)


def _share(marked: npt.NDArray[np.bool_], among: npt.NDArray[np.bool_]) -> float:
    return float(np.mean(marked[among])) if among.any() else 0.0


def _rounded(value: float) -> float:
    """Four decimals, upwards: a threshold that is rounded down would let in what it was to keep out."""
    return math.ceil(float(value) * 10_000) / 10_000
