"""`recall hook`: listed here for `--help`; `recall.__main__` leads to the hook before any of this is imported."""

import argparse

from recall.hook import pipe

HELP = "answer one UserPromptSubmit call of Claude Code: its JSON on stdin, headlines or nothing on stdout, exit 0"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--budget", metavar="MS", type=int, help="end after so many milliseconds (default 300)")


def run(_arguments: argparse.Namespace) -> int:
    pipe.main()
    return 0
