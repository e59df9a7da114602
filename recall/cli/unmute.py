"""`recall unmute NOTE`: takes back every mute of a record."""

import argparse
from pathlib import Path

from recall.cli.client import current_folder
from recall.cli.mute import add_team_arguments, of_team, show_mutes
from recall.core.errors import UsageError
from recall.text.clean import one_line
from recall.wire.paths import StatePaths, state_home

HELP = "show a muted note again, or what came from a muted machine or person"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("note", metavar="NOTE", nargs="?", help="path, file name or name of the record")
    add_team_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> int:
    from recall.daemon.mutes import Mutes
    from recall.insight.records import find_record, read_index

    paths = StatePaths(state_home(arguments.home))
    mutes = Mutes(paths)
    if (whole := of_team(paths, arguments)) is not None:
        gone = mutes.remove({whole})
        show_mutes(gone, "no longer muted" if gone else "it is not muted", as_json=arguments.json)
        return 0
    if arguments.note is None:
        raise UsageError("expected a NOTE, --machine NAME or --person NAME; `recall mute --list` shows what is muted")
    index = read_index(Path(paths.index))
    muted = [mute.path for mute in mutes.all()]
    if not muted:
        raise UsageError("nothing is muted")
    try:
        path = find_record(arguments.note, index, current_folder(), muted)
    except UsageError:  # of a record that is there it is better told that it is not muted
        path = find_record(arguments.note, index, current_folder(), [*muted, *index.paths])
    gone = mutes.remove({path, *index.versions(path)})
    if not gone:
        raise UsageError(f"{one_line(path)} is not muted; `recall mute --list` shows what is")
    show_mutes(gone, "no longer muted", as_json=arguments.json)
    return 0
