"""What the logs of the last day say, and whether they stay within bounds."""

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from recall.core.log import MAX_BYTES, trim
from recall.daemon.journal import MAX_BYTES as MAX_JOURNAL_BYTES
from recall.daemon.journal import Day, last_day
from recall.doctor.case import Case, Finding, State

#: A share of messages (and at least so many) from which time-outs or failures are no chance any more.
SHARE, LEAST = 0.1, 3
#: What the hook notes when something failed.
FAILURES = ("error", "unreadable", "busy", "oversize")
#: How far beyond its bound a log may be: the daemon trims it when it looks the next time, and may not run.
SLACK = 3

#: Longer logs are read from their end.
_READ_BYTES = 4 * MAX_BYTES


def lines_of(path: Path) -> list[str]:
    """The lines of a log, the newest of one that is too long; none where it is missing or no file."""
    with contextlib.suppress(OSError):
        if path.is_file():
            with path.open("rb") as file:
                file.seek(max(0, path.stat().st_size - _READ_BYTES))
                return file.read().decode("utf-8", "replace").splitlines()
    return []


def messages(case: Case) -> Iterator[Finding]:
    """Time-outs and failures of the last 24 hours."""
    nowhere = case.home / "nowhere"  # to read a pipe would keep us waiting for ever
    files = [path if path.is_file() else nowhere for path in map(Path, (case.paths.injections, case.paths.hook_log))]
    yield from judge_day(last_day(files[0], files[1], case.now))


def judge_day(day: Day) -> list[Finding]:
    """The findings about a day. A pure decision."""
    failed = {code: day.silent.get(code, 0) for code in FAILURES if day.silent.get(code)}
    facts: dict[str, int | float | str] = {"asked": day.asked, "shown": day.shown, "timeouts": day.timeouts, **failed}
    figures = f"{day.asked} messages in 24 hours, {day.shown} with records, {day.timeouts} too late"
    found = []
    if day.timeouts:
        advice = "`recall setup` measures again and offers a longer cut-off or a faster model"
        state = _weight(day.timeouts, day.asked)
        found.append(Finding("messages", state, "timeouts", figures, advice, None, facts))
    if failed:
        words = f"the hook had no proper answer: {_counts(failed)} of {day.asked} messages in 24 hours"
        state = _weight(sum(failed.values()), day.asked)
        advice = "daemon.log tells more; `recall stop` starts afresh"
        found.append(Finding("messages", state, "failures", words, advice, None, facts))
    return found or [Finding("messages", "ok", "ok", figures, facts=facts)]


def _weight(count: int, asked: int) -> State:
    return "problem" if count >= LEAST and count >= SHARE * asked else "note"


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
