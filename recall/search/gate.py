"""How much to hand over: silence unless a record is likely to be wanted.

Two rules, by the setting `gate`. Both are pure decisions over scores, and their values belong to a model (its
manifest).

gap          the top cosine must reach a floor and stand out from ranks 2 to 11
calibrated   a probability from several signs, fitted on notes, questions and messages that no note answers
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import lru_cache
from typing import Literal

from recall.core.types import Tier
from recall.embed.manifest import Calibration, Gate

#: The gap is measured against ranks 2 to 11.
CANDIDATES = 11
#: Tokens of a message beyond which a longer one says no more of what is meant, and the fewest that are told apart.
_LONG, _SHORT = 16, 2
#: So close, in deviations, a message is itself an everyday one.
_EVERYDAY = 1.0
#: How far, on the scale of log odds, a person's taste is expected to differ from the collections that the bias is from.
_BIAS_DEVIATION = 0.5

Rule = Literal["calibrated", "gap"]
Reason = Literal[
    "no records",
    "below the floor",
    "no record stands out",
    "only record",
    "stands out",
    "strong",
    "unlikely",
    "an everyday message",
    "too short to tell",
    "no closer than everyday messages",
    "likely",
    "very likely",
]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the gate decided and on which numbers; `gap` and `top` are cosines, 0 where there was nothing to measure.

    `probability` that the best record is wanted is 0 or 1 by the gap rule, which knows no other.
    """

    tier: Tier
    gap: float
    top: float
    reason: Reason
    probability: float = 0.0


@dataclass(frozen=True, slots=True)
class Signs:
    """What the calibrated gate sees.

    cosine   the best cosine, in deviations from the best ones that everyday messages reach on the records in scope
    score    the top score, in deviations of everyday messages on one record
    length   natural logarithm of the message's tokens, from 2 to 16: a short one says little of what is meant, and by
             chance is close to something
    everyday how close the message is to an everyday one, in deviations; 0 where it is no closer than these are to one
             another
    words    how much of the message's words the best record holds, by their weight, squared: 0 to 1
    """

    cosine: float
    score: float
    length: float
    everyday: float = 0.0
    words: float = 0.0

    def numbers(self) -> dict[str, float]:
        """Each by its name."""
        return asdict(self)

    @classmethod
    def of(cls, numbers: Mapping[str, float]) -> "Signs | None":
        """The signs from numbers by their names; None where one is missing that has no usual value, or no number."""
        known = {field.name: numbers[field.name] for field in fields(cls) if field.name in numbers}
        if not {"cosine", "score", "length"} <= known.keys() or not all(map(math.isfinite, known.values())):
            return None
        return cls(**known)


def length_of(tokens: int) -> float:
    """The sign `length` of a message."""
    return math.log(min(max(tokens, _SHORT), _LONG))


def gap_of(scores: Sequence[float]) -> float:
    """The first score less the mean of ranks 2 to 11, or of as many as there are; 0 without others."""
    others = scores[1:CANDIDATES]
    return float(scores[0]) - float(sum(others)) / len(others) if others else 0.0


def judge(scores: Sequence[float], gate: Gate) -> Verdict:
    """The gap rule, by the best cosines of notes and rules in scope (conversations are no candidates), highest first.

    The gap is the top score less the mean of ranks 2 to 11, or of as many as there are. A single record has nothing
    to stand out from: its gap is 0 and the floor alone decides.
    """
    if not scores:
        return Verdict("none", 0.0, 0.0, "no records")
    best, gap = float(scores[0]), gap_of(scores)
    if best < gate.floor:
        return Verdict("none", gap, best, "below the floor")
    if len(scores) == 1:
        return Verdict("some", gap, best, "only record", 1.0)
    if gap < gate.weak:
        return Verdict("none", gap, best, "no record stands out")
    if gap < gate.strong:
        return Verdict("some", gap, best, "stands out", 1.0)
    return Verdict("strong", gap, best, "strong", 1.0)


def probability(signs: Signs, calibration: Calibration) -> float:
    """How likely the best record is wanted, from 0 to 1."""
    return _logistic(_total(signs, calibration))


@lru_cache(maxsize=4)
def learned(calibration: Calibration, wrong: tuple[Signs, ...]) -> Calibration:
    """The calibration after a person called lines wrong: the bias that makes these unlikely, as far as the prior lets.

    The bias most likely by these lines as negatives and a normal prior around the model's own, of deviation
    `_BIAS_DEVIATION`. One line at probability 0.6 takes 0.14 from the bias; ten of them 0.93, and it falls to 0.37.
    """
    totals = [_total(signs, calibration) for signs in wrong]
    low, high = -len(totals) * _BIAS_DEVIATION**2, 0.0
    for _ in range(40):  # the derivative rises with the shift: halving finds its zero
        shift = (low + high) / 2
        if sum(_logistic(total + shift) for total in totals) + shift / _BIAS_DEVIATION**2 > 0:
            high = shift
        else:
            low = shift
    return replace(calibration, bias=calibration.bias + high) if totals else calibration


def _total(signs: Signs, calibration: Calibration) -> float:
    return (
        calibration.bias
        + calibration.cosine * signs.cosine
        + calibration.score * signs.score
        + calibration.length * signs.length
        + calibration.everyday * signs.everyday
        + calibration.words * signs.words
    )


def _logistic(total: float) -> float:
    return 1 / (1 + math.exp(-min(max(total, -60.0), 60.0)))


def judge_calibrated(signs: Signs | None, cosines: Sequence[float], calibration: Calibration) -> Verdict:
    """The calibrated rule; `signs` None where there is no record. `cosines` of the candidates decide nothing."""
    if signs is None or not cosines:
        return Verdict("none", 0.0, 0.0, "no records")
    found = probability(signs, calibration)
    tier: Tier = "none" if found < calibration.some else "some" if found < calibration.strong else "strong"
    reason: Reason = "likely" if tier == "some" else "very likely"
    if tier == "none":
        reason = "unlikely"
        if signs.everyday > _EVERYDAY:
            reason = "an everyday message"
        elif calibration.length * (math.log(_LONG) - signs.length) > 2:
            reason = "too short to tell"
        elif signs.cosine < 0:
            reason = "no closer than everyday messages"
    ordered = sorted(cosines, reverse=True)
    return Verdict(tier, gap_of(ordered), ordered[0], reason, found)
