"""`recall serve`: the daemon in the foreground."""

import argparse
import sys

from recall.wire.paths import StatePaths, state_home

HELP = "run the daemon in the foreground (the hook starts one by itself)"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--replace", nargs="?", choices=("older", "any"), const="older", metavar="any",
        help="take the place of a daemon of an older version; `any`: of whichever runs",
    )  # fmt: skip
    parser.add_argument("--detached", action="store_true", help=argparse.SUPPRESS)


def run(arguments: argparse.Namespace) -> int:
    from recall.daemon.main import serve

    paths = StatePaths(state_home(arguments.home))
    said = None if arguments.detached else lambda text: print(text, file=sys.stderr)
    return serve(paths, replace=arguments.replace, say=said)
