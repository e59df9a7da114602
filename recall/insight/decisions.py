"""Decisions: what became of each message, read back from injections.jsonl and hook.log."""

import heapq
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from recall.core.errors import UsageError
from recall.daemon.journal import read_entries, read_hook_log
from recall.insight.reasons import NOT_SEARCHED


@dataclass(frozen=True, slots=True)
class Ranked:
    """One candidate as the journal or the daemon gives it: `score` and `signs` on the model's own scale."""

    path: str
    kind: str
    score: float
    signs: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Decision:
    """One message's outcome; `time` is local. What an older recall wrote lacks `ranked` and what follows it.

    `answered` is false for a message that found no answer (hook.log), of which only time, reason and ms are known.
    `event` stands where no message was asked about: "SessionStart", whose `items` are the list of decisions.
    """

    time: datetime
    reason: str
    ms: float
    answered: bool = True
    session: str | None = None
    tier: str = "none"
    gap: float = 0.0
    top: float = 0.0
    items: tuple[tuple[str, str], ...] = ()  # (kind, path)
    size: int = 0  # bytes
    emptied: bool = False
    prompt: str | None = None
    probability: float | None = None
    signs: Mapping[str, float] = field(default_factory=dict)
    ranked: tuple[Ranked, ...] = ()
    held: tuple[str, ...] = ()
    cut: tuple[str, ...] = ()
    muted: int = 0
    event: str | None = None

    @property
    def searched(self) -> bool:
        """Whether the records were searched for it."""
        return self.answered and self.event is None and self.reason not in NOT_SEARCHED


def read_decisions(injections: Path, hook_log: Path) -> Iterator[Decision]:
    """All decisions in order of time. Damaged lines are passed over. The second call for one prompt is none."""
    written = (decision for decision in map(_decision, read_entries(injections)) if decision is not None)
    yield from heapq.merge(written, _unanswered(hook_log), key=lambda decision: decision.time)


def choose(decisions: Iterable[Decision], session: str | None, at: datetime | None) -> Decision | None:
    """The last decision on a message (of a session), or the one nearest to a local time; None where there is none."""
    chosen = None
    for decision in decisions:
        if decision.event is not None:
            continue
        if session is not None and decision.session != session:
            continue
        if chosen is None or at is None or _apart(decision, at) <= _apart(chosen, at):
            chosen = decision
    return chosen


def shown_before(decisions: Iterable[Decision], session: str, until: Decision | None = None) -> set[str]:
    """Paths that a session was shown and that its conversation still holds, up to a decision or to now."""
    shown: set[str] = set()
    for decision in decisions:
        if decision.session != session:
            continue
        if decision.emptied:
            shown.clear()
        if decision == until:
            break
        shown.update(path for _, path in decision.items)
    return shown


def signs_when_shown(decisions: Iterable[Decision], paths: Collection[str]) -> Mapping[str, float]:
    """The gate's signs of the last decision that showed one of these records; empty where none did."""
    messages = (decision for decision in decisions if decision.event is None)
    shown = [decision.signs for decision in messages if any(path in paths for _, path in decision.items)]
    return shown[-1] if shown else {}


def moment(text: str, now: datetime) -> datetime:
    """The local time that a person types: `2026-08-14T09:30`, `2026-08-14 09:30:05`, or `09:30` of today.

    Raises UsageError.
    """
    for candidate in (text.strip(), f"{now.date().isoformat()}T{text.strip()}"):
        try:
            found = datetime.fromisoformat(candidate)
            return found.astimezone().replace(tzinfo=None) if found.tzinfo else found
        except (ValueError, OverflowError, OSError):
            continue
    raise UsageError(f"expected a time like 2026-08-14T09:30 or 09:30, found {text!r}")


def _apart(decision: Decision, at: datetime) -> float:
    return abs((decision.time - at).total_seconds())


def _unanswered(hook_log: Path) -> Iterator[Decision]:
    for when, code, ms in read_hook_log(hook_log):
        if time := _time(when):
            yield Decision(time, code, ms, answered=False)


def _decision(fields: Mapping[str, Any]) -> Decision | None:
    """A line of the journal; None for one that is no decision."""
    time, reason = _time(fields.get("time")), fields.get("reason")
    if time is None or not isinstance(reason, str) or reason == "answered":
        return None
    probability = fields.get("probability")
    return Decision(
        time=time,
        reason=reason,
        ms=_number(fields.get("ms")),
        session=_text(fields.get("session")),
        tier=_text(fields.get("tier")) or "none",
        gap=_number(fields.get("gap")),
        top=_number(fields.get("top")),
        items=tuple((str(item.get("kind")), str(item.get("path"))) for item in _dicts(fields.get("items"))),
        size=int(_number(fields.get("bytes"))),
        emptied=fields.get("emptied") is True,
        prompt=_text(fields.get("prompt")),
        probability=_number(probability) if probability is not None else None,
        signs=_numbers(fields.get("signs")),
        ranked=tuple(
            Ranked(
                str(item.get("path")), str(item.get("kind")), _number(item.get("score")), _numbers(item.get("signs"))
            )
            for item in _dicts(fields.get("ranked"))
        ),
        held=_texts(fields.get("held")),
        cut=_texts(fields.get("cut")),
        muted=int(_number(fields.get("muted"))),
        event=_text(fields.get("event")),
    )


def _time(value: object) -> datetime | None:
    try:
        found = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    return found.replace(tzinfo=None) if found else None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _texts(value: object) -> tuple[str, ...]:
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()


def _dicts(value: object) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) and abs(value) < 1e12 else 0.0


def _numbers(value: object) -> dict[str, float]:
    return {str(key): _number(number) for key, number in value.items()} if isinstance(value, dict) else {}
