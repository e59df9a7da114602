"""A damaged index is set aside, so that a new one can be built while the old one lies there to be looked at.

Only the newest is kept: a damaged file still holds the names of notes that have since been removed.
"""

import re
from datetime import UTC, datetime
from pathlib import Path

from recall.core.errors import StoreError

#: SQLite's files beside the main one. They go with it, or they would be taken for those of the new index.
_COMPANIONS = ("-wal", "-shm")
_TIME = "%Y%m%dT%H%M%SZ"


def set_aside(path: Path) -> Path:
    """Rename the index to `<path>.damaged-<UTC time>`, drop an older damaged one, and return the new place.

    The caller holds `index.lock`. Readers that have the file open keep it until they ask `Reader.version`.
    """
    place = path.with_name(f"{path.name}.damaged-{datetime.now(UTC).strftime(_TIME)}")
    try:
        for older in damaged_files(path):
            for name in (older.name, *(older.name + end for end in _COMPANIONS)):
                older.with_name(name).unlink(missing_ok=True)
        for end in _COMPANIONS:
            if (companion := path.with_name(path.name + end)).exists():
                companion.replace(place.with_name(place.name + end))
        path.replace(place)
    except OSError as error:
        raise StoreError(
            f"the index {path} is damaged and cannot be set aside ({error.strerror}); delete it by hand, then run "
            "`recall index`"
        ) from error
    return place


def damaged_files(path: Path) -> list[Path]:
    """The indexes that were set aside, the newest last. Empty again once the person has deleted them."""
    name = re.compile(re.escape(path.name) + r"\.damaged-\d{8}T\d{6}Z")
    try:
        return sorted(entry for entry in path.parent.iterdir() if name.fullmatch(entry.name))
    except OSError:  # no state folder yet
        return []
