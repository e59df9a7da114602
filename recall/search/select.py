"""Which records are handed over: the gate says how much, this says which. Pure functions."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from recall.core.types import Hit, Tier
from recall.embed.manifest import Gate
from recall.search.gate import CANDIDATES, judge

#: At most so many notes and rules, and so many conversations, are handed over.
MAX_NOTES = 3
MAX_CONVERSATIONS = 2


@dataclass(frozen=True, slots=True)
class Asker:
    """Who asks: the keys of the current project, and what the conversation holds already, by path.

    `shown` was handed over before and is held back; `at_hand` is before the model anyway (opened just now, or named in
    the loaded MEMORY.md) and counts less.
    """

    projects: Collection[str] = ()
    shown: Collection[str] = ()
    at_hand: Collection[str] = ()


def select_notes(hits: Sequence[Hit], tier: Tier, near: float, asker: Asker) -> list[Hit]:
    """The notes and rules to hand over, in the order of their headlines; `hits` are ranked, best first.

    `some` takes the three best, `strong` only those within `near` of the top. What is at hand counts as scoring `near`
    less. The best note of the current project goes in first where it scores that close to the top, even from a lower
    rank.
    """
    if tier == "none" or not hits:
        return []
    close = hits[0].score - near

    def score(hit: Hit) -> float:
        return hit.score - near * (hit.path in asker.at_hand or hit.successor_path in asker.at_hand)

    records = sorted((hit for hit in hits if hit.path not in asker.shown), key=score, reverse=True)
    if tier == "strong":
        records = [hit for hit in records if hit.score >= close]
    for hit in records:
        if hit.kind == "memory" and hit.project in asker.projects and score(hit) >= close:
            records.remove(hit)
            records.insert(0, hit)
            break
    return records[:MAX_NOTES]


def select_conversations(hits: Sequence[Hit], tier: Tier, near: float, gate: Gate, asker: Asker) -> list[Hit]:
    """The conversations to hand over; `hits` are ranked exchanges, best first.

    Only in the strong tier, and only when the best one stands out among conversations too, by the gap rule (no
    questions with a right conversation are at hand that another could be fitted on). A headline names a session,
    so a session comes once. (The asker's own session takes no part in the search.)
    """
    if tier != "strong":
        return []
    sessions: dict[str, Hit] = {}
    for hit in hits:
        sessions.setdefault(hit.session or hit.path, hit)
    cosines = sorted((hit.signs["cosine"] for hit in sessions.values()), reverse=True)
    if judge(cosines[:CANDIDATES], gate).tier == "none":
        return []
    close = max(hit.score for hit in sessions.values()) - near
    best = [hit for hit in sessions.values() if hit.path not in asker.shown]
    return [hit for hit in best if hit.score >= close][:MAX_CONVERSATIONS]
