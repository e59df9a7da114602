"""Files of other programs: read within a limit, and without ever waiting for them.

A folder of notes may hold a named pipe that blocks its reader for ever, or a link put in the place of a file after
the look at it. Everything that recall reads from Claude's folders and from repositories is opened here.
"""

import os
import stat

from recall.core.errors import SourceError

#: The largest file that is read as a note. The largest of 355 public notes has 27 KB; a file of this size would be
#: searched in its first 6 chunks only.
MAX_NOTE_BYTES = 1024 * 1024

#: The reason for an entry whose name can be neither stored nor shown.
NOT_UNICODE = "has a name that is not Unicode: rename it"

#: Windows has none of the last three.
_OPEN_FLAGS = (
    os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)
) | getattr(os, "O_NOCTTY", 0)
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
_FILE_TYPES = {
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFDIR: "a folder",
    stat.S_IFLNK: "a link",
}


def read_bytes(path: str, limit: int, *, follow: bool = False) -> bytes:
    """The bytes of a regular file, at most `limit`; SourceError, as a reason to print, for anything else.

    A link at the end of the path is opened only with `follow`.
    """
    data = read_part(path, limit + 1, follow=follow)
    if len(data) > limit:
        raise SourceError(too_large(limit))
    return data


def read_part(path: str, length: int, *, from_end: bool = False, follow: bool = False) -> bytes:
    """The first (or last) `length` bytes of a regular file, all of a shorter one; errors as `read_bytes`."""
    try:
        handle = os.open(path, _OPEN_FLAGS | (0 if follow else _NO_FOLLOW))
        with os.fdopen(handle, "rb", buffering=0) as file:
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode):
                raise SourceError(not_regular(status.st_mode))
            if from_end and status.st_size > length:
                file.seek(-length, os.SEEK_END)
            parts: list[bytes] = []
            while length > 0 and (part := file.read(length)):
                parts.append(part)
                length -= len(part)
            return b"".join(parts)
    except (OSError, ValueError) as error:
        raise SourceError(unreadable(error)) from None


def is_inside(path: str, folder: str) -> bool:
    """Whether a real path is this real folder or lies below it."""
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def is_unicode(path: str) -> bool:
    """Whether a path can be stored and shown: bytes of another encoding come as lone surrogates."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def printable(path: str) -> str:
    """A path for a message: bytes that are no Unicode become replacement characters."""
    return path if is_unicode(path) else path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def unreadable(error: OSError | ValueError) -> str:
    """The reason for an entry that the system does not let us read. The path stands beside it."""
    return f"cannot be read ({error.strerror if isinstance(error, OSError) else 'a path with a zero byte'})"


def not_regular(mode: int) -> str:
    """The reason for an entry that is no file."""
    return f"is {_FILE_TYPES.get(stat.S_IFMT(mode), 'something else')}, not a file"


def too_large(limit: int) -> str:
    """The reason for a file that is longer than `limit` bytes."""
    return f"is larger than {limit // 1024:,} KiB, the most that is read of a note: split it"
