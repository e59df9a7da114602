"""The daemon's log, which cannot hold a person's text: an event is a fixed word with numbers and short plain words.

Messages of exceptions are never written, for they quote what they failed on; their class and place in our code are.
"""

import contextlib
import os
import re
import threading
import time
from pathlib import Path

from recall.wire.files import open_file

#: A log beyond this size (bytes) is cut to its newer half when the next line is written.
MAX_BYTES = 1_000_000

_PLAIN = re.compile(r"[A-Za-z0-9_.:/+-]{1,64}\Z")


class Log:
    """Appends lines `2026-08-14T09:30:00 event key=value ...` to one file, 0600. Failures to write are swallowed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()

    def event(self, name: str, /, **values: int | float | str | bool | None) -> None:
        """Write one line. A text that is not a short plain word is written as `?`."""
        words = [f"{key}={_word(value)}" for key, value in values.items()]
        self._write(" ".join([time.strftime("%Y-%m-%dT%H:%M:%S"), _word(name), *words]))

    def failure(self, name: str, error: BaseException) -> None:
        """Write where an unexpected error arose: its class and the innermost lines of code, not its message."""
        self.event(name, error=type(error).__name__, at=place_of(error))

    def _write(self, line: str) -> None:
        with self._lock, contextlib.suppress(OSError):  # a full disk must not stop an answer
            append(self._path, line.encode("ascii", "replace"))


def place_of(error: BaseException) -> str:
    """The innermost lines of code that an error passed, as `file.py:12/other.py:7`."""
    frames, trace = [], error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        frames.append(f"{os.path.basename(code.co_filename)}:{trace.tb_lineno}")  # noqa: PTH119
        trace = trace.tb_next
    return "/".join(frames[-3:])[-64:] or "?"


def append(path: Path, line: bytes) -> None:
    """Add a line to a file of ours, 0600, which is cut when it grew beyond MAX_BYTES. Raises OSError."""
    trim(path, MAX_BYTES)
    handle = open_file(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    try:
        os.write(handle, line + b"\n")
    finally:
        os.close(handle)


def trim(path: Path, limit: int) -> None:
    """Cut a line-based file that grew beyond `limit` bytes to its newer half, by a rename."""
    try:
        if path.stat().st_size <= limit:
            return
    except FileNotFoundError:
        return
    with os.fdopen(open_file(path), "rb") as file:
        file.seek(-limit // 2, os.SEEK_END)
        file.readline()
        rest = file.read()
    fresh = path.with_name(path.name + ".new")
    handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(rest)
    fresh.replace(path)


def _word(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.3f}"
    text = str(value)
    return text if _PLAIN.match(text) else "?"
