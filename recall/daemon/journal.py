"""injections.jsonl: what was handed over and why nothing was. Never the message, and no text of a record.

A line is about a message, or, with an `event`, about the start of a session.
"""

import json
import math
import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from recall.core.log import trim
from recall.core.types import Hit
from recall.daemon.prompt import START_EVENT
from recall.daemon.sessions import Past
from recall.sources.lines import json_object
from recall.wire.files import open_file

MAX_BYTES = 5_000_000
#: A line is at most so long, in bytes, so that the file keeps more than a thousand messages.
MAX_LINE_BYTES = 4096
#: Candidates that are written: the eleven that the gate judges.
MAX_RANKED = 11
DAY_SECONDS = 86_400
#: A clock may be set back a little; what lies further in the future was written under a wrong one.
AHEAD_SECONDS = 120
_TIME = "%Y-%m-%dT%H:%M:%S"

_MS = re.compile(r"[0-9]{1,9}\Z")
_PLAIN = re.compile(r"[A-Za-z0-9._-]{1,64}\Z")


#: The reason of the second call for one prompt, which has its answer already.
SECOND_CALL = "answered"


class Item(Protocol):
    """A record that was handed over, as far as the journal names it."""

    @property
    def kind(self) -> str: ...
    @property
    def path(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Entry:
    """One message's outcome. `reason` is a fixed word; `items` are the records handed over; `size` in bytes.

    What `recall why` tells it by: `signs` and `probability` are the gate's, `ranked` the best candidates, best first.
    By path: `held` were handed over before, `cut` were chosen and fell to the budget of bytes or lines. `muted` counts
    the records that the person's mutes left out, `prompt` is the prompt's id. `event` is START_EVENT for the start of
    a session, `source` what it started by; `items` are then the decisions in the list.
    """

    session: str | None
    tier: str
    reason: str
    gap: float = 0.0
    top: float = 0.0
    items: Sequence[Item] = ()
    size: int = 0
    ms: float = 0.0
    emptied: bool = False  # the conversation was cleared or compacted since the session's last message
    probability: float = 0.0
    signs: Mapping[str, float] = field(default_factory=dict)
    ranked: Sequence[Hit] = ()
    held: Sequence[str] = ()
    cut: Sequence[str] = ()
    muted: int = 0
    prompt: str | None = None
    event: str | None = None
    source: str | None = None


class Journal:
    """Appends entries to one file, 0600. A failure to write (a full disk) never reaches the answer."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def shown(self) -> Iterator[Past]:
        """What was handed over, in order of time."""
        for fields in read_entries(self._path):
            session, items, prompt = fields.get("session"), fields.get("items"), fields.get("prompt")
            if isinstance(session, str) and isinstance(items, list):
                starts = _is_start(fields)
                yield Past(
                    session,
                    emptied=fields.get("emptied") is True,
                    paths=[str(item.get("path")) for item in items if isinstance(item, dict)],
                    listed=bool(items) and starts,
                    prompt=prompt if isinstance(prompt, str) and not starts else None,
                )

    def add(self, entry: Entry) -> None:
        """Write one line."""
        line = _line(entry)
        try:
            trim(self._path, MAX_BYTES)
            handle = open_file(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
            try:
                if os.lseek(handle, 0, os.SEEK_END) and os.lseek(handle, -1, os.SEEK_END) >= 0:
                    line = b"\n" * (os.read(handle, 1) != b"\n") + line  # what was cut off keeps its own line
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


def local_time(seconds: float) -> str:
    """A time as the journals write it, from seconds since 1970."""
    return time.strftime(_TIME, time.localtime(seconds))


def last_day(injections: Path, hook_log: Path, now: float) -> Day:
    """Count the two journals' lines of the 24 hours before `now` (seconds since the epoch), a message once. Damaged
    lines are passed over, missing files are empty."""
    since, until = local_time(now - DAY_SECONDS), local_time(now + AHEAD_SECONDS)
    day = Day()
    for fields in read_entries(injections):
        passed = since <= str(fields.get("time", "")) <= until
        if not passed or _is_start(fields) or fields.get("reason") == SECOND_CALL:
            continue
        day.asked += 1
        if fields.get("items"):
            day.shown += 1
        else:
            _count(day.silent, str(fields.get("reason")))
    for when, code, _ in read_hook_log(hook_log):
        if since <= when <= until:
            if code == "timeout":
                day.timeouts += 1
            else:
                _count(day.silent, code)
            day.asked += 1
    return day


def read_entries(path: Path) -> Iterator[dict[str, Any]]:
    """The lines of injections.jsonl as they stand, in order of time. Damaged ones are passed over; no file has none."""
    for line in _lines(path):
        if fields := json_object(line):
            yield fields


def read_hook_log(path: Path) -> Iterator[tuple[str, str, float]]:
    """The messages that found no answer: (time, code, ms), in order of time. Damaged lines are passed over."""
    for line in _lines(path):
        words = line.split()
        if len(words) == 3 and _MS.match(words[2]) and words[1] != "replaced":  # that message had its answer
            yield words[0], words[1], float(words[2])


def _line(entry: Entry) -> bytes:
    """An entry as its line. Where it would be too long the lists give way, candidates first, from their ends.

    What was handed over stays whatever its length: a restart reads back from it what must not be shown twice.
    """
    fields: dict[str, Any] = {
        "time": time.strftime(_TIME),
        "session": _plain(entry.session),
        "tier": entry.tier,
        "reason": entry.reason,
        "gap": round(entry.gap, 4),
        "top": round(entry.top, 4),
        "items": [{"kind": hit.kind, "path": hit.path} for hit in entry.items],
        "bytes": entry.size,
        "ms": round(entry.ms, 1),
    }
    more = {
        "event": entry.event,
        "source": entry.source,
        "emptied": entry.emptied,
        "prompt": _plain(entry.prompt),
        "probability": round(entry.probability, 3),
        "signs": _rounded(entry.signs),
        "ranked": [
            {"kind": hit.kind, "path": hit.path, "score": round(hit.score, 3), "signs": _rounded(hit.signs)}
            for hit in entry.ranked[:MAX_RANKED]
        ],
        "held": list(entry.held),
        "cut": list(entry.cut),
        "muted": entry.muted,
    }
    searched = bool(entry.signs or entry.ranked)  # a probability of 0 says something then
    fields |= {name: value for name, value in more.items() if value or (name == "probability" and searched)}
    line = json.dumps(fields).encode() + b"\n"
    for name in ("ranked", "cut", "held"):
        while len(line) > MAX_LINE_BYTES and fields.get(name):
            fields[name].pop()
            line = json.dumps(fields).encode() + b"\n"
    return line


def _is_start(fields: Mapping[str, Any]) -> bool:
    """Whether a line is about the start of a session."""
    return fields.get("event") == START_EVENT


def _plain(word: str | None) -> str | None:
    """A session's or prompt's id; None for what could be a person's words."""
    return word if word and _PLAIN.match(word) else None


def _rounded(signs: Mapping[str, float]) -> dict[str, float]:
    return {name: round(value, 3) for name, value in signs.items() if math.isfinite(value)}


def _count(counts: dict[str, int], word: str) -> None:
    counts[word] = counts.get(word, 0) + 1


def _lines(path: Path) -> Iterator[str]:
    try:
        with os.fdopen(open_file(path), encoding="utf-8", errors="replace") as file:
            yield from file
    except OSError:
        return
