"""`recall schedule`: has the machine's own scheduler run `recall index` at intervals, and takes that out again."""

import argparse
import os
from pathlib import Path

from recall.cli.ask import confirm
from recall.core.config import load_config
from recall.core.errors import ConfigError, RecallError
from recall.wire.paths import StatePaths, state_home

HELP = "have cron, systemd, launchd or Windows run `recall index` at intervals"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from recall.schedule.choice import NAMES

    parser.add_argument("--every", metavar="TIME", default="15m", help="5m to 24h, in minutes or hours (default 15m)")
    parser.add_argument("--using", choices=NAMES, help="which scheduler (default: the one that answers here)")
    parser.add_argument("--remove", action="store_true", help="take the schedule of this state folder out again")
    parser.add_argument("--dry-run", action="store_true", help="show what would be done and change nothing")
    parser.add_argument("--yes", action="store_true", help="answer every question with yes")


def run(arguments: argparse.Namespace) -> int:
    from recall.schedule.choice import choose, holding
    from recall.schedule.job import Job, check_paths, minutes_of, words_of

    paths = StatePaths(state_home(arguments.home))
    if arguments.remove:
        return _remove(paths, dry_run=arguments.dry_run)
    job = Job(str(_program()), paths.home, minutes_of(arguments.every))
    check_paths(job)
    _check_state(paths)
    chosen = choose(arguments.using, paths.home)
    preview = chosen.preview(job)
    others = [scheduler for scheduler in holding(paths.home) if scheduler.name != chosen.name]
    every = words_of(job.minutes)
    if chosen.is_current(job) and not others:
        print(f"{chosen.words} stands already: `recall index` runs every {every}")
        return 0
    print(preview)
    for other in others:
        print(f"{other.words} that stands now goes: two would do the same work twice")
    if arguments.dry_run:
        return 0
    if not confirm("Write this?", yes=arguments.yes):
        raise RecallError("nothing was written and nothing changed")
    caution = chosen.install(job)
    for other in others:
        print(other.remove(paths.home))
    print(f"`recall index` runs every {every}; each run adds a line to {paths.index_log}")
    if caution:
        print(caution)
    _name_lines()
    return 0


def _name_lines() -> None:
    """Name what a person has put into the crontab for the same work."""
    from recall.schedule.choice import schedulers_here
    from recall.schedule.schedulers import Cron

    for cron in schedulers_here():
        if isinstance(cron, Cron) and (lines := cron.written()):
            print(f"your crontab has a line of your own that runs `{lines[0].program} index`; one of the two is enough")


def _remove(paths: StatePaths, *, dry_run: bool) -> int:
    from recall.schedule.choice import holding, remove

    planned = [f"would take out {scheduler.words}" for scheduler in holding(paths.home)]
    print("\n".join(planned if dry_run else remove(paths.home)) or f"nothing was scheduled for {paths.home}")
    return 0


def _program() -> Path:
    """The program to name. Raises RecallError."""
    from recall.setup.launcher import own_program

    program = own_program()
    if not program.is_file():
        raise RecallError(
            f"expected the program {program}, found no such file; install recall into this Python and try again"
        )
    return program


def _check_state(paths: StatePaths) -> None:
    """Refuse what would fail, or read other notes, where none of our variables is set. Raises ConfigError."""
    path = Path(paths.config)
    if not path.is_file():
        raise ConfigError(f"expected {path}, which `recall setup` writes, found none; run that first")
    config = load_config(path)
    if config.claude_folders(os.environ) != config.claude_folders({}):
        raise ConfigError(
            f"{path}: expected claude_folders to name {os.environ['CLAUDE_CONFIG_DIR']}, for a scheduled run has no "
            "CLAUDE_CONFIG_DIR, found it empty; run `recall setup` first"
        )
