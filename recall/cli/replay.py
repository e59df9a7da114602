"""`recall replay`: what the person's own last messages would bring today. Nothing is stored."""

import argparse
import json
import os
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

from recall.cli.client import call_warm, current_folder
from recall.core.errors import UsageError
from recall.text.clean import one_line
from recall.wire.paths import StatePaths, state_home

if TYPE_CHECKING:
    from recall.insight.typed import Typed

HELP = "show what your own last messages would bring today"

#: So much of a message is shown (characters).
_MESSAGE = 60
#: Each message takes some 20 ms to a second, by the model.
MAX_LAST = 5000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--last", metavar="N", type=_count, default=50, help="how many messages (default 50)")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--project", metavar="NAME", help="of this project instead of the current folder's")
    where.add_argument("--all", action="store_true", help="of all projects")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> int:
    from tqdm import tqdm

    from recall.cli.index import index
    from recall.insight.typed import last_typed

    paths = StatePaths(state_home(arguments.home))
    call_warm(paths, "status")
    index(paths)  # else a first look would say that nothing ever comes
    typed, unreadable = last_typed(_folders(paths, arguments), arguments.last)
    shown = tqdm(typed, unit="message", file=sys.stderr, leave=False, disable=None)  # a bar on a terminal alone
    rows = [_row(prompt, call_warm(paths, "query", _fields(prompt))) for prompt in shown]
    found = {"messages": rows, "summary": _summary(rows), "unreadable": unreadable}
    print(json.dumps(found, indent=1) if arguments.json else _text(found))
    return 0


def _folders(paths: StatePaths, arguments: argparse.Namespace) -> list[str]:
    """The transcript folders to read. Raises UsageError where no project is meant."""
    from recall.daemon.naming import project_meant
    from recall.insight.lookup import claude_folders
    from recall.sources.projects import discover

    projects = discover(claude_folders(paths, os.environ))
    if arguments.all:
        return list(projects.folders)
    if arguments.project is not None:
        keys = frozenset((project_meant(arguments.project, projects).key,))
    else:
        keys = projects.current(current_folder(), None)
        if keys.isdisjoint(projects.by_key):
            raise UsageError("this folder belongs to no project that recall knows; name one, or take them --all")
    return [folder for folder, key in projects.folders.items() if key in keys]


def _fields(prompt: "Typed") -> dict[str, Any]:
    return {"question": prompt.text, "cwd": prompt.cwd, "session": prompt.session, "auto": True}


def _row(prompt: "Typed", answer: dict[str, Any]) -> dict[str, Any]:
    """One message and what it would bring."""
    context = answer["additional_context"]
    return {
        "time": prompt.time.isoformat(timespec="seconds"),
        "session": prompt.session,
        "message": prompt.text,
        "tier": answer["tier"],
        "reason": answer["reason"],
        "probability": answer["probability"],
        "lines": context.splitlines()[1:] if context else [],
        "bytes": len(context.encode()) if context else 0,
        "ms": answer["ms"],
    }


def _summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    spoken = [row for row in rows if row["lines"]]
    return {
        "messages": len(rows),
        "spoken": len(spoken),
        "share": round(len(spoken) / len(rows), 3) if rows else 0.0,
        "bytes": sum(row["bytes"] for row in rows),
        "tiers": dict(Counter(row["tier"] for row in spoken)),
        "silent": dict(Counter(row["reason"] for row in rows if not row["lines"]).most_common()),
    }


def _text(found: dict[str, Any]) -> str:
    lines: list[str] = []
    for row in found["messages"]:
        text = one_line(row["message"])
        text = text if len(text) <= _MESSAGE else text[: _MESSAGE - 1] + "…"
        verdict = f"{row['tier']}, {row['probability']:.2f}" if row["lines"] else f"silent: {row['reason']}"
        lines += [
            f"{row['time'][:10]}  {text}  ({verdict})",
            *(f"            {one_line(line)}" for line in row["lines"]),
        ]
    summary = found["summary"]
    if not summary["messages"]:
        lines.append("no message that a person typed is in the transcripts here")
    else:
        silent = ", ".join(f"{count} {one_line(word)}" for word, count in summary["silent"].items())
        tiers = ", ".join(f"{count} {tier}" for tier, count in summary["tiers"].items())
        lines.append(
            f"{summary['spoken']} of {summary['messages']} messages would bring something "
            f"({summary['share']:.0%}{': ' + tiers if tiers else ''}), {summary['bytes']} bytes in all"
            f"{'; silent: ' + silent if silent else ''}"
        )
    lines += [f"not readable: {one_line(path)}" for path in found["unreadable"]]
    return "\n".join(lines)


def _count(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= MAX_LAST:
        raise argparse.ArgumentTypeError(f"expected a whole number from 1 to {MAX_LAST}, found {text!r}")
    return int(text)
