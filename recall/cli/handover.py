"""What follows when another version becomes current: entries that name a version's own path, and the daemon."""

import dataclasses
import os
import sys
import time
from pathlib import Path

from recall.cli.client import call, current_folder
from recall.core.config import load_config
from recall.core.errors import ConfigError, DaemonError, RecallError
from recall.daemon.process import daemon_process, wait_for_end
from recall.install.place import WINDOWS, Place
from recall.wire.lock import HeldLock
from recall.wire.paths import StatePaths
from recall.wire.spawn import start_daemon

#: Seconds that the new daemon gets to load its model while the old one answers, and to take over.
PATIENCE = 60.0


def hand_over(paths: StatePaths, program: Path) -> None:
    """Where a daemon runs, have this program's take its place; until that has loaded, the old one answers."""
    if not HeldLock.is_held(paths.daemon_lock):
        return
    before = daemon_process(paths)
    start_daemon(paths.home, replace="any", program=str(program))
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if _pid(paths) not in (None, before.pid if before else None):
            wait_for_end(before)
            print("the daemon has changed over too", file=sys.stderr)
            return
        time.sleep(0.05)
    print(f"the old daemon still answers; see {paths.daemon_log}, or run `recall stop`", file=sys.stderr)


def renew_entries(paths: StatePaths, place: Place) -> None:
    """Rewrite what names the path of one version, as on Windows all does: the agents' settings, and the schedule."""
    from recall.schedule.schedulers import Task
    from recall.setup.launcher import TIMEOUT_S
    from recall.setup.places import hook_files
    from recall.setup.registration import entry_in, register

    lasting = place.lasting_program()
    try:
        folders = load_config(Path(paths.config)).claude_folders(os.environ)
    except ConfigError:
        folders = []
    for agent, settings in hook_files(Path(paths.home), folders, os.environ, current_folder()):
        try:
            entry = entry_in(settings, agent)
            if entry and lasting and _names_a_version(entry.command, place):
                renewed = dataclasses.replace(entry, command=str(lasting), timeout=entry.timeout or TIMEOUT_S)
                if register(settings, renewed, Path(paths.home), agent).action == "updated":
                    print(f"updated the hook in {settings}", file=sys.stderr)
                    if agent.todo:
                        print(agent.todo, file=sys.stderr)
        except RecallError as error:  # one file that cannot be edited must not keep the others back
            print(f"recall: {error}", file=sys.stderr)
    task = Task()
    try:
        if WINDOWS and lasting and task.stands(paths.home) and task.renew(paths.home, str(lasting)):
            print("updated the scheduled task", file=sys.stderr)
    except RecallError as error:
        print(f"recall: {error}", file=sys.stderr)


def _names_a_version(command: str, place: Place) -> bool:
    """Whether a command stands in the folder of one version; Codex on Windows may know that by its short name."""
    if WINDOWS:
        return Path(os.path.realpath(command)).is_relative_to(os.path.realpath(place.versions))
    return Path(command).is_relative_to(place.versions)


def _pid(paths: StatePaths) -> int | None:
    """The daemon that answers and has its model; None when none does."""
    try:
        found = call(paths, "status", timeout=2.0)
    except DaemonError:
        return None
    return int(found["pid"]) if found and found.get("state") != "warming" else None
