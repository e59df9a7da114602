"""What the logs of the last day say, and whether they stay within bounds."""

import contextlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from recall.core.log import MAX_BYTES, trim
from recall.daemon.journal import (
    AHEAD_SECONDS,
    DAY_SECONDS,
    SECOND_CALL,
    local_time,
    read_entries,
    read_hook_log,
)
from recall.daemon.journal import MAX_BYTES as MAX_JOURNAL_BYTES
from recall.daemon.prompt import START_EVENT
from recall.doctor.case import Case, Finding, State

#: A share of messages (and at least so many) from which time-outs or failures are no chance any more.
SHARE, LEAST = 0.1, 3
#: What the hook notes when something failed, and when the message was too large for it.
FAILURES = ("error", "unreadable", "busy")
OVERSIZE = "oversize"
#: What became of a message that the daemon has noted. LATE: the hook had given up by then.
ANSWERED, GARBAGE, LATE = "answered", "not readable", "late"
#: How far beyond its bound a log may be: the daemon trims it when it looks the next time, and may not run.
SLACK = 3

#: Longer logs are read from their end.
_READ_BYTES = 4 * MAX_BYTES


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a message: the local time (ISO 8601), a code of hook.log or one of the three above, and whether
    records were handed over."""

    time: str
    code: str
    shown: bool = False

    @property
    def failed(self) -> bool:
        return self.code in (*FAILURES, "timeout")


def lines_of(path: Path) -> list[str]:
    """The lines of a log, the newest of one that is too long; none where it is missing or no file."""
    with contextlib.suppress(OSError):
        if path.is_file():
            with path.open("rb") as file:
                file.seek(max(0, path.stat().st_size - _READ_BYTES))
                return file.read().decode("utf-8", "replace").splitlines()
    return []


def messages(case: Case) -> Iterator[Finding]:
    """Time-outs and failures of the last 24 hours, and lines of a time that has not come yet."""
    every = outcomes(case)
    latest = local_time(case.now + AHEAD_SECONDS)
    since = local_time(case.now - DAY_SECONDS)
    day = [one for one in every if since <= one.time <= latest and one.code != LATE]
    mute = case.serve.held and case.serve.says is None
    newest = day[-1].time if day else ""
    over = is_over(lines_of(Path(case.paths.daemon_log)), newest, held=case.serve.held)
    yield from judge_day(day, over=over, mute=mute)
    if ahead := sum(one.time > latest for one in every):
        words = f"the journals hold times in the future ({ahead}): the clock was wrong once"
        yield Finding("clock", "note", "future-lines", words, "no check counts them", None, {"lines": ahead})


def outcomes(case: Case) -> list[Outcome]:
    """What became of each message that the journals hold, in order of time."""
    nowhere = case.home / "nowhere"  # to read a pipe would keep us waiting for ever
    answered, unanswered = (
        path if path.is_file() else nowhere for path in map(Path, (case.paths.injections, case.paths.hook_log))
    )
    budget = case.config["hook.budget_ms"]
    found = [Outcome(when, code) for when, code, _ in read_hook_log(unanswered)]
    for fields in read_entries(answered):
        if fields.get("event") == START_EVENT or fields.get("reason") == SECOND_CALL:
            continue
        code = GARBAGE if fields.get("reason") == "unreadable" else ANSWERED
        ms = fields.get("ms")
        late = isinstance(ms, int | float) and ms >= budget  # the hook has noted this message as a time-out itself
        found.append(Outcome(str(fields.get("time", "")), LATE if late else code, shown=bool(fields.get("items"))))
    return sorted(found, key=lambda one: (one.time, one.failed))


def is_over(daemon_log: Sequence[str], newest: str, *, held: bool) -> bool:
    """Whether the daemon that was asked at the time `newest` is gone: another has come since, or it neither runs
    (`held`) nor has ended by itself. A pure decision on the lines of daemon.log."""
    lives = [words[:2] for line in daemon_log if (words := line.split())[1:2] in (["started"], ["ended"])]
    if not lives:
        return False
    return any(when > newest for when, word in lives if word == "started") or (not held and lives[-1][1] == "started")


def judge_day(day: Sequence[Outcome], *, over: bool, mute: bool) -> list[Finding]:
    """The findings about the messages of a day, in order of time. `over`: the daemon that answered the newest one is
    gone; `mute`: one holds its place and says nothing. What is history is a note: only where the newest message of all
    failed too does it go on. A pure decision."""
    counts = Counter(one.code for one in day)
    asked, shown = counts.total() - counts[GARBAGE], sum(one.shown for one in day)
    failed = {code: counts[code] for code in FAILURES if counts[code]}
    facts: dict[str, int | float | str] = {"asked": asked, "shown": shown, "timeouts": counts["timeout"], **failed}
    figures = f"{asked} messages in 24 hours, {shown} with records, {counts['timeout']} too late"
    goes_on = bool(day) and day[-1].failed and not over
    past = "the daemon that was asked is gone" if over else "newer messages had their answer"
    found = []
    if counts["timeout"]:
        advice = "`recall setup` measures again and offers a longer cut-off or a faster model"
        advice = "the daemon does not answer: end it first" if mute else advice if goes_on else past
        state = _weight(counts["timeout"], asked, goes_on=goes_on)
        found.append(Finding("messages", state, "timeouts", figures, advice, None, facts))
    if failed:
        words = f"the hook had no proper answer: {_counts(failed)} of {asked} messages in 24 hours"
        state = _weight(sum(failed.values()), asked, goes_on=goes_on)
        advice = "daemon.log tells more; `recall stop` starts afresh" if goes_on else past
        found.append(Finding("messages", state, "failures", words, advice, None, facts))
    if counts[GARBAGE]:
        words = f"the hook was handed what is no message of an agent, {counts[GARBAGE]} times in 24 hours"
        advice = "another program calls it; what you type is not concerned"
        found.append(Finding("messages", "note", "no-messages", words, advice, None, {"count": counts[GARBAGE]}))
    if counts[OVERSIZE]:
        words = f"{counts[OVERSIZE]} of {asked} messages in 24 hours were larger than recall reads"
        found.append(Finding("messages", "note", "oversize", words, "such a one gets no answer", None, facts))
    return found or [Finding("messages", "ok", "ok", figures, facts=facts)]


def _weight(count: int, asked: int, *, goes_on: bool) -> State:
    return "problem" if goes_on and count >= LEAST and count >= SHARE * asked else "note"


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {word}" for word, count in counts.items())


def logs(case: Case) -> Iterator[Finding]:
    """Whether the logs are files, and are kept within their bounds."""
    bounds = {
        case.paths.injections: MAX_JOURNAL_BYTES,
        case.paths.hook_log: MAX_BYTES,
        case.paths.daemon_log: MAX_BYTES,
        case.paths.index_log: MAX_BYTES,
    }
    found, total = [], 0
    for path, bound in ((Path(name), bound) for name, bound in bounds.items()):
        if not path.exists():
            continue
        if not path.is_file():
            words = f"{path}: expected a file, found something else; whoever writes there may wait for ever"
            found.append(Finding("logs", "problem", "no-file", words, "take it away", None, {"file": path.name}))
            continue
        size = path.stat().st_size
        total += size
        if size > SLACK * bound:
            words = f"{path} has grown to {size / 1e6:.0f} MB, and should stay below {bound / 1e6:.0f}"

            def cut(path: Path = path, bound: int = bound) -> str:
                trim(path, bound)
                return "kept the newer lines, as the daemon does"

            advice = "a daemon that runs cuts it to its newer half"
            found.append(Finding("logs", "problem", "grown", words, advice, cut, {"file": path.name, "bytes": size}))
    yield from found or [Finding("logs", "ok", "ok", f"{total / 1e6:.1f} MB", facts={"bytes": total})]
