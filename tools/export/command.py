"""What the commands that export a model share: the way from a run to sentences and an exit code."""

import argparse
import errno
import os
import sys
import time
from collections.abc import Callable

from export.weights import SourceError


class ExportError(Exception):
    """Nothing was written; the message is one sentence for the person."""


def say(line: str) -> None:
    """One line for the person, at once."""
    print(line, flush=True)


def exit_code(run: Callable[[argparse.Namespace], tuple[str, ...]], arguments: argparse.Namespace, room_gb: int) -> int:
    """Run an export into `arguments.out`: 0 when all variants are there, 1 after one sentence on stderr.

    `run` returns the variants that fell short. `room_gb`: gigabytes that it needs on the disk for a moment.
    """
    began = time.perf_counter()
    try:
        short = run(arguments)
    except (SourceError, ExportError) as error:
        print(error, file=sys.stderr)
        return 1
    except OSError as error:
        full = f"the disk is full (about {room_gb} GB are needed for a moment)" if error.errno == errno.ENOSPC else None
        reason = full or os.strerror(error.errno or 0)
        print(f"The model could not be written to {arguments.out}: {reason}.", file=sys.stderr)
        return 1
    size = sum(path.stat().st_size for path in arguments.out.iterdir()) / 1e6
    say(f"{arguments.out}: {size:.0f} MB in {time.perf_counter() - began:.0f} s")
    if short:
        print(f"These variants fell short of their proof: {', '.join(short)}.", file=sys.stderr)
        return 1
    return 0
