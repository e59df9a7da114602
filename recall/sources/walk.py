"""Walk: the Markdown notes below a folder, found without following a link out of it.

One bad entry (unreadable, no file, no Unicode in its name) becomes one line under `skipped` and hides nothing else.
"""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

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

_SUFFIX = ".md"
#: Claude Code's own index of the notes, which it has loaded already when a session starts.
_INDEX = "memory.md"
_IGNORED_FOLDERS = {"node_modules"}


@dataclass(slots=True)
class Walk:
    """Note files with their status, in order of their paths, and what was left out."""

    files: list[tuple[str, os.stat_result]] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)

    def skip(self, path: str, reason: str) -> None:
        self.skipped.append(Skipped(printable(path), reason))


def walk_notes(root: str) -> Walk:
    """Every `.md` file below `root`, which may be a link itself; a missing root has none.

    MEMORY.md, hidden entries and `node_modules` are left out without a line. Links are looked at last: one that leads
    out of the root is skipped, one that stays inside leads to what is found anyway, unless the file has another name.
    """
    walk = Walk()
    links: list[str] = []
    folders = [root]
    while folders:
        folder = folders.pop()
        for name, path in _entries(folder, walk, may_be_missing=folder == root):
            try:
                status = os.lstat(path)
            except OSError as error:
                walk.skip(path, unreadable(error))
                continue
            if stat.S_ISLNK(status.st_mode):
                links.append(path)
            elif stat.S_ISDIR(status.st_mode):
                folders.append(path)
            elif name.endswith(_SUFFIX):
                _take(path, status, walk)
    real_root = os.path.realpath(root) if links else root
    for link in sorted(links):
        _look_behind(link, real_root, walk)
    walk.files.sort()
    return walk


def _entries(folder: str, walk: Walk, may_be_missing: bool) -> Iterator[tuple[str, str]]:
    """Lower-case name and path of what may be or hold a note."""
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                name = entry.name.lower()
                if name.startswith(".") or name == _INDEX or name in _IGNORED_FOLDERS:
                    continue
                if is_unicode(name):
                    yield name, entry.path
                else:
                    walk.skip(entry.path, NOT_UNICODE)
    except OSError as error:
        if not (may_be_missing and isinstance(error, FileNotFoundError | NotADirectoryError)):
            walk.skip(folder, unreadable(error))


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


def _look_behind(link: str, real_root: str, walk: Walk) -> None:
    """Keep the file that a link leads to, under its own path, so that reading it needs no link."""
    is_note = link.lower().endswith(_SUFFIX)
    target = Path(os.path.realpath(link))
    try:
        status = target.lstat()
    except OSError:
        if is_note:
            walk.skip(link, "is a link that leads nowhere")
        return
    is_folder = stat.S_ISDIR(status.st_mode)
    if not is_inside(str(target), real_root):
        if is_note or is_folder:
            walk.skip(link, f"is a link that leads out of {printable(real_root)}: not followed")
    elif is_note and not is_folder and target.name.lower() != _INDEX:
        _take(str(target), status, walk)
