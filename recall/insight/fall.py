"""Fall: at which step a record falls that a message does not bring. Pure functions over what the daemon answered.

The steps in their order: file, index, project, mute, version, session, message, rank, gate, place. The first that fails
is the cause; what would have stopped the record later is told as well.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from recall.insight.decisions import Ranked
from recall.insight.reasons import NOT_SEARCHED, in_words
from recall.search.select import MAX_NOTES

Name = Literal["file", "index", "project", "mute", "version", "session", "message", "rank", "gate", "place", "shown"]

#: So many of the records that stand before one are named.
MAX_BEFORE = 3


@dataclass(frozen=True, slots=True)
class Step:
    """One step; `ok` is None where an earlier one left nothing to look at."""

    name: Name
    ok: bool | None
    words: str


@dataclass(frozen=True, slots=True)
class Place:
    """Where the record stands before any message.

    `missing` says why the index does not hold it, "" where it does. `outside` names its project where that is another
    one than the asker's. `muted` says how, `instead` what is shown in its place and why, `held` whether the session was
    shown it; all "" or False where nothing of that is so.
    """

    path: str
    exists: bool
    missing: str = ""
    outside: str = ""
    muted: str = ""
    instead: str = ""
    held: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """What the daemon answers: all records ranked, best first, and what it would hand over.

    `reason` and `tier` are the gate's, `near` how far below the top a record may score in the strong tier. `shown` is
    what the session was shown before. `at_hand`: whether MEMORY.md, which the model has before it, names
    the record; `is_conversation`: what it is.
    """

    ranked: Sequence[Ranked]
    tier: str
    reason: str
    handed: Sequence[str]
    near: float = 0.0
    probability: float = 0.0
    shown: frozenset[str] = frozenset()
    at_hand: bool = False
    is_conversation: bool = False


def fall(place: Place, asked: Asked | None, names: Mapping[str, str]) -> list[Step]:
    """All steps of a record. `asked` is None where no message is known; `names` gives records' names by path."""
    steps = _before(place)
    if asked is not None and all(step.ok for step in steps if step.name in ("file", "index", "project")):
        steps += _asked(place, asked, names)
    return steps


def cause(steps: Sequence[Step]) -> Step | None:
    """The first step that fails; None where the record is shown, as far as can be told."""
    return next((step for step in steps if step.ok is False), None)


def _before(place: Place) -> list[Step]:
    """The steps that no message is needed for."""
    if place.missing or not place.exists:
        there = Step("file", place.exists, "the file is there" if place.exists else "there is no such file")
        return [there, Step("index", False, place.missing)] if place.exists else [there]
    return [
        Step("file", True, "the file is there"),
        Step("index", True, "the index holds it"),
        Step(
            "project",
            not place.outside,
            f"it belongs to {place.outside}, whose records are searched there alone (or by `recall query --repo`)"
            if place.outside
            else "it is in scope here",
        ),
        Step("mute", not place.muted, place.muted or "it is not muted"),
        Step("version", not place.instead, place.instead or "no other record stands in its place"),
        Step(
            "session",
            not place.held,
            "this session was shown it already, and its conversation still holds it"
            if place.held
            else "this session was not shown it",
        ),
    ]


def _asked(place: Place, asked: Asked, names: Mapping[str, str]) -> list[Step]:
    """The steps of a message."""
    if asked.reason in NOT_SEARCHED:
        return [Step("message", False, f"nothing is searched: {in_words(asked.reason)}")]
    searched = Step("message", True, "the message is searched")
    if place.path in asked.handed:
        return [searched, Step("shown", True, f"it is shown, as number {asked.handed.index(place.path) + 1}")]
    paths = [hit.path for hit in asked.ranked]
    if place.path not in paths:
        return [
            searched,
            Step("rank", None if place.instead else False, "it is not among the records that were ranked"),
        ]
    number = paths.index(place.path)
    before = [hit for hit in asked.ranked[:number] if hit.path not in asked.shown]
    hit, top = asked.ranked[number], asked.ranked[0]
    rank = Step("rank", len(before) < MAX_NOTES, _rank(number + 1, hit.score, before, names))
    gate = Step("gate", asked.tier != "none", f"{in_words(asked.reason)} (probability {asked.probability:.2f})")
    placed = [_place(asked, hit, top)] if rank.ok and gate.ok else []
    return [searched, rank, gate, *placed]


def _rank(rank: int, score: float, before: Sequence[Ranked], names: Mapping[str, str]) -> str:
    words = f"rank {rank}, score {score:.2f}"
    if not before:
        return words
    named = "; ".join(f"{names.get(hit.path) or hit.path} ({hit.score:.2f})" for hit in before[:MAX_BEFORE])
    more = f" and {len(before) - MAX_BEFORE} more" if len(before) > MAX_BEFORE else ""
    return f"{words}, behind {named}{more}; at most {MAX_NOTES} notes and rules are handed over"


def _place(asked: Asked, hit: Ranked, top: Ranked) -> Step:
    """Why a record among the best is not handed over although the gate is open."""
    if asked.is_conversation:
        if asked.tier != "strong":
            return Step("place", False, "conversations come along only when a note or rule is very likely wanted")
        return Step("place", False, "at most two conversations come along, those that stand out among conversations")
    below = top.score - hit.score
    counted = below + asked.near * asked.at_hand
    if asked.tier == "strong" and counted > asked.near:
        at_hand = f", of which {asked.near:.2f} because MEMORY.md names it" if asked.at_hand else ""
        return Step(
            "place",
            False,
            f"it stands {counted:.2f} below the top{at_hand}; when one record fits very well, only those within "
            f"{asked.near:.2f} go along",
        )
    if asked.at_hand:
        return Step("place", False, "MEMORY.md, which the model has before it, names it, so that others went first")
    return Step("place", False, "others took the lines or the bytes that may be handed over")
