"""What may go: old versions that nobody uses, and what killed installations have left."""

import contextlib
import shutil
from collections.abc import Collection
from pathlib import Path

import psutil

from recall.install.in_use import is_in_use, lock_path
from recall.install.place import FRESH, Place

#: How a folder is called while it is being removed: nobody takes the rest of it for a version.
_GOING = ".old-"


def superfluous(names: Collection[str], kept: Collection[str | None], used: Collection[str]) -> list[str]:
    """The versions that may go: neither kept (the current one, and the one before it, to go back to) nor in use. A pure
    decision."""
    return sorted(set(names) - {name for name in kept if name} - set(used))


def clean_up(place: Place, kept: Collection[str | None]) -> list[str]:
    """Remove what may go; the names of the versions that went. What the disk refuses stays for the next time."""
    remove_leftovers(place)
    names = place.names()
    gone = superfluous(names, kept, [name for name in names if is_in_use(place, name)])
    return [name for name in gone if remove_version(place, name)]


def remove_version(place: Place, name: str) -> bool:
    """Remove a version; whether it is gone. Windows keeps one whose program runs."""
    going = place.versions / f"{_GOING}{name}"
    shutil.rmtree(going, ignore_errors=True)
    try:
        place.folder(name).rename(going)
    except OSError:
        return False
    shutil.rmtree(going, ignore_errors=True)
    with contextlib.suppress(OSError):
        lock_path(place, name).unlink()
    return True


def remove_leftovers(place: Place) -> None:
    """Remove half-filled folders whose process is gone, and half-removed ones."""
    for folder in _entries(place):
        digits = folder.name.removeprefix(FRESH)
        dead = folder.name.startswith(FRESH) and not (digits.isdecimal() and psutil.pid_exists(int(digits)))
        if dead or folder.name.startswith(_GOING):
            shutil.rmtree(folder, ignore_errors=True)


def _entries(place: Place) -> list[Path]:
    try:
        return list(place.versions.iterdir())
    except OSError:
        return []
