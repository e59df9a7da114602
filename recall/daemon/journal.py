"""injections.jsonl: what was handed over and why nothing was. Never the message, and no text of a record."""

import json
import os
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from recall.core.log import trim
from recall.core.types import Hit

MAX_BYTES = 5_000_000
DAY_SECONDS = 86_400

_PLAIN = re.compile(r"[A-Za-z0-9._-]{1,64}\Z")


@dataclass(frozen=True, slots=True)
class Entry:
    """One message's outcome. `reason` is a fixed word; `items` are the records handed over; `size` in bytes."""

    session: str | None
    tier: str
    reason: str
    gap: float = 0.0
    top: float = 0.0
    items: Sequence[Hit] = ()
    size: int = 0
    ms: float = 0.0
    emptied: bool = False  # the conversation was cleared or compacted since the session's last message


class Journal:
    """Appends entries to one file, 0600. A failure to write (a full disk) never reaches the answer."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def shown(self) -> Iterator[tuple[str, bool, list[str]]]:
        """What was handed over, in order of time: (session, whether its conversation was emptied before, paths)."""
        for line in _lines(self._path):
            fields = _object(line)
            session, items = fields.get("session"), fields.get("items")
            if isinstance(session, str) and isinstance(items, list):
                yield (
                    session,
                    fields.get("emptied") is True,
                    [str(item.get("path")) for item in items if isinstance(item, dict)],
                )

    def add(self, entry: Entry) -> None:
        session = entry.session if entry.session and _PLAIN.match(entry.session) else None
        fields = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%S"),
            "session": session,
            "tier": entry.tier,
            "reason": entry.reason,
            "gap": round(entry.gap, 4),
            "top": round(entry.top, 4),
            "items": [{"kind": hit.kind, "path": hit.path} for hit in entry.items],
            "bytes": entry.size,
            "ms": round(entry.ms, 1),
        } | ({"emptied": True} if entry.emptied else {})
        line = json.dumps(fields).encode() + b"\n"
        try:
            trim(self._path, MAX_BYTES)
            handle = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            try:
                os.write(handle, line)
            finally:
                os.close(handle)
        except OSError:
            pass


@dataclass(slots=True)
class Day:
    """What the hook did in the last 24 hours, as `status` shows it."""

    asked: int = 0
    shown: int = 0
    silent: dict[str, int] = field(default_factory=dict)
    timeouts: int = 0


def last_day(injections: Path, hook_log: Path, now: float) -> Day:
    """Count the two journals' lines of the 24 hours before `now` (seconds since the epoch). Damaged lines are passed
    over, missing files are empty."""
    since, day = time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(now - DAY_SECONDS)), Day()
    for line in _lines(injections):
        fields = _object(line)
        if str(fields.get("time", "")) < since:
            continue
        day.asked += 1
        if fields.get("items"):
            day.shown += 1
        else:
            _count(day.silent, str(fields.get("reason")))
    for line in _lines(hook_log):
        words = line.split()
        if len(words) == 3 and words[0] >= since and words[1] != "replaced":  # that message had its answer
            if words[1] == "timeout":
                day.timeouts += 1
            else:
                _count(day.silent, words[1])
            day.asked += 1
    return day


def _count(counts: dict[str, int], word: str) -> None:
    counts[word] = counts.get(word, 0) + 1


def _lines(path: Path) -> Iterator[str]:
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            yield from file
    except OSError:
        return


def _object(line: str) -> dict[str, Any]:
    try:
        fields = json.loads(line)
    except ValueError:
        return {}
    return fields if isinstance(fields, dict) else {}
