"""`recall mute NOTE`: one command against a wrong line. `unmute` takes it back."""

import argparse
import json
import os
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from recall.cli.client import current_folder
from recall.core.errors import RecallError, UsageError
from recall.core.types import PERSON, TEAM
from recall.text.clean import one_line
from recall.wire.paths import StatePaths, state_home

if TYPE_CHECKING:
    from recall.daemon.mutes import Mute, Scope

HELP = "never show a note again (in this project, or in a session), or anything of a machine or person of the team"

#: What Claude Code sets for the commands that it runs.
_SESSION = "CLAUDE_CODE_SESSION_ID"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("note", metavar="NOTE", nargs="?", help="path, file name or name of the record")
    add_team_arguments(parser)
    scope = parser.add_mutually_exclusive_group()
    scope.add_argument("--project", action="store_true", help="only in the project of the current folder")
    scope.add_argument(
        "--session",
        metavar="ID",
        nargs="?",
        const="",
        help="only in this session (default: the one of this shell, else the newest)",
    )
    scope.add_argument("--forever", action="store_true", help="everywhere, the default")
    parser.add_argument("--list", action="store_true", help="show what is muted")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def add_team_arguments(parser: argparse.ArgumentParser) -> None:
    """What `mute` and `unmute` take instead of a NOTE."""
    parser.add_argument("--machine", metavar="NAME", help="instead of a NOTE: all that came from this machine")
    parser.add_argument("--person", metavar="NAME", help="instead of a NOTE: all that came from this person's machines")


def of_team(paths: StatePaths, arguments: argparse.Namespace) -> str | None:
    """What stands in place of a path for a whole machine or person; None where a NOTE is meant. Raises UsageError."""
    if arguments.machine is None and arguments.person is None:
        return None
    if arguments.note is not None or (arguments.machine is not None and arguments.person is not None):
        raise UsageError("expected one of NOTE, --machine NAME and --person NAME, found two")
    from recall.replica.team import machines

    known = machines(Path(paths.share_records), Path(paths.share))
    if arguments.machine is not None:
        machine = _written_as(arguments.machine, known)
        if machine is None:
            names = ", ".join(sorted(known)) or "none yet"
            raise UsageError(f"no machine of the team is called {one_line(arguments.machine)!r}; known are: {names}")
        return TEAM + known[machine][0][:8]
    people = {person for _, person in known.values()}
    person = _written_as(arguments.person, people)
    if person is None:
        names = ", ".join(sorted(people)) or "none yet"
        raise UsageError(f"nobody of the team is called {one_line(arguments.person)!r}; known are: {names}")
    return f"{PERSON}{person}"


def _written_as(name: str, known: Iterable[str]) -> str | None:
    """A name as it is written among those that are known: as it stands, else the only one in other small or capital
    letters."""
    alike = [one for one in known if one.casefold() == name.casefold()]
    return name if name in alike else alike[0] if len(alike) == 1 else None


def run(arguments: argparse.Namespace) -> int:
    from recall.daemon.mutes import Mutes
    from recall.insight.decisions import signs_when_shown
    from recall.insight.lookup import decisions_of
    from recall.insight.records import find_record, read_index

    paths = StatePaths(state_home(arguments.home))
    mutes = Mutes(paths)
    if (whole := of_team(paths, arguments)) is not None:
        new = mutes.add([whole], *_scope(paths, arguments))
        show_mutes(new, "muted" if new else "it is muted already", as_json=arguments.json)
        return 0
    if arguments.list or arguments.note is None:
        if arguments.note is not None or not arguments.list:
            raise UsageError("expected the NOTE to mute, written before --session, or --list alone")
        show_mutes(mutes.all(), "", as_json=arguments.json)
        return 0
    index = read_index(Path(paths.index))
    path = find_record(arguments.note, index, current_folder(), index.paths)
    if index.of(path) is None:
        raise UsageError(f"no record of the index stands at {one_line(path)}; `recall why-not` tells why")
    scope, of = _scope(paths, arguments)
    versions = index.versions(path)
    new = mutes.add(versions, scope, of, signs_when_shown(decisions_of(paths), versions))
    show_mutes(new, "muted" if new else "it is muted already", as_json=arguments.json)
    return 0


def show_mutes(mutes: "list[Mute]", word: str, *, as_json: bool) -> None:
    """Print mutes, one a line; `word` says before them what was done, "" for a list."""
    if as_json:
        print(json.dumps({"mutes": [asdict(mute) for mute in mutes]}, indent=1))
        return
    for mute in mutes:
        where = f"{mute.scope} {mute.of}".strip()
        elsewhere = mute.path.startswith((TEAM, PERSON))
        gone = "" if word or elsewhere or os.path.exists(mute.path) else "; the file is gone"  # noqa: PTH110
        print(f"{word or mute.time} {one_line(mute.path)} ({one_line(where)}{gone})".strip())
    if not mutes:
        print(word or "nothing is muted")


def _scope(paths: StatePaths, arguments: argparse.Namespace) -> "tuple[Scope, str]":
    """Where it is silenced. Raises RecallError where no project or session is there."""
    if arguments.session is not None:
        return "session", arguments.session or os.environ.get(_SESSION) or _newest_session(paths)
    if not arguments.project:
        return "forever", ""
    from recall.insight.lookup import claude_folders
    from recall.sources.projects import discover
    from recall.sources.repository import is_path

    projects = discover(claude_folders(paths, os.environ))
    scope = projects.current(current_folder(), None)
    known = sorted(scope & projects.by_key.keys())
    if not known:
        raise UsageError("this folder belongs to no project that recall knows; go to one, or leave --project out")
    # Its path stays its key when a first transcript tells it; the folder's name, by which it is known till then, goes.
    return "project", next(filter(is_path, sorted(scope)), known[0])


def _newest_session(paths: StatePaths) -> str:
    from recall.insight.lookup import decisions_of

    sessions = [decision.session for decision in decisions_of(paths) if decision.session]
    if not sessions:
        raise RecallError("recall has answered no session yet; name one: --session ID")
    return sessions[-1]
