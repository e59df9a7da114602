"""Atomic replacement of a small file: whatever happens, the path holds all the old bytes or all the new ones."""

import contextlib
import os
import secrets
import stat
import sys
import time
from collections.abc import Callable
from pathlib import Path

from recall.core.errors import RecallError

#: Windows refuses to replace a file that a virus scanner or an editor has open: waits between the tries, in seconds.
_WINDOWS_WAITS = (0.02, 0.05, 0.1, 0.2, 0.4)


def replace_bytes(
    path: Path, data: bytes, mode: int | None = None, *, before_rename: Callable[[], None] | None = None
) -> None:
    """Make `data` the content of `path`, whose folder must exist.

    A symbolic link stays one: the file it leads to is replaced (people keep settings in a folder of dotfiles).
    Permissions become `mode`, else stay as they are, else are 0600; the owner stays where the system allows it.
    `before_rename` is called when only the rename is left; what it raises comes through. Any failure of the system
    is a RecallError. After either, the old bytes stand and nothing is left beside them.
    """
    target = Path(os.path.realpath(path))
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
    try:
        _write(temporary, data, mode, like=_stat(target))
        if before_rename is not None:
            before_rename()
        _rename(temporary, target)
    except OSError as error:
        raise RecallError(
            f"{path} was left as it was, because writing into {target.parent} failed "
            f"({error.strerror or error}); make room or mend the permissions, then try again"
        ) from error
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()
    _sync_folder(target.parent)


def _stat(target: Path) -> os.stat_result | None:
    """The file that is to be replaced, None when there is none yet."""
    try:
        found = target.stat()
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(found.st_mode):  # a link to /dev/null would otherwise cost root its /dev/null
        raise OSError(f"{target} is not a regular file")
    return found


def _write(temporary: Path, data: bytes, mode: int | None, like: os.stat_result | None) -> None:
    """Fill a new file with the owner and permissions it shall have, and see that the disk took the bytes."""
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    with os.fdopen(os.open(temporary, flags, 0o600), "r+b") as file:
        file.write(data)
        file.flush()
        if sys.platform != "win32":
            if like is not None:
                mode = stat.S_IMODE(like.st_mode) if mode is None else mode
                with contextlib.suppress(PermissionError):  # under sudo the person's file would become root's
                    os.fchown(file.fileno(), like.st_uid, like.st_gid)
            os.fchmod(file.fileno(), 0o600 if mode is None else mode)
        os.fsync(file.fileno())
        file.seek(0)
        if file.read() != data:
            raise OSError("the disk gave back other bytes than were written")


def _rename(temporary: Path, target: Path) -> None:
    for wait in _WINDOWS_WAITS if sys.platform == "win32" else ():
        try:
            temporary.replace(target)
        except PermissionError:
            time.sleep(wait)
        else:
            return
    temporary.replace(target)


def _sync_folder(folder: Path) -> None:
    """Bring the new name to the disk. Windows and some network disks cannot; the file is in place all the same."""
    if sys.platform == "win32":
        return
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
