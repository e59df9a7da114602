"""The state folder: who can read it, whether it can be written, the disk below it, and times that cannot be."""

import os
import shutil
import stat
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import psutil

from recall.core.errors import RecallError
from recall.daemon.journal import AHEAD_SECONDS
from recall.doctor.case import Case, Finding
from recall.setup.purge import NAMES
from recall.wire.files import NotAFile, require_file
from recall.wire.paths import make_private_folder

#: File systems on which neither SQLite's WAL (sqlite.org/wal.html: "does not work over a network filesystem") nor the
#: locks that tell whether a daemon lives can be relied on; names as mount(8) and psutil give them.
NETWORK = frozenset(
    "nfs nfs4 cifs smb smb3 smbfs afpfs ncpfs webdav davfs fuse.sshfs fuse.rclone fuse.s3fs 9p afs ceph "
    "glusterfs fuse.glusterfs lustre beegfs gpfs drvfs".split()
)
#: Bytes that an index needs beside itself: a damaged one is kept while the new one is built, an old format is copied.
MARGIN = 50_000_000
#: What models are made of is public, and their folders come with the modes that they were copied with.
_PUBLIC = ("models",)


def permissions(case: Case) -> Iterator[Finding]:
    """Whether the person alone can read the state folder, and can write it."""
    home = case.home
    if sys.platform == "win32":
        from recall.wire import access  # noqa: PLC0415

        if access.is_private(str(home)):
            yield Finding("permissions", "ok", "ok", f"only you can read {home}")
        else:
            yield _open_folder(home)
        return
    found = home.stat()
    if found.st_uid != os.geteuid():
        owner = f"{home} belongs to another user (number {found.st_uid})"
        yield Finding("permissions", "problem", "owner", owner, "take it over (chown), or use another with --home")
        return
    findings = list(_modes(home, found.st_mode))
    yield from findings or [Finding("permissions", "ok", "ok", f"only you can read {home}")]


def _modes(home: Path, mode: int) -> Iterator[Finding]:
    if mode & 0o077:
        yield _open_folder(home)
    if mode & 0o700 != 0o700:
        found = f"{home} has the mode {stat.S_IMODE(mode):04o}: you cannot write into it"

        def allow() -> str:
            home.chmod(0o700)
            return "gave it the mode 0700"

        yield Finding("permissions", "problem", "read-only", found, f"chmod 700 {home}", allow)
    elif read_only(home):
        found = f"the disk that holds {home} is read-only"
        yield Finding("permissions", "problem", "read-only-disk", found, "use a state folder on another disk")
    if mode & 0o500 == 0o500 and (loose := loose_files(home)):
        found = f"files in {home} that others may read: {len(loose)}, {loose[0].name} among them"

        def close() -> str:
            for path in loose_files(home):
                path.chmod(path.stat().st_mode & 0o700)
            return "took the others' rights away"

        yield Finding("permissions", "note", "open-files", found, "chmod go-rwx", close, {"files": len(loose)})


def _open_folder(home: Path) -> Finding:
    def close() -> str:
        make_private_folder(str(home))
        return "took the others' rights away"

    return Finding("permissions", "problem", "open", f"others can read {home}", f"chmod 700 {home}", close)


def read_only(folder: Path) -> bool:
    """Whether the disk takes no writes."""
    return sys.platform != "win32" and bool(os.statvfs(folder).f_flag & os.ST_RDONLY)


def loose_files(home: Path) -> list[Path]:
    """What recall has written into the state folder and others have a right to. Links are not followed."""
    found = []
    for pattern in NAMES:
        for top in home.glob(pattern):
            if top.name in _PUBLIC or top.is_symlink():
                continue
            inside = [path for path in top.rglob("*") if not path.is_symlink()] if top.is_dir() else []
            found += [path for path in (top, *inside) if not stat.S_ISSOCK(path.lstat().st_mode)]
    return [path for path in dict.fromkeys(found) if path.lstat().st_mode & 0o077]


def disk(case: Case) -> Iterator[Finding]:
    """Whether there is room, on a disk that knows locks."""
    index = Path(case.paths.index)
    size = index.stat().st_size if index.is_file() else 0
    free = shutil.disk_usage(case.home).free
    kind = file_system(case.home)
    yield from judge_disk(case.home, free, size, kind)


def judge_disk(home: Path, free: int, index: int, kind: str) -> list[Finding]:
    """The findings about a disk with so many bytes `free` and an index of so many. A pure decision."""
    found = []
    needed = index + MARGIN
    figures = f"{free / 1e6:.0f} MB are free where {home} is"
    if free < needed:
        advice = f"make room: an index of {index / 1e6:.0f} MB should have {needed / 1e6:.0f} MB beside it"
        found.append(Finding("disk", "problem", "full", f"only {figures}", advice, None, {"free_mb": free // 10**6}))
    if kind in NETWORK:
        words = f"{home} is on a network file system ({kind}), which keeps neither locks nor SQLite's journal reliably"
        advice = "use a state folder on a disk of this machine (--home, RECALL_HOME)"
        found.append(Finding("disk", "problem", "network", words, advice, None, {"kind": kind}))
    return found or [Finding("disk", "ok", "ok", figures, facts={"free_mb": free // 10**6, "kind": kind})]


def file_system(folder: Path) -> str:
    """The kind of file system that a folder is on, "" where it cannot be told."""
    real = Path(os.path.realpath(folder))
    best, kind = -1, ""
    for partition in psutil.disk_partitions(all=True):
        if real.is_relative_to(partition.mountpoint) and len(partition.mountpoint) >= best:
            best, kind = len(partition.mountpoint), partition.fstype
    return kind.lower()


def locks(case: Case) -> Iterator[Finding]:
    """Whether the locks are files: whoever needs one that is none gives up, the hook in silence."""
    paths = case.paths
    files = (paths.daemon_lock, paths.start_lock, paths.index_lock, paths.mutes_lock, paths.share_lock)
    wrong = misplaced(map(Path, files))
    if not wrong:
        yield Finding("locks", "ok", "ok", "the locks are files")
        return
    names = ", ".join(path.name for path in wrong)

    def take_away() -> str:
        for path in misplaced(wrong):
            path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
        return f"took away {names}"

    empty = all(not path.is_dir() or path.is_symlink() or not any(path.iterdir()) for path in wrong)
    found = f"expected files in {case.home}, found something else: {names}; nobody can take these locks"
    yield Finding("locks", "problem", "no-file", found, "take them away", take_away if empty else None)


def misplaced(files: Iterable[Path]) -> list[Path]:
    """Those in whose place something else stands than a file."""
    found = []
    for path in files:
        try:
            require_file(path)
        except NotAFile:
            found.append(path)
    return found


def clock(case: Case) -> Iterator[Finding]:
    """Whether a lock was taken in the future: by its time recall decides when an older daemon may be replaced."""
    locks = [Path(lock) for lock in (case.paths.daemon_lock, case.paths.start_lock, case.paths.index_lock)]
    ahead = [lock for lock in locks if lock.exists() and lock.stat().st_mtime > case.now + AHEAD_SECONDS]
    if not ahead:
        yield Finding("clock", "ok", "ok", "no time lies in the future")
        return
    names = ", ".join(lock.name for lock in ahead)

    def set_back() -> str:
        try:
            for lock in ahead:
                os.utime(lock)
        except OSError as error:
            raise RecallError(f"{error.filename}: {error.strerror}") from error
        return "set them to now"

    found = f"the clock was wrong once: {names} were taken in the future, so an older daemon stays until then"
    yield Finding("clock", "problem", "future", found, "touch these files in the state folder", set_back)
