"""The files of the state folder, opened without ever waiting for them.

A named pipe in the place of a file blocks whoever opens it for as long as nobody sits at its other end. One such file
would keep a daemon silent, and deaf to `recall stop`. Everything that is read or appended to there is opened here.
"""

import errno
import os
import stat

#: Windows has none of the last three.
_FLAGS = (
    getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
)
_KINDS = {
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFDIR: "a folder",
}


class NotAFile(OSError):
    """Something else stands in the place of a file; `str(error)` is the sentence for the person."""

    def __init__(self, path: str | os.PathLike[str], mode: int) -> None:
        kind = _KINDS.get(stat.S_IFMT(mode), "something else")
        super().__init__(errno.EINVAL, f"expected a file, found {kind}; take it away", os.fspath(path))

    def __str__(self) -> str:
        return f"{self.filename}: {self.strerror}"


def open_file(path: str | os.PathLike[str], flags: int = os.O_RDONLY, mode: int = 0o600) -> int:
    """A handle of a regular file, as os.open gives it, at once. Raises NotAFile for anything else, OSError."""
    try:
        handle = os.open(path, flags | _FLAGS, mode)
    except OSError:
        require_file(path)  # a folder and a socket cannot be opened, nor a pipe be written that nobody reads
        raise
    found = os.fstat(handle).st_mode
    if not stat.S_ISREG(found):
        os.close(handle)
        raise NotAFile(path, found)
    return handle


def read_file(path: str | os.PathLike[str]) -> bytes:
    """All bytes of a regular file. Raises NotAFile for anything else, OSError."""
    with os.fdopen(open_file(path), "rb") as file:
        return file.read()


def require_file(path: str | os.PathLike[str]) -> None:
    """Raise NotAFile where something else than a file stands at `path`; nothing where nobody can tell, or none is."""
    try:
        found = os.stat(path).st_mode
    except OSError:
        return
    if not stat.S_ISREG(found):
        raise NotAFile(path, found)
