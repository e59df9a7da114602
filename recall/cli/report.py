"""`recall report`: some days in one screen, and which notes may want tidying."""

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from recall.core.types import KINDS, LABELS
from recall.text.clean import one_line
from recall.wire.paths import StatePaths, state_home

HELP = "show some days in one screen: what was handed over, why else silence, which notes want tidying"

#: Days that can be asked for at most; the journal rarely reaches so far back.
MAX_DAYS = 366
#: So many of each list are on the screen; `--html` and `--json` have all.
_SHOWN = 5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--days", metavar="N", type=_days, default=7, help="how many days back (default 7)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--html", metavar="OUT", help="write a page with pictures to this file, all lists in full")


def run(arguments: argparse.Namespace) -> int:
    found = report(StatePaths(state_home(arguments.home)), arguments.days, datetime.now())
    if arguments.html:
        from recall.insight.report_page import report_page
        from recall.pages.page import write_page

        write_page(Path(arguments.html), report_page(found))
    if arguments.json:
        print(json.dumps(found, indent=1))
    else:
        print(f"wrote {one_line(arguments.html)}" if arguments.html else _text(found))
    return 0


def report(paths: StatePaths, days: int, now: datetime) -> dict[str, Any]:
    """Everything that `report --json` prints. Raises StoreError where the index cannot be read."""
    from recall.insight.lookup import decisions_of
    from recall.insight.records import read_index
    from recall.insight.tidying import candidates
    from recall.insight.weekly import figures, never_shown

    week = figures(decisions_of(paths), now - timedelta(days=days))
    index = read_index(Path(paths.index))
    notes = [record for record in index.rows.documents if record.kind != "conversation"]
    one_each = {record.group or record.path: record.path for record in reversed(notes)}  # of all languages the first
    shown = {path for one in week.shown for path in index.versions(one)}
    return asdict(week) | {
        "days": days,
        "since": week.since.isoformat(timespec="seconds"),
        "names": {record.path: record.name for record in notes},
        "notes": len(one_each),
        "pending": index.pending,
        "never_shown": never_shown(one_each.values(), shown),
        "tidying": asdict(candidates(index)),
    }


def _text(found: dict[str, Any]) -> str:
    """The same for people."""
    names, tidying, never = found["names"], found["tidying"], found["never_shown"]
    share = f" ({found['spoken'] / found['messages']:.0%})" if found["messages"] else ""
    lines_by_kind = {LABELS[kind]: found["lines"][kind] for kind in KINDS if kind in found["lines"]}
    lines = [
        f"{found['days']} days; the first message in them was {found['since'].replace('T', ' ')}"
        if found["messages"]
        else f"no message in the last {found['days']} days",
        f"messages   {found['messages']} in {found['sessions']} sessions, {found['searched']} searched",
        f"spoken     {found['spoken']}{share}, {found['bytes']} bytes: {_counts(lines_by_kind) or 'no lines'}",
        f"silent     {_counts(found['silent']) or 'none'}",
        f"time-outs  {found['timeouts']}",
    ]
    if found["pending"]:
        lines.append(f"waiting    {found['pending']} files are not indexed yet; `recall index` does it now")
    if found["p50"] is not None:
        lines.append(f"answered   in {found['p50']:.0f} ms (half), {found['p95']:.0f} ms (95 %), inside the daemon")
    lines += _list("most shown:", [f"{count} times {_name(path, names)}" for path, count in found["shown"].items()])
    lines += _list(
        f"never shown: {len(never)} of {found['notes']} notes and rules, as", [_name(path, names) for path in never]
    )
    lines += _list("may say the same:", [_pair(pair, names) for pair in tidying["alike"]])
    lines += _list("may contradict each other:", [_pair(pair, names) for pair in tidying["disagree"]])
    gone = [f"{_name(note['path'], names)}: {one_line(_some(note['files']))}" for note in tidying["gone"]]
    lines += _list("name files that are gone:", gone)
    return "\n".join(lines)


def _list(title: str, items: Sequence[str]) -> list[str]:
    """A heading and the first items below it; nothing where there are none."""
    if not items:
        return []
    more = [f"    and {len(items) - _SHOWN} more (--html and --json have all)"] if len(items) > _SHOWN else []
    return [title, *(f"    {item}" for item in items[:_SHOWN]), *more]


def _some(files: Sequence[str]) -> str:
    return ", ".join(files[:3]) + (f" and {len(files) - 3} more" if len(files) > 3 else "")


def _pair(pair: dict[str, Any], names: dict[str, str]) -> str:
    both = f"{_name(pair['first'], names)} | {_name(pair['second'], names)}"
    return f"{both}: {one_line(pair['words'])} ({pair['closeness']:.2f})"


def _name(path: str, names: dict[str, str]) -> str:
    """A record by its file, and by its name where that says something else."""
    file, name = Path(path), one_line(names.get(path, ""))
    if not name or name in (file.stem, file.name):
        return one_line(file.name)
    return f"{one_line(file.name)} ({name[:59] + '…' if len(name) > 60 else name})"


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} {one_line(word)}" for word, count in counts.items())


def _days(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= MAX_DAYS:
        raise argparse.ArgumentTypeError(f"expected a whole number of days from 1 to {MAX_DAYS}, found {text!r}")
    return int(text)
