"""Groups: hits that stand for one another. Language versions of one record, records that others have replaced, copies.

These functions work on ranked hits before the gate judges them: a record that is there twice, or is never shown, must
not count among those that the best one has to stand out from. All return hits best first, with ranks from 1.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from recall.core.types import AnyRecord, Hit

Versions = Mapping[str, Sequence[AnyRecord]]

#: Texts that have so many of their words in common, of all that either has, are copies of one: a note and the rule that
#: was made of it. (Vectors do not tell a copy: with multilingual-e5-small translations lie no closer to each other than
#: many records on one subject, so that a translation is known by its file's name alone.)
ALIKE = 0.9


def versions_by_group(records: Iterable[AnyRecord]) -> Versions:
    """The records of each group, those in several languages and those in one; made once for a snapshot."""
    groups: dict[str, list[AnyRecord]] = {}
    for record in records:
        if record.group is not None:
            groups.setdefault(record.group, []).append(record)
    return groups


def prefer_language(hits: Iterable[Hit], language: str | None, versions: Versions) -> list[Hit]:
    """At most one hit of a group, in the place and with the score of its best: the version in the message's language.

    It need not be among the hits. A message finds records of its own language best, but its author wants to read that
    language also where the other version was found. Where no version is in it, the best hit itself stays.
    """
    seen: set[str] = set()
    kept: list[Hit] = []
    for hit in hits:
        group = hit.group or hit.path
        if hit.group is not None and group in seen:
            continue
        seen.add(group)
        wanted = (version for version in versions.get(group, ()) if version.language == language)
        version = None if hit.language == language else next(wanted, None)
        kept.append(_in_version(hit, version) if version else hit)
    return _ranked(kept)


def succeed(hits: Iterable[Hit], versions: Versions) -> list[Hit]:
    """No record before the one that replaced it, and none that is out of force with nothing in its place.

    Where both are there, the successor takes the better place of the two, and the record follows it: a message that
    finds a decision is to see first what holds today. `versions` tells the groups of successors.
    """
    standing = [hit for hit in hits if hit.successor != ""]
    groups = {hit.group for hit in standing if hit.group is not None}
    known = {version.path: group for group in groups for version in versions.get(group, ())}
    best: dict[str, float] = {}
    for hit in standing:
        if hit.successor_path is not None:
            successor = known.get(hit.successor_path, hit.successor_path)
            best[successor] = max(hit.score, best.get(successor, hit.score))
    lifted = (
        replace(hit, score=max(hit.score, best.get(hit.group or hit.path, hit.score))) if hit.successor is None else hit
        for hit in standing
    )
    return _ranked(sorted(lifted, key=lambda hit: (-hit.score, hit.successor is not None)))


def drop_copies(hits: Iterable[Hit], terms: Mapping[str, frozenset[int]], count: int) -> list[Hit]:
    """At most `count` hits, of near-copies the best alone; `terms` are the words of records by path."""
    kept: list[Hit] = []
    for hit in hits:
        if len(kept) == count:
            break
        own = terms.get(hit.path, frozenset())
        if not any(_are_alike(own, terms.get(other.path, frozenset())) for other in kept):
            kept.append(hit)
    return _ranked(kept)


def _are_alike(one: frozenset[int], other: frozenset[int]) -> bool:
    fewer, more = sorted((len(one), len(other)))
    return fewer > 0 and fewer >= ALIKE * more and len(one & other) >= ALIKE * len(one | other)


def _in_version(hit: Hit, version: AnyRecord) -> Hit:
    return replace(
        hit,
        path=version.path,
        name=version.name,
        description=version.description,
        date=version.date,
        language=version.language,
        successor=version.successor,
        successor_path=version.successor_path,
        origin=version.origin,
    )


def _ranked(hits: Iterable[Hit]) -> list[Hit]:
    return [replace(hit, rank=rank) for rank, hit in enumerate(hits, start=1)]
