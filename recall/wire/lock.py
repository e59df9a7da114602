"""A lock that the system holds for a process: the only truth about whether that process is alive.

The kernel gives it back when the process ends, however it ends. So the file is never deleted and never judged by its
age or content. Its time of change says when the lock was last taken, and a holder may write its number into it: that
only tells whose process it is while the lock is held.
"""

import errno
import os
import sys
import time
from collections.abc import Callable

from recall.wire.files import open_file

#: Between two tries of `wait`, in seconds: short beside a daemon's start, long beside a system call.
POLL_SECONDS = 0.02

#: A lock that only others' questions keep from us is free within microseconds; so often, 1 ms apart, we try again.
_TRIES = 50

if sys.platform == "win32":
    import ctypes
    import msvcrt
    from ctypes import wintypes

    # The library's msvcrt.locking knows no shared locks: a question would look like a holder.
    _SHARED, _ALONE, _AT_ONCE = 0, 2, 1  # LOCKFILE_EXCLUSIVE_LOCK, LOCKFILE_FAIL_IMMEDIATELY
    _HELD = (33, 997)  # ERROR_LOCK_VIOLATION, ERROR_IO_PENDING
    _kernel32 = ctypes.WinDLL("kernel32", use_last_error=True)

    class _Start(ctypes.Structure):
        """OVERLAPPED, all zero: the lock is on the file's first byte."""

        _fields_ = (
            ("internal", ctypes.c_size_t), ("internal_high", ctypes.c_size_t),
            ("offset", wintypes.DWORD), ("offset_high", wintypes.DWORD), ("event", wintypes.HANDLE),
        )  # fmt: skip

    def _lock(handle: int, kind: int) -> bool:
        file = wintypes.HANDLE(msvcrt.get_osfhandle(handle))
        if _kernel32.LockFileEx(file, kind | _AT_ONCE, 0, 1, 0, ctypes.byref(_Start())):
            return True
        if (code := ctypes.get_last_error()) not in _HELD:
            raise ctypes.WinError(code)
        return False

    def _give_back(handle: int) -> None:
        file = wintypes.HANDLE(msvcrt.get_osfhandle(handle))
        _kernel32.UnlockFileEx(file, 0, 1, 0, ctypes.byref(_Start()))
else:
    import fcntl

    _SHARED, _ALONE = fcntl.LOCK_SH, fcntl.LOCK_EX

    def _lock(handle: int, kind: int) -> bool:
        try:
            fcntl.flock(handle, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _give_back(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_UN)


def _take(handle: int) -> bool:
    return _lock(handle, _ALONE)


def _ask(handle: int) -> bool:
    # Shared, so that whoever tries to take the lock at this moment can tell a question from a holder.
    return _lock(handle, _SHARED)


def _is_only_asked(handle: int) -> bool:
    asked = _ask(handle)
    if asked:
        _give_back(handle)
    return asked


def same_file(path: str | os.PathLike[str], state: os.stat_result) -> bool:
    """Whether what stands at `path` now is the file of `state`."""
    try:
        found = os.stat(path)
    except OSError:
        return False
    return (found.st_dev, found.st_ino) == (state.st_dev, state.st_ino)


class HeldLock:
    """A lock that this process holds until `release`, the end of the `with` block, or its own end.

    Made by `acquire` or `wait`. Child processes do not inherit it.
    """

    def __init__(self, handle: int, path: str | os.PathLike[str]) -> None:
        self._handle = handle
        self._path = path

    @classmethod
    def acquire(cls, path: str | os.PathLike[str]) -> "HeldLock | None":
        """Take the lock on `path`, or None at once when somebody holds it.

        The file is made, 0600, when missing (its folder must exist) and its time of change set to now. Raises OSError
        where the file cannot be opened for writing.
        """
        handle = open_file(path, os.O_RDWR | os.O_CREAT)
        try:
            for _ in range(_TRIES):
                if _take(handle):
                    os.utime(path)
                    return cls(handle, path)
                if not _is_only_asked(handle):
                    break
                time.sleep(0.001)
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)
        return None

    @classmethod
    def wait(cls, path: str | os.PathLike[str], seconds: float) -> "HeldLock | None":
        """Like `acquire`, but tries for `seconds` before it gives up."""
        deadline = time.monotonic() + seconds
        while (lock := cls.acquire(path)) is None and time.monotonic() < deadline:
            time.sleep(POLL_SECONDS)
        return lock

    @classmethod
    def share(cls, path: str | os.PathLike[str]) -> "HeldLock | None":
        """Hold the lock on `path` together with others that share it; None when somebody holds it alone. Raises
        OSError."""
        handle = open_file(path, os.O_RDWR | os.O_CREAT)
        if _ask(handle):
            return cls(handle, path)
        os.close(handle)
        return None

    @staticmethod
    def is_shared(path: str | os.PathLike[str]) -> bool:
        """Whether somebody holds the lock on `path`, alone or together with others."""
        return not _could(_take, path)

    @staticmethod
    def is_held(path: str | os.PathLike[str]) -> bool:
        """Whether some process (this one too) holds the lock on `path` alone. A missing file is not made and not
        held."""
        return not _could(_ask, path)

    def is_in_place(self) -> bool:
        """Whether the file at the path is still the one that is locked; if not, others can no longer see the lock."""
        return same_file(self._path, os.fstat(self._handle))

    def sign(self) -> None:
        """Write the number of this process into the file, for `holder`. Raises OSError."""
        os.truncate(self._handle, 0)
        os.lseek(self._handle, 0, os.SEEK_SET)
        os.write(self._handle, b"\n%d\n" % os.getpid())  # Windows lets nobody else read the first, locked, byte

    def release(self) -> None:
        """Give the lock back. A second call does nothing."""
        handle, self._handle = self._handle, -1
        if handle >= 0:
            _give_back(handle)  # closing is not enough: a child between fork and exec still has a copy of the handle
            os.close(handle)

    def __enter__(self) -> "HeldLock":
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def holder(path: str | os.PathLike[str]) -> int | None:
    """The process that signed the lock last, None where none did. It holds it only if the lock is held."""
    try:
        handle = open_file(path)
        try:
            os.lseek(handle, 1, os.SEEK_SET)
            digits = os.read(handle, 32).strip()
        finally:
            os.close(handle)
    except OSError:
        return None
    return int(digits) if digits.isdigit() else None


def _could(lock: Callable[[int], bool], path: str | os.PathLike[str]) -> bool:
    """Whether a lock could be had at this moment; it is given back at once. On a disk that became read-only too."""
    try:
        try:
            handle = open_file(path, os.O_RDWR)
        except OSError as error:
            if error.errno not in (errno.EROFS, errno.EACCES, errno.EPERM):
                raise
            handle = open_file(path)
    except FileNotFoundError:
        return True
    try:
        free = lock(handle)
        if free:
            _give_back(handle)
        return free
    finally:
        os.close(handle)
