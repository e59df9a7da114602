"""`recall install`: the unpacked program that it is run from becomes the installed one."""

import argparse
import sys
from pathlib import Path

from recall.cli.handover import hand_over, renew_entries
from recall.core.errors import UsageError
from recall.install.adopt import adopt, copy_in, make_room, refusals
from recall.install.cleanup import clean_up
from recall.install.link import Link, ensure_link
from recall.install.place import Place, own_name
from recall.install.program import Program, read_program
from recall.install.switch import Switch, switch
from recall.wire.paths import StatePaths, state_home
from recall.wire.spawn import is_frozen

HELP = "install the unpacked program that this is run from, and use it from now on"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--switch", action="store_true", help="use it also where a newer version, or another build, is installed"
    )


def run(arguments: argparse.Namespace) -> int:
    if not is_frozen():
        raise UsageError(
            "expected the packed program, found recall in a Python environment, where pip installs and upgrades it"
        )
    place = Place.of_user()
    program = _bring(Path(sys.executable).parent, place)
    done = switch(place, program.name, asked=arguments.switch)
    with refusals(place):
        link = ensure_link(place)
    for line in (*sentences(program, done), *_link_sentences(link, place)):
        print(line, file=sys.stderr)
    if done.before not in (None, done.now):
        paths = StatePaths(state_home(arguments.home))
        renew_entries(paths, place)
        hand_over(paths, place.program(done.now))
    clean_up(place, (done.now, done.before))
    return 0


def _bring(folder: Path, place: Place) -> Program:
    """The installed program of what this is run from. Raises InstallError."""
    with refusals(place):
        make_room(place)
        beside = folder.parent.samefile(place.versions)
    if beside and own_name():
        return read_program(folder)
    return adopt(folder if beside else copy_in(folder, place), place)


def sentences(program: Program, done: Switch) -> list[str]:
    """What happened, for the person."""
    version, before = program.version, (done.before or "").partition("-")[0]
    match done.verdict:
        case "first":
            return [f"recall {version} is installed in {program.folder} ({program.bytes / 1e6:.0f} MB)"]
        case "same":
            return [f"recall {version} is installed in {program.folder}"]
        case "newer" | "asked":
            return [f"recall {version} is installed in {program.folder} and takes the place of {before}"]
        case "older":
            return [f"recall {before} stays, which is newer than this {version}; `--switch` takes this one"]
    return [f"another build of recall {version} stays; `--switch` takes this one"]


def _link_sentences(link: Link | None, place: Place) -> list[str]:
    """How it is called from now on, where that has changed."""
    program = place.lasting_program()
    if link is None:
        return [f"call it by its path: {program}"]
    if link.state == "taken":
        return [f"{link.path} is another program and stays; call this one by its path: {program}"]
    if link.state == "there":
        return []
    if not link.on_path:
        return [f"linked {link.path}, which your PATH does not name: add {link.path.parent} to it, or call the link"]
    return [f"linked {link.path}"]
