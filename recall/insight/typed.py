"""Typed prompts: what a person wrote, read from Claude Code's transcripts, for `why` and `replay`. Nothing is kept.

Who wrote a line is decided by the same code as for past conversations (`recall.sources.messages`).
"""

import heapq
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from recall.core.errors import SourceError
from recall.sources.lines import json_object, open_lines
from recall.sources.messages import Prompt, read_message

#: A message is written down at most so much before or after it was answered; without a prompt's id it is found by that.
MOST_APART = timedelta(seconds=60)
#: Parts of the lines that a person's words can stand in, and of those that hold a tool's answer.
_WANTED = (b'"user"', b'"queued_command"')
_TOOL = b'"tool_result"'


@dataclass(frozen=True, slots=True)
class Typed:
    """One prompt; `time` has its zone, `prompt` is the client's id of it, `cwd` where it was typed."""

    text: str
    time: datetime
    session: str
    prompt: str | None
    cwd: str | None
    transcript: str


def typed_prompts(transcript: str) -> Iterator[Typed]:
    """The prompts in a transcript, in order. Damaged lines and those without a time are passed over.

    Raises SourceError, as a reason to print, where the file cannot be read.
    """
    entrypoint = ""
    waiting: set[str] = set()  # typed while the model worked: the same text may follow once more
    with open_lines(transcript) as lines:
        for line in lines.read(0):
            if line.too_long or _TOOL in line.data or not any(part in line.data for part in _WANTED):
                continue
            record = json_object(line.data) or {}
            entrypoint = _text(record, "entrypoint") or entrypoint
            message = read_message(record, entrypoint)
            time = _time(record.get("timestamp"))
            if not isinstance(message, Prompt) or time is None:
                continue
            if message.queued:
                waiting.add(message.text)
            elif message.text in waiting:
                waiting.discard(message.text)
                continue
            yield Typed(
                message.text,
                time,
                _text(record, "sessionId") or Path(transcript).stem,
                _text(record, "promptId", "prompt_id"),
                _text(record, "cwd"),
                transcript,
            )


def transcripts_of(session: str, claude_folders: Iterable[Path]) -> list[str]:
    """The transcripts of a session, in whichever project folder they stand."""
    found: list[str] = []
    for claude in claude_folders:
        with suppress(OSError):
            found += [str(folder / f"{session}.jsonl") for folder in sorted((claude / "projects").iterdir())]
    return [path for path in found if os.path.isfile(path)]  # noqa: PTH113


def find_prompt(transcripts: Iterable[str], prompt: str | None, when: datetime) -> Typed | None:
    """The prompt of this id, else the one typed nearest to a local time; None where neither is there (any more)."""
    nearest: Typed | None = None
    apart = MOST_APART
    local = when.astimezone()
    for transcript in transcripts:
        with suppress(SourceError):
            for typed in typed_prompts(transcript):
                if prompt is not None and typed.prompt == prompt:
                    return typed
                if (prompt is None or typed.prompt is None) and abs(typed.time - local) <= apart:
                    nearest, apart = typed, abs(typed.time - local)
    return nearest


def last_typed(folders: Sequence[str], count: int) -> tuple[list[Typed], list[str]]:
    """The last `count` prompts in these transcript folders, oldest first, and the transcripts that cannot be read.

    Newest transcripts first, and none that was closed before the oldest prompt in hand: years of them need not be read.
    Forks and resumed sessions hold copies of lines: a prompt of one time and text comes once.
    """
    best: list[tuple[datetime, str, int, Typed]] = []
    seen: set[tuple[datetime, str]] = set()
    unreadable: list[str] = []
    for changed, path in sorted(_transcripts(folders), reverse=True):
        if len(best) >= count and changed < best[0][0].timestamp():
            break
        try:
            for number, typed in enumerate(typed_prompts(path)):
                if (typed.time, typed.text) not in seen:
                    seen.add((typed.time, typed.text))
                    heapq.heappush(best, (typed.time, path, number, typed))
                    if len(best) > count:
                        heapq.heappop(best)
        except SourceError:
            unreadable.append(path)
    return [typed for *_, typed in sorted(best, key=lambda entry: entry[:3])], unreadable


def _transcripts(folders: Iterable[str]) -> Iterator[tuple[float, str]]:
    """Time of change and path of each, without those of subagents."""
    for folder in folders:
        with suppress(OSError):
            for entry in os.scandir(folder):
                if entry.name.endswith(".jsonl") and not entry.name.startswith("agent-"):
                    with suppress(OSError):
                        yield entry.stat().st_mtime, entry.path


def _text(record: dict[str, Any], *names: str) -> str | None:
    return next((record[name] for name in names if isinstance(record.get(name), str) and record[name]), None)


def _time(value: object) -> datetime | None:
    """An aware time, None for anything else."""
    try:
        return datetime.fromisoformat(value).astimezone() if isinstance(value, str) else None
    except (ValueError, OverflowError, OSError):  # a year that the system's clock cannot have
        return None
