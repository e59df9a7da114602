"""The disk that models are written to: whether it has room, and what it refuses, as one sentence with what to do."""

import errno
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from recall.core.errors import ModelError

#: Bytes that stay free on the disk: the index grows with the vectors of a new model.
MARGIN = 200_000_000

_FULL = (errno.ENOSPC, errno.EDQUOT)
_READ_ONLY = (errno.EACCES, errno.EPERM, errno.EROFS)


def free_bytes(folder: Path) -> int:
    """What this account may still write where `folder` is or would be made."""
    return shutil.disk_usage(next(place for place in (folder, *folder.parents) if place.exists())).free


def check_space(name: str, needed: int, free: int) -> None:
    """Raises ModelError unless `needed` bytes fit into `free` ones with the margin."""
    if needed and needed + MARGIN > free:
        raise ModelError(
            f"{name} needs {needed / 1e6:.0f} MB, and {MARGIN / 1e6:.0f} MB should stay free, but the disk has only "
            f"{free / 1e6:.0f} MB left; make room or use another state folder."
        )


@contextmanager
def disk_errors(command: str, folder: Path) -> Iterator[None]:
    """Turn what the disk refuses below `folder` into a ModelError with the `command` that goes on after that."""
    try:
        yield
    except OSError as error:
        again = f"`{command}` goes on where it stopped"
        if error.errno in _FULL:
            raise ModelError(f"The disk that holds {folder} is full; make room, then {again}.") from None
        if error.errno == errno.EFBIG:
            raise ModelError(
                f"The disk that holds {folder} or the limit of this account takes no files of that size; use another "
                f"state folder, or lift the limit (`ulimit -f`), then {again}."
            ) from None
        if error.errno in _READ_ONLY:
            raise ModelError(
                f"{error.filename or folder} cannot be written ({error.strerror}); it should be yours to write: mend "
                "its permissions, or use another state folder."
            ) from None
        raise
