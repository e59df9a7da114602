"""What a scan means for the index: a pure comparison of what is stored with what was found."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from recall.core.types import FoundFile
from recall.store.entries import Stored

#: A file changed so shortly before the scan (nanoseconds) can change again without its time showing it: FAT counts in
#: 2 s, ext4 in clock ticks. Git calls such entries "racily clean" and reads them again, as we do.
RACY_NS = 2_000_000_000


@dataclass(frozen=True, slots=True)
class Plan:
    """`new` and `maybe_changed` files are to be read, `removed` paths go, `unchanged` ones are left alone."""

    new: list[FoundFile]
    maybe_changed: list[FoundFile]
    unchanged: list[FoundFile]
    removed: list[str]


def plan(stored: Mapping[str, Stored], found: Sequence[FoundFile], unreadable: Sequence[str]) -> Plan:
    """Compare the files of one kind; a path that was found twice counts once.

    Size and time decide whether a file needs a look, and so does a record that has lost its project or lacks vectors.
    `unreadable` are the paths that the scan could not look at: what is stored *below* one is kept, for a folder
    without permission or on a disk that is not there would otherwise empty the index. A path that is itself listed is
    a file that is no record any more, and goes.
    """
    files = {file.path: file for file in found}
    new, maybe_changed, unchanged = [], [], []
    for path, file in files.items():
        known = stored.get(path)
        if known is None:
            new.append(file)
        elif known == Stored(file.project, file.size, file.mtime_ns, complete=True):
            unchanged.append(file)
        else:
            maybe_changed.append(file)
    removed = [path for path in stored if path not in files and not _below_any(path, unreadable)]
    return Plan(new, maybe_changed, unchanged, removed)


def trusted_mtime(mtime_ns: int, scanned_ns: int) -> int | None:
    """The file's time as it may be stored, None when it is too close to the scan's beginning, or after it."""
    return mtime_ns if mtime_ns < scanned_ns - RACY_NS else None


def seconds_left(seconds: float, done: int, total: int) -> float | None:
    """How long the rest takes at the pace so far; None before the first piece is done."""
    return seconds / done * (total - done) if done else None


def _below_any(path: str, folders: Sequence[str]) -> bool:
    return any(path.startswith(folder.rstrip(os.sep) + os.sep) for folder in folders)
