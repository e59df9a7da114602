"""`recall stop`: ends the daemon."""

import argparse

from recall.daemon.process import end_daemon
from recall.wire.paths import StatePaths, state_home

HELP = "end the daemon; the next message starts it again"


def add_arguments(_parser: argparse.ArgumentParser) -> None:
    """No arguments of its own."""


def run(arguments: argparse.Namespace) -> int:
    paths = StatePaths(state_home(arguments.home))
    print(end_daemon(paths) or "no daemon was running")
    return 0
