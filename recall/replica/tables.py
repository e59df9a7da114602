"""share.sqlite3: what this machine knows of the team's records. All of it is on the server too, so that a file which is
damaged, or of another format, is thrown away and filled anew.

meta        `cursor`: how far the changes of others are known; `written`: the last of our own that the server has;
            `seen`: the last of all that was heard of, and its mark; `indexed`: the index's generation when packs were
            let go of last; `member`: as whom the last exchange was; `synced`, `failed`, `failing_since`: how the last
            exchanges went (seconds since 1970; a sentence)
machine     the others, by their numbers, with what they call themselves
content     a record's text, by the SHA-256 of all of it (`recall.share.record`): whoever holds the same has one of it
holding     who holds which content, and where: `place` is the SHA-256 of kind, project and path
embedding   what others made of a content under a model (`recall.replica.pack`), until the index has taken it over
sent        what we hold, by the file on this machine: its place and content as the server has them (empty: it stays at
            home), and the size and time of the file when it was read. `model`: whose vectors of it the server has
"""

import contextlib
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from recall.core.errors import ShareError
from recall.store.guard import transaction
from recall.wire.files import require_file

FORMAT = 1
#: Seconds to wait for another connection; writes take milliseconds.
BUSY_SECONDS = 10.0

#: What SQLite says of pages that are broken, of what is no database, and of tables that are not those of ours.
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR)


class ShareDamaged(ShareError):
    """share.sqlite3 is no replica, or is broken somewhere."""


_TABLES = (
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID",
    "CREATE TABLE machine (id TEXT PRIMARY KEY, name TEXT NOT NULL, person TEXT NOT NULL) WITHOUT ROWID",
    """CREATE TABLE content (
        id BLOB PRIMARY KEY,
        kind TEXT NOT NULL,
        name TEXT NOT NULL,
        description TEXT NOT NULL,
        body TEXT NOT NULL,
        date TEXT,
        language TEXT,
        successor TEXT
    )""",
    """CREATE TABLE holding (
        machine TEXT NOT NULL,
        place BLOB NOT NULL,
        content BLOB NOT NULL,
        project TEXT NOT NULL,
        path TEXT NOT NULL,
        seq INTEGER NOT NULL,
        PRIMARY KEY (machine, place)
    ) WITHOUT ROWID""",
    "CREATE INDEX holding_content ON holding (content, seq)",
    """CREATE TABLE embedding (
        content BLOB NOT NULL,
        model TEXT NOT NULL,
        pack BLOB NOT NULL,
        PRIMARY KEY (content, model)
    )""",
    """CREATE TABLE sent (
        file TEXT PRIMARY KEY,
        kind TEXT NOT NULL,
        place BLOB NOT NULL,
        content BLOB NOT NULL,
        size INTEGER NOT NULL,
        mtime_ns INTEGER,
        model TEXT NOT NULL
    ) WITHOUT ROWID""",
    "CREATE INDEX sent_content ON sent (content)",
    f"PRAGMA user_version = {FORMAT}",
)


def open_for_writing(path: Path) -> sqlite3.Connection:
    """Open the file, made (0600) where there is none, emptied where it is of another format. One process at a time:
    `share.lock`. Raises ShareDamaged, ShareError."""
    with translated(path):
        return _open(path)


def throw_away(path: Path) -> None:
    """Take the file away; only whoever holds `share.lock` may. Raises ShareError."""
    with translated(path):
        for file in (path, *(path.with_name(path.name + ending) for ending in ("-wal", "-shm"))):
            file.unlink(missing_ok=True)


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection | None]:
    """The file open for reading only; None where there is none. Raises ShareDamaged for one that the next exchange
    fills anew, ShareError."""
    with translated(path):
        connection = _open_for_reading(path)
        if connection is None:
            yield None
            return
        with contextlib.closing(connection):
            yield connection


def _open_for_reading(path: Path) -> sqlite3.Connection | None:
    if not path.exists():
        return None
    connection = _connect(path, "ro")
    try:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version != FORMAT:
            raise ShareDamaged(
                f"expected format {FORMAT} in {path}, found {version}; the next `recall share sync` fills it anew"
            )
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Turn what SQLite and the disk raise in the block into a ShareError, ShareDamaged where the file is at fault.
    SQLite's message may quote a text, ours does not."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        raise _failure(path, error) from None


def _failure(path: Path, error: sqlite3.Error | OSError) -> ShareError:
    name = getattr(error, "sqlite_errorname", None) or getattr(error, "strerror", None) or type(error).__name__
    if getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGED:
        return ShareDamaged(f"{path} is damaged ({name}); `recall share sync` throws it away and fills it anew")
    return ShareError(
        f"{path} cannot be used ({name}); check the disk, its free space and that the file is yours, then sync again"
    )


def _open(path: Path) -> sqlite3.Connection:
    with contextlib.suppress(FileExistsError):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    connection = _connect(path, "rw")
    try:
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")  # counts for a file that holds nothing yet
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA secure_delete = ON")  # what a colleague deletes is not to stay in a free page
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version != FORMAT:
            _make(connection)
        connection.execute("SELECT count(*) FROM meta").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection


def _make(connection: sqlite3.Connection) -> None:
    with transaction(connection):
        for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
            connection.execute(f'DROP TABLE "{name}"')
        for statement in _TABLES:
            connection.execute(statement)


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    require_file(path)  # SQLite waits at a named pipe
    return sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}",
        uri=True,
        timeout=BUSY_SECONDS,
        isolation_level=None,
        check_same_thread=False,
    )
