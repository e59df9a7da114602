"""`recall uninstall`: takes out what setup put in. The index and the configuration stay."""

import argparse
import os
import shutil
import time
from pathlib import Path

from recall.cli.stop import stop
from recall.core.config import load_config
from recall.core.errors import ConfigError, RecallError, SettingsError
from recall.wire.paths import StatePaths, state_home

HELP = "take the hook out of Claude Code's settings and end the daemon; notes, index and settings of recall stay"

#: Open sessions of Claude Code notice a changed settings.json within a second (seen in 2.1.197). A message typed until
#: then still calls the launcher, whose absence the person would be shown as an error.
NOTICE_SECONDS = 2.0


def add_arguments(_parser: argparse.ArgumentParser) -> None:
    """No arguments of its own."""


def run(arguments: argparse.Namespace) -> int:
    from recall.setup.launcher import launcher_path
    from recall.setup.registration import unregister

    paths = StatePaths(state_home(arguments.home))
    home = Path(paths.home)
    removed, refused = False, []
    for settings in _settings_files(paths):
        try:
            if unregister(settings, home).action != "unchanged":
                print(f"took the hook out of {settings}")
                removed = True
        except RecallError as error:  # one file that cannot be edited must not keep the hook in the others
            refused.append(str(error))
    if refused:
        raise SettingsError("\n".join([*refused, "the launcher and the daemon stay until every settings.json lets go"]))
    launcher = launcher_path(home)
    if not removed:
        print("no settings.json called recall")
    elif launcher.exists():
        time.sleep(NOTICE_SECONDS)
    if stop(paths):
        print("ended the daemon")
    if launcher.exists():
        shutil.rmtree(launcher.parent)
        print(f"removed {launcher.parent}")
    socket_folder = Path(paths.socket).parent
    if socket_folder != home:
        shutil.rmtree(socket_folder, ignore_errors=True)
    if home.exists():
        print(f"the index and the configuration stay in {home}; delete that folder when you do not want them any more")
    return 0


def _settings_files(paths: StatePaths) -> list[Path]:
    """Every settings.json that may call us: those that setup wrote, the Claude folders', this project's."""
    from recall.setup.receipt import registered_in
    from recall.setup.settings import settings_path

    try:
        folders = load_config(Path(paths.config)).claude_folders(os.environ)
    except ConfigError:
        folders = []  # a broken configuration must not keep the hook in
    folders.append(Path(os.environ.get("CLAUDE_CONFIG_DIR") or "~/.claude").expanduser())
    files = [*registered_in(Path(paths.home)), *(settings_path("user", folder, None) for folder in folders)]
    files.append(settings_path("project", folders[-1], Path.cwd()))
    return list({os.path.realpath(file): file for file in files}.values())
