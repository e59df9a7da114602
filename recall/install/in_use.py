"""Which versions are in use: each process of an installed program but the hook holds its version's file.

The system lets go of it when the process ends, however it ends. A hook lives for some milliseconds and holds nothing.
"""

import contextlib
from pathlib import Path

from recall.install.place import Place
from recall.wire.lock import HeldLock


def lock_path(place: Place, name: str) -> Path:
    """The file that says so; outside of the version's folder, which stays as it was packed."""
    return place.versions / f".{name}.lock"


def hold(place: Place, name: str) -> None:
    """Hold a version for as long as this process lives. Where the disk does not let us we run all the same."""
    with contextlib.suppress(OSError):
        HeldLock.share(lock_path(place, name))


def is_in_use(place: Place, name: str) -> bool:
    """Whether a process runs from this version, as far as can be seen."""
    try:
        return HeldLock.is_shared(lock_path(place, name))
    except OSError:
        return True  # better one version too many than one that is missed
