"""Opening the index file, for the one writer or for readers.

WAL: readers never wait for the writer, nor it for them. That there is one writer is assured by `index.lock`, which
the caller holds; SQLite's own waiting only bridges checkpoints and recovery after a crash.
"""

import os
import sqlite3
from pathlib import Path

from recall.core.errors import StoreError, StoreTooNew
from recall.store.guard import translated
from recall.store.kept import keep_old
from recall.store.migrations import SCHEMA_VERSION, migrate, version_of
from recall.wire.files import NotAFile, require_file

#: How long SQLite waits for another connection before it reports busy, in seconds.
BUSY_SECONDS = 5.0


def open_writer(path: Path) -> sqlite3.Connection:
    """Open the index for writing; make it (0600) and bring its schema up to date where needed.

    Its folder must exist, and the caller holds `index.lock`: two at once that make or migrate a file are in each
    other's way (StoreBusy). Raises StoreTooNew (the file is left as it is), StoreDamaged, StoreBusy, StoreError.
    """
    try:
        # SQLite gives its -wal and -shm files the permissions of the main file, so only that one needs care. One that
        # exists is not opened: closing it again would drop the locks that SQLite holds on it for this whole process.
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        pass
    except OSError as error:
        raise StoreError(
            f"the index {path} cannot be made ({error.strerror}); check that its folder exists and is yours to write"
        ) from error
    with translated(path):
        connection = _connect(path, "rw")
        try:
            # Zeroes in place of what was deleted: the name of a removed note must not stay in a free page.
            connection.execute("PRAGMA secure_delete = ON")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("PRAGMA journal_mode = WAL")
            keep_old(connection, path)
            migrate(connection)
        except BaseException:
            connection.close()
            raise
    return connection


def open_reader(path: Path) -> sqlite3.Connection | None:
    """Open the index read-only; None when there is none yet, or one that the next run still has to migrate.

    Any thread may use the connection, one at a time. Raises StoreTooNew, StoreDamaged, StoreBusy, StoreError.
    """
    if not path.exists():
        return None
    with translated(path):
        connection = _connect(path, "ro")
        try:
            if version_of(connection) == SCHEMA_VERSION:
                return connection
        except BaseException:
            connection.close()
            raise
    connection.close()
    return None


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    try:
        require_file(path)  # SQLite would wait at a named pipe
    except NotAFile as error:
        raise StoreError(str(error)) from None
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}",
        uri=True,
        timeout=BUSY_SECONDS,
        isolation_level=None,  # transactions are begun by us, by name
        check_same_thread=False,
    )
    try:
        found = version_of(connection)
    except BaseException:
        connection.close()
        raise
    if found > SCHEMA_VERSION:
        connection.close()
        raise StoreTooNew(
            f"the index {path} was written by a newer recall (format {found}, this program knows {SCHEMA_VERSION}); "
            "update recall, or move that file away to have it built anew"
        )
    return connection
