"""Which decision records are accepted. Their files say so; the index knows only which are out of force."""

import os
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import PurePath

from recall.core.errors import SourceError
from recall.core.types import AnyRecord
from recall.sources.decisions import parse_decision
from recall.sources.knowledge import MAX_PARSED_CHARACTERS
from recall.sources.notes import read_note
from recall.sources.status import Status
from recall.sources.succession import short_name

#: Records of these are in force and were decided. One that was superseded in part is, for the rest.
ACCEPTED: frozenset[Status | None] = frozenset({"accepted", "partially superseded"})
#: Reading ends where so much of the time is left (seconds): the answer has to reach the client.
_RESERVE_SECONDS = 0.06


class Statuses:
    """Reads the statuses of records, each file anew only when it changed. For one thread."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[tuple[int, int], Status | None]] = {}

    def read(self, paths: Iterable[str], left: Callable[[], float]) -> dict[str, Status | None]:
        """What the records at these paths say, in their order, as many as can be read while `left` (seconds) lasts.

        None stands for a record that says nothing and for one that cannot be read any more. A millisecond for a file
        that was not read before; it is then known the next time.
        """
        found: dict[str, Status | None] = {}
        for path in paths:
            if left() < _RESERVE_SECONDS:
                break
            found[path] = self._status(path)
        return found

    def _status(self, path: str) -> Status | None:
        try:
            state = os.stat(path)  # noqa: PTH116
        except (OSError, ValueError):
            self._known.pop(path, None)
            return None
        seen = (state.st_mtime_ns, state.st_size)
        known = self._known.get(path)
        if known is None or known[0] != seen:
            known = self._known[path] = (seen, _read(path))
        return known[1]


def candidates(records: Iterable[AnyRecord], projects: Collection[str]) -> list[list[AnyRecord]]:
    """The records of these projects that may be accepted decisions, the language versions of one together, newest
    first: by number, then by date. None that is out of force."""
    groups: dict[str, list[AnyRecord]] = {}
    for record in records:
        if record.kind == "knowledge" and record.project in projects:
            groups.setdefault(record.group or record.path, []).append(record)
    standing = [versions for versions in groups.values() if all(version.successor is None for version in versions)]
    return sorted(standing, key=lambda versions: max(map(_age, versions)), reverse=True)


def accepted(
    groups: Iterable[Collection[AnyRecord]], statuses: Mapping[str, Status | None], language: str
) -> list[AnyRecord]:
    """Of each group that is accepted (a translation may be behind) the version in this language, else the one that says
    so; in the order of the groups."""
    chosen: list[AnyRecord] = []
    for versions in groups:
        saying = [version for version in versions if statuses.get(version.path) in ACCEPTED]
        if saying:
            chosen.append(next((version for version in versions if version.language == language), saying[0]))
    return chosen


def _age(record: AnyRecord) -> tuple[int, str, str]:
    number = short_name(record.name)
    return int(number) if number.isdecimal() else -1, record.date or "", record.path


def _read(path: str) -> Status | None:
    try:
        note = read_note(path)
    except SourceError:
        return None
    return parse_decision(note.fields, note.name, note.body[:MAX_PARSED_CHARACTERS], PurePath(path).stem).status
