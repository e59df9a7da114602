"""How much to hand over: the gap rule, which is silent unless a record stands out among the others.

Pure decisions over scores. The thresholds belong to a model (its manifest), for cosines of different models lie on
different scales.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from recall.core.types import Tier
from recall.embed.manifest import Gate

#: The gap is measured against ranks 2 to 11.
CANDIDATES = 11

Reason = Literal["no records", "below the floor", "no record stands out", "only record", "stands out", "strong"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the gate decided and on which numbers; `gap` and `top` are cosines, 0 where there was nothing to measure."""

    tier: Tier
    gap: float
    top: float
    reason: Reason


def judge(scores: Sequence[float], gate: Gate) -> Verdict:
    """Decide by the best scores of notes and rules in scope (conversations are no candidates), highest first.

    The gap is the top score less the mean of ranks 2 to 11, or of as many as there are. A single record has nothing
    to stand out from: its gap is 0 and the floor alone decides.
    """
    if not scores:
        return Verdict("none", 0.0, 0.0, "no records")
    best, others = float(scores[0]), scores[1:CANDIDATES]
    gap = best - float(sum(others)) / len(others) if others else 0.0
    if best < gate.floor:
        return Verdict("none", gap, best, "below the floor")
    if not others:
        return Verdict("some", gap, best, "only record")
    if gap < gate.weak:
        return Verdict("none", gap, best, "no record stands out")
    if gap < gate.strong:
        return Verdict("some", gap, best, "stands out")
    return Verdict("strong", gap, best, "strong")
