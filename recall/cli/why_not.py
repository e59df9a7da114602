"""`recall why-not NOTE "question"`: tells at which step a note falls that a message does not bring."""

import argparse
import json
import os
import shlex
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recall.cli.client import call, call_warm, current_folder
from recall.core.errors import UsageError
from recall.core.types import SHARED
from recall.text.clean import one_line
from recall.wire.paths import StatePaths, state_home

if TYPE_CHECKING:
    from recall.insight.fall import Asked, Place, Step
    from recall.insight.records import Index
    from recall.sources.memory import Scan

HELP = "tell at which step a note fell that a message did not bring"

LATE = "question"

#: The most records that the daemon ranks for one question.
_LIMIT = 1000
_MARKS = {True: "ok  ", False: "FAIL", None: "-   "}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("note", metavar="NOTE", help="path, file name or name of the record")
    parser.add_argument("question", nargs="?", help="the message (default: that of the last decision)")
    parser.add_argument("--session", metavar="ID", help="what this session was shown counts, and its last message")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> int:
    from recall.embed.catalog import find_model
    from recall.insight.fall import cause, fall
    from recall.insight.records import find_record, read_index

    paths = StatePaths(state_home(arguments.home))
    message = _message(paths, arguments)
    fields = {"question": message.text, "cwd": message.cwd, "session": message.session}
    ranked = call_warm(paths, "query", {**fields, "limit": _LIMIT})
    auto = call_warm(paths, "query", {**fields, "auto": True})
    status = call(paths, "status")
    index = read_index(Path(paths.index), status.get("identity") if status else None)
    known = [*index.paths, *(item.path for item in index.skipped)]
    try:
        path = find_record(arguments.note, index, current_folder(), known, also_parts=True)
    except UsageError:  # it may just have been written
        found_now = [file.path for scan in _scans(paths) for file in scan.files]
        path = find_record(arguments.note, index, current_folder(), [*known, *found_now])
    kind = getattr(index.of(path), "kind", None)
    place = _place(paths, path, message, index, {hit["path"] for hit in ranked["hits"]})
    asked = _asked(path, kind == "conversation", message, ranked, auto)
    near = find_model(auto["model"], Path(paths.models)).calibration.near
    steps = fall(place, replace(asked, near=near), _names(index))
    failed = cause(steps)
    found = {
        "note": path,
        "question": message.text,
        "cwd": message.cwd,
        "project": ranked["project"],
        "shown": failed is None,
        "cause": failed.name if failed else None,
        "in_words": failed.words if failed else steps[-1].words,
        "steps": [asdict(step) for step in steps],
    }
    print(json.dumps(found, indent=1) if arguments.json else _text(found, steps))
    return 0


@dataclass(frozen=True, slots=True)
class _Message:
    """The message, where it was typed, and what its session was shown before it."""

    text: str
    cwd: str | None
    session: str | None
    shown: frozenset[str] = frozenset()


def _message(paths: StatePaths, arguments: argparse.Namespace) -> _Message:
    """The question that was given, else the message of the last decision. Raises UsageError where it is gone."""
    from recall.insight.decisions import shown_before
    from recall.insight.lookup import decisions_of, last_asked

    session = arguments.session
    if arguments.question is not None:
        shown = shown_before(decisions_of(paths), session) if session else set()
        return _Message(arguments.question, current_folder(), session, frozenset(shown))
    asked = last_asked(paths, os.environ, session)
    if asked.typed is None:
        raise UsageError(
            "the last message is not in Claude Code's transcripts (any more); give it: "
            f'recall why-not {one_line(arguments.note)} "the message"'
        )
    decision = asked.decision
    shown = shown_before(decisions_of(paths), decision.session or "", decision)
    return _Message(asked.typed.text, asked.typed.cwd, decision.session, frozenset(shown))


def _place(paths: StatePaths, path: str, message: _Message, index: "Index", ranked: set[str]) -> "Place":
    """Where the record stands before the message is looked at."""
    from recall.daemon.mutes import Mutes
    from recall.insight.fall import Place
    from recall.insight.lookup import claude_folders
    from recall.search.answer import silenced
    from recall.sources.projects import discover

    record = index.of(path)
    exists = os.path.exists(path) or (record is not None and record.origin is not None)  # noqa: PTH110
    if record is None:
        return Place(path, exists, missing=_missing(paths, path, index) if exists else "")
    projects = discover(claude_folders(paths, os.environ))
    scope = projects.current(message.cwd, None)
    outside = ""
    # The daemon's word goes first; what another machine shared is in scope everywhere.
    if record.project not in {*scope, SHARED} and path not in ranked and record.origin is None:
        known = projects.by_key.get(record.project)
        outside = f"the project {one_line(known.name if known else record.project)}"
    is_muted = silenced(record, Mutes(paths).muted(message.session, scope))
    return Place(
        path,
        exists,
        outside=outside,
        muted=f"it is muted; `recall unmute {shlex.quote(one_line(Path(path).name))}` takes that back"
        if is_muted
        else "",
        instead=_instead(path, index, ranked),
        held=path in message.shown,
    )


def _instead(path: str, index: "Index", ranked: set[str]) -> str:
    """What is shown in the place of a record, "" where it is shown itself."""
    succession = index.successions.get(path)
    if succession is not None and not succession.successor:
        return "its status says that it holds no more and nothing replaced it: such records are never shown"
    if path in ranked:
        return ""
    version = next((other for other in index.versions(path) if other in ranked), None)
    if version is not None:
        return f"its version in the message's language is shown instead: {one_line(version)}"
    return ""


def _missing(paths: StatePaths, path: str, index: "Index") -> str:
    """Why a file that is there is not in the index."""
    scans = _scans(paths)
    for item in [*index.skipped, *(item for scan in scans for item in scan.skipped)]:
        if path == item.path or path.startswith(item.path.rstrip(os.sep) + os.sep):
            return f"it was skipped: {one_line(item.path)} {one_line(item.reason)}"
    if any(found.path == path for scan in scans for found in scan.files):
        return f"it waits to be read or embedded ({index.pending} files wait); `recall index` does it now"
    if Path(path).name.startswith("MEMORY."):
        return "it is an index of notes, which Claude Code loads itself, and no note"
    return "it stands in no folder that recall looks at; `[[knowledge]]` in config.toml adds one"


def _scans(paths: StatePaths) -> "list[Scan]":
    """What recall finds in its folders now."""
    from recall.core.config import load_config
    from recall.index.sources import configured_sources
    from recall.insight.lookup import claude_folders
    from recall.sources.projects import discover

    folders = claude_folders(paths, os.environ)
    return [s.scan() for s in configured_sources(folders, discover(folders), load_config(Path(paths.config)))]


def _asked(
    path: str, is_conversation: bool, message: _Message, ranked: dict[str, Any], auto: dict[str, Any]
) -> "Asked":
    """The daemon's answers; conversations are ranked apart from notes and rules, a session at its best."""
    from recall.daemon.loaded import LoadedIndexes
    from recall.insight.decisions import Ranked
    from recall.insight.fall import Asked

    hits: dict[str, Ranked] = {}
    for hit in ranked["hits"]:
        if (hit["kind"] == "conversation") == is_conversation:
            hits.setdefault(hit["path"], Ranked(hit["path"], hit["kind"], hit["score"], hit.get("signs", {})))
    return Asked(
        ranked=list(hits.values()),
        tier=auto["tier"],
        reason=auto["reason"],
        handed=[hit["path"] for hit in auto["hits"]],
        probability=auto["probability"],
        shown=message.shown,
        at_hand=LoadedIndexes().names(path),
        is_conversation=is_conversation,
    )


def _names(index: "Index") -> dict[str, str]:
    return {record.path: one_line(record.name) for record in index.rows.documents}


def _text(found: dict[str, Any], steps: "list[Step]") -> str:
    verdict = "it IS shown" if found["shown"] else f'it falls at the step "{found["cause"]}"'
    return "\n".join(
        [
            f"note     {one_line(found['note'])}",
            f"message  {one_line(found['question'])[:200]}",
            *(f"{_MARKS[step.ok]}  {step.name:<8} {one_line(step.words)}" for step in steps),
            f"So {verdict}: {one_line(found['in_words'])}.",
        ]
    )
