"""A file that people and commands may change while the daemon runs: config.toml, gates.toml, mutes.json."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

from recall.core.errors import RecallError

Value = TypeVar("Value")


class Live(Generic[Value]):
    """What the file says now: `current()` costs one `stat` where it has not changed.

    A file that cannot be used leaves the last good value, at first `usual`; `problem` is the sentence about it, else
    empty.
    """

    def __init__(self, path: str, read: Callable[[Path], Value], usual: Value) -> None:
        """`read` also takes a path where no file is; it raises RecallError for a file that cannot be used."""
        self.problem = ""
        self._path = path
        self._read = read
        self._seen: tuple[int, int, int] | str | None = "never"
        self._value = usual

    def current(self) -> Value:
        seen = version_of(self._path)
        if seen != self._seen:
            self._seen = seen
            try:
                self._value = self._read(Path(self._path))
                self.problem = ""
            except RecallError as error:
                self.problem = str(error)
        return self._value


def version_of(path: str) -> tuple[int, int, int] | None:
    """What tells one version of a file from another: size, time and the file's number; None without a file."""
    try:
        state = os.stat(path)  # noqa: PTH116
    except OSError:
        return None
    return state.st_size, state.st_mtime_ns, state.st_ino
