"""How far long work is: a bar on a terminal, elsewhere a line each ten seconds. Always on stderr."""

import sys
import time
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from tqdm import tqdm

#: Seconds between two lines where no terminal is, in a log of cron for example.
LINE_SECONDS = 10.0


class ProgressLine:
    """A context; `show` may be called as often as wanted, from one thread at a time. `silent`: it shows nothing."""

    def __init__(self, *, silent: bool = False) -> None:
        self._silent = silent
        self._bar: tqdm[NoReturn] | None = None
        self._last_line = time.monotonic()

    def __enter__(self) -> "ProgressLine":
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def show(self, done: int, total: int, seconds_left: float | None) -> None:
        """`done` of `total` pieces of work; nothing is shown while there is no work."""
        if self._silent or not total:
            return
        if not sys.stderr.isatty():
            self._line(done, total, seconds_left)
            return
        if self._bar is None:
            from tqdm import tqdm  # every command imports this file, few show a bar

            self._bar = tqdm(total=total, unit="chunk", file=sys.stderr, leave=False)
        self._bar.total = total
        self._bar.update(done - self._bar.n)

    def _line(self, done: int, total: int, seconds_left: float | None) -> None:
        if time.monotonic() - self._last_line < LINE_SECONDS:
            return
        self._last_line = time.monotonic()
        left = f", about {seconds_left:.0f} s left" if seconds_left is not None else ""
        print(f"{done} of {total} chunks{left}", file=sys.stderr, flush=True)
