"""Walk: the files below a folder that a reader wants, within bounds, found without following a link out of it.

One bad entry (unreadable, no file, no Unicode in its name) becomes one line under `skipped` and hides nothing else.
"""

import os
import stat
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path, PurePath

from recall.core.types import Skipped
from recall.sources.files import (
    MAX_NOTE_BYTES,
    NOT_UNICODE,
    is_inside,
    is_unicode,
    not_regular,
    printable,
    too_large,
    unreadable,
)

#: A folder of records has hundreds. One that was named by mistake (a home folder, a disk) must not cost minutes at
#: each look.
MAX_FILES, MAX_ENTRIES, MAX_DEPTH = 5_000, 50_000, 12
_IGNORED_FOLDERS = {"node_modules"}
#: Claude Code's own index of the notes, which it has loaded already when a session starts.
_INDEX = "memory.md"

Wanted = Callable[[str], bool]


@dataclass(slots=True)
class Walk:
    """Files with their status, in order of their paths, and what was left out."""

    files: list[tuple[str, os.stat_result]] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)

    def skip(self, path: str, reason: str) -> None:
        self.skipped.append(Skipped(printable(path), reason))


def walk_tree(
    root: str, wanted: Wanted, *, max_files: int = MAX_FILES, max_entries: int = MAX_ENTRIES, max_depth: int = MAX_DEPTH
) -> Walk:
    """Every file below `root` (which may be a link itself) that is `wanted`, asked by its path from there, with `/`.

    A missing root has none. Hidden entries, `node_modules` and what lies deeper than `max_depth` folders are left out
    without a line. Beyond `max_files` or `max_entries` nothing more is looked at, and one line says so. A link that
    leads out of the root is skipped; one that stays inside leads to what is found anyway, unless the file has another
    ending.
    """
    walk = Walk()
    links: list[tuple[str, str]] = []
    folders = [("", root, 0)]
    entries = 0
    while folders:
        place, folder, depth = folders.pop()
        below: list[tuple[str, str, int]] = []
        for name, path in _entries(folder, walk, may_be_missing=depth == 0):
            entries += 1
            if entries > max_entries or len(walk.files) >= max_files:
                folders.clear()
                below.clear()
                # By what lies in it: what is stored below a skipped folder itself is kept, and this is to go.
                walk.skip(str(Path(root, "**")), f"is too much to search: only {len(walk.files):,} files are read")
                break
            try:
                status = os.lstat(path)
            except OSError as error:
                walk.skip(path, unreadable(error))
                continue
            if stat.S_ISLNK(status.st_mode):
                links.append((place + name, path))
            elif not stat.S_ISDIR(status.st_mode):
                if wanted(place + name):
                    _take(path, status, walk)
            elif name.lower() not in _IGNORED_FOLDERS and depth < max_depth:
                below.append((f"{place}{name}/", path, depth + 1))
        folders += reversed(below)
    real_root = os.path.realpath(root) if links else root
    for place, link in links:
        _look_behind(link, place, real_root, wanted, walk)
    walk.files.sort()
    return walk


def walk_notes(root: str) -> Walk:
    """Every memory note below `root`: all `.md` files but MEMORY.md."""
    return walk_tree(root, lambda place: place.lower().endswith(".md") and PurePath(place).name.lower() != _INDEX)


def _entries(folder: str, walk: Walk, may_be_missing: bool) -> list[tuple[str, str]]:
    """Name and path of what may be or hold a record, in order of names."""
    found = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.startswith("."):
                    continue
                if is_unicode(entry.name):
                    found.append((entry.name, entry.path))
                else:
                    walk.skip(entry.path, NOT_UNICODE)
    except OSError as error:
        if not (may_be_missing and isinstance(error, FileNotFoundError | NotADirectoryError)):
            walk.skip(folder, unreadable(error))
    return sorted(found)


def _take(path: str, status: os.stat_result, walk: Walk) -> None:
    """Keep the file, or say why not."""
    if not stat.S_ISREG(status.st_mode):
        walk.skip(path, not_regular(status.st_mode))
    elif status.st_size > MAX_NOTE_BYTES:
        walk.skip(path, too_large(MAX_NOTE_BYTES))
    elif status.st_size == 0:
        walk.skip(path, "is empty")
    else:
        walk.files.append((path, status))


def _look_behind(link: str, place: str, real_root: str, wanted: Wanted, walk: Walk) -> None:
    """Keep the file that a link leads to, under its own path, so that reading it needs no link."""
    try:
        target = Path(os.path.realpath(link))
        status = target.lstat()
    except OSError:
        if wanted(place):
            walk.skip(link, "is a link that leads nowhere")
        return
    is_folder = stat.S_ISDIR(status.st_mode)
    if not is_inside(str(target), real_root):
        if is_folder or wanted(place):
            walk.skip(link, f"is a link that leads out of {printable(real_root)}: not followed")
    elif not is_folder and wanted(place) and wanted(_place_behind(target, real_root, link)):
        _take(str(target), status, walk)


def _place_behind(target: Path, real_root: str, link: str) -> str:
    """A target's place, with the ending of the link, which says what kind of file it is (a note kept as `.txt`)."""
    return target.relative_to(real_root).with_suffix(Path(link).suffix).as_posix()
