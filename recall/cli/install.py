"""`recall install`: the unpacked program that it is run from becomes the installed one."""

import argparse
import os
import subprocess
import sys
from pathlib import Path

from recall.cli.handover import hand_over, renew_entries
from recall.core.errors import UsageError
from recall.install.adopt import adopt, copy_in, make_room, refusals
from recall.install.cleanup import clean_up
from recall.install.link import ensure_link, link_path
from recall.install.place import PROGRAM, WINDOWS, Place, own_name
from recall.install.program import Program, check, read_program
from recall.install.switch import Switch, switch
from recall.wire.paths import StatePaths, state_home
from recall.wire.spawn import is_frozen

HELP = "install the unpacked program that this is run from, and use it from now on"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--switch", action="store_true", help="use it also where a newer version, or another build, is installed"
    )
    parser.add_argument("--adopted", action="store_true", help=argparse.SUPPRESS)  # looked over a moment ago


def run(arguments: argparse.Namespace) -> int:
    if not is_frozen():
        raise UsageError(
            "expected the packed program, found recall in a Python environment, where pip installs and upgrades it"
        )
    place = Place.of_user()
    folder = Path(sys.executable).parent
    if own_name() is None:
        return _go_on(_bring(folder, place), arguments)
    program = read_program(folder)
    with refusals(place):
        if not arguments.adopted:
            check(program)
        done = switch(place, program.name, asked=arguments.switch)
    for line in (*sentences(program, done), *_link_sentences(place)):
        print(line, file=sys.stderr)
    if done.before not in (None, done.now):
        paths = StatePaths(state_home(arguments.home))
        renew_entries(paths, place)
        hand_over(paths, place.program(done.now))
    clean_up(place, (done.now, done.before))
    return 0


def _bring(folder: Path, place: Place) -> Program:
    """Make the unpacked program an installed one: where it lies beside the versions, by its new name alone."""
    with refusals(place):
        make_room(place)
        beside = folder.parent.samefile(place.versions)
    return adopt(folder if beside else copy_in(folder, place), place)


def _go_on(program: Program, arguments: argparse.Namespace) -> int:
    """The rest is done by the installed program: of this one, whose folder has another name now, no part that is not
    loaded yet can be found any more."""
    words = [str(program.folder / PROGRAM), "install", "--adopted"]
    words += ["--switch"] if arguments.switch else []
    words += ["--home", arguments.home] if arguments.home else []
    if WINDOWS:
        return subprocess.run(words, check=False).returncode
    return os.execv(words[0], words)  # noqa: S606


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


def _link_sentences(place: Place) -> list[str]:
    """Make the link; how recall is called from now on, where that has changed."""
    program = place.lasting_program()
    try:
        link = ensure_link(place)
    except OSError as error:
        return [f"{link_path()} cannot be made ({error.strerror}); call recall by its path: {program}"]
    if link is None:
        return [f"call it by its path: {program}"]
    if link.state == "taken":
        return [f"{link.path} is another program and stays; call this one by its path: {program}"]
    if link.state == "there":
        return []
    if not link.on_path:
        return [f"linked {link.path}, which your PATH does not name: add {link.path.parent} to it, or call the link"]
    return [f"linked {link.path}"]
