"""Lines: a file that another program appends to, read line by line from any offset in bounded memory."""

import hashlib
import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO

from recall.core.errors import SourceError
from recall.sources.files import not_regular, unreadable

#: Longer lines are passed over without being held in memory. A prompt with a picture of 5 MB, the largest that the
#: API takes, has 6.7 MB as base64.
MAX_LINE_BYTES = 8 * 1024 * 1024
_BLOCK_BYTES = 1024 * 1024
#: How much of the beginning of a file, and of what was read last, tells whether it still is the file that was read.
_FINGERPRINT_BYTES = 4096
#: Windows has none but the first two; a named pipe in the place of a file must not block its reader.
_FLAGS = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)


@dataclass(frozen=True, slots=True)
class Line:
    """One line with its place in the file; `end` lies behind its newline.

    `data` is without the newline. `whole` is False for the last line while its newline is still to come. Of a line
    that is too long `data` holds the first MAX_LINE_BYTES.
    """

    start: int
    end: int
    data: bytes
    whole: bool
    too_long: bool


class Lines:
    """An open file. Reading lines and taking fingerprints do not disturb each other."""

    def __init__(self, file: BinaryIO, probe: BinaryIO) -> None:
        self._file = file
        self._probe = probe

    def read(self, start: int) -> Iterator[Line]:
        """The lines from an offset, which is the start of a line, to the end of what is there now."""
        self._file.seek(start)
        while data := self._file.readline(MAX_LINE_BYTES):
            end, tail = start + len(data), data
            too_long = len(data) == MAX_LINE_BYTES and not data.endswith(b"\n")
            while too_long and not tail.endswith(b"\n") and (tail := self._file.readline(_BLOCK_BYTES)):
                end += len(tail)
            whole = tail.endswith(b"\n")
            yield Line(start, end, data.removesuffix(b"\n"), whole, too_long)
            if not whole:
                return  # what comes next would be the other half of this line
            start = end

    def fingerprint(self, offset: int) -> str | None:
        """A digest of what stands at the beginning and right before an offset.

        None where the file is shorter, or fails just now.
        """
        digest = hashlib.sha256()
        try:
            for start in (0, max(0, offset - _FINGERPRINT_BYTES)):
                length = min(_FINGERPRINT_BYTES, offset - start)
                self._probe.seek(start)
                part = self._probe.read(length)
                if len(part) < length:
                    return None
                digest.update(part)
        except OSError:
            return None
        return digest.hexdigest()


@contextmanager
def open_lines(path: str) -> Iterator[Lines]:
    """A regular file to read lines from, links followed. SourceError, as a reason to print, for anything else.

    What the system refuses while the file is open becomes a SourceError too.
    """
    try:
        with (
            open(path, "rb", buffering=_BLOCK_BYTES, opener=_open) as file,
            open(path, "rb", buffering=0, opener=_open) as probe,
        ):
            yield Lines(file, probe)
    except OSError as error:
        raise SourceError(unreadable(error)) from None


def _open(path: str, _: int) -> int:
    handle = os.open(path, _FLAGS)
    mode = os.fstat(handle).st_mode
    if not stat.S_ISREG(mode):
        os.close(handle)
        raise SourceError(not_regular(mode))
    return handle


def json_object(line: bytes | str) -> dict[str, Any] | None:
    """The JSON object that a line holds; None for a damaged line, one nested too deep, and any other value."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
