"""`recall uninstall`: takes out what setup, schedule and install put in. The index and the configuration stay."""

import argparse
import os
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path

from recall.cli.client import current_folder
from recall.core.config import load_config
from recall.core.errors import ConfigError, RecallError, SettingsError, UsageError
from recall.daemon.process import end_daemon
from recall.install.place import Place, own_place
from recall.wire.paths import StatePaths, state_home
from recall.wire.spawn import is_frozen

HELP = "take out the hook, the schedule, the daemon and the installed program; notes, index and settings of recall stay"

#: Open sessions of Claude Code notice a changed settings.json within a second (seen in 2.1.197). A message typed until
#: then still calls the launcher, whose absence the person would be shown as an error.
NOTICE_SECONDS = 2.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--purge", action="store_true", help="delete the index, models, settings and logs of recall too"
    )


def run(arguments: argparse.Namespace) -> int:
    # Everything is imported before the program's own files may go.
    from recall.install.remove import remove_program
    from recall.schedule import remove as unschedule
    from recall.setup.launcher import launcher_path
    from recall.setup.purge import purge

    paths = StatePaths(state_home(arguments.home))
    _refuse_while_sharing(paths, purge=arguments.purge)
    place = own_place() or (Place.of_user() if is_frozen() else None)  # unpacked by hand it removes what it installed
    home = Path(paths.home)
    removed, others = _unregister_everywhere(home, _claude_folders(paths))
    try:
        for line in unschedule(home):
            print(line)
    except RecallError as error:  # a scheduler that refuses must not keep the rest here
        print(f"recall: {error}", file=sys.stderr)
    launcher = launcher_path(home)
    if not removed:
        print("no settings.json called recall")
    elif launcher.exists() or place is not None:
        time.sleep(NOTICE_SECONDS)
    if end_daemon(paths):
        print("ended the daemon")
    if launcher.exists():
        shutil.rmtree(launcher.parent)
        print(f"removed {launcher.parent}")
    if arguments.purge:
        _purge(purge, paths)
    elif Path(paths.index).exists():
        print(f"the index and the configuration stay in {home}; `recall uninstall --purge` deletes them too")
    if place is not None and others:
        raise SettingsError(f"the program stays, for {', '.join(map(str, others))} still calls it")
    if place is not None:
        for line in remove_program(place):
            print(line)
    elif names := Place.of_user().names():
        print(f"the packed program stays: {Place.of_user().program(names[-1])} uninstall removes it")
    return 0


def _refuse_while_sharing(paths: StatePaths, *, purge: bool) -> None:
    """Its number in the team would be gone, and with it the only way to take back what it has shared."""
    if purge and Path(paths.share).exists():
        raise UsageError(
            "this machine still shares with a team; run `recall share leave` first, with --delete-mine to take back "
            "what it has shared"
        )


def _purge(purge: Callable[[StatePaths], list[Path] | None], paths: StatePaths) -> None:
    left = purge(paths)
    if left is None:
        print(f"recall has kept nothing in {paths.home}")
        return
    print(f"deleted what recall kept in {paths.home}")
    program = ("versions", "current", "install.lock", "made.txt") if paths.home == str(Place.of_user().data) else ()
    others = [path.name for path in left if path.name not in program]
    if others:
        print(f"what is not recall's stays there: {', '.join(others)}")


def _unregister_everywhere(home: Path, claude_folders: list[Path]) -> tuple[bool, list[Path]]:
    """Take our entries out of every settings file; whether there was one, and the files that call recall with another
    state folder, which stay.

    A file that cannot be edited does not keep the hook in the others. Raises SettingsError at the end, naming those
    that may still call us.
    """
    from recall.setup.codex import CODEX, calls_us, config_of
    from recall.setup.places import hook_files
    from recall.setup.registration import entry_in, may_call_us, unregister

    removed, others, refused = False, [], []
    for agent, settings in hook_files(home, claude_folders, os.environ, current_folder()):
        try:
            entry = entry_in(settings, agent)
            if entry and entry.home and os.path.realpath(entry.home) != os.path.realpath(home):
                others.append(settings)
                print(
                    f"{settings} calls recall with another state folder and stays: recall uninstall --home {entry.home}"
                )
            elif unregister(settings, home, agent).action != "unchanged":
                print(f"took the hook out of {settings}")
                removed = True
        except RecallError as error:
            if may_call_us(settings):
                refused.append(str(error))
        if agent is CODEX and calls_us(config_of(settings)):
            refused.append(
                f"{config_of(settings)} calls recall; take that entry out by hand, for recall wrote none there"
            )
    if refused:
        raise SettingsError("\n".join([*refused, "the launcher and the daemon stay until every settings file lets go"]))
    return removed, others


def _claude_folders(paths: StatePaths) -> list[Path]:
    try:
        return load_config(Path(paths.config)).claude_folders(os.environ)
    except ConfigError:
        return []  # a broken configuration must not keep the hook in
