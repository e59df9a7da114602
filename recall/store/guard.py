"""Transactions, and SQLite's errors in our own words."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from recall.core.errors import StoreBusy, StoreDamaged, StoreError


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All writes of the block, or none of them. Where nothing was written, the file stays as it was."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # SQLite has already rolled back after some errors, such as a full disk
            connection.execute("ROLLBACK")
        raise


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Turn what SQLite raises in the block into an error of the index at `path`.

    SQLite's own message is left out and cut off from the traceback: it can quote the text it failed on.
    """
    try:
        yield
    except sqlite3.Error as error:
        raise _translate(error, path) from None


def damaged(path: Path) -> StoreDamaged:
    """The error of a file that is not a database, or whose pages are broken."""
    return StoreDamaged(f"the index {path} is damaged; `recall index` sets it aside and builds a new one")


def _translate(error: sqlite3.Error, path: Path) -> StoreError:
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF  # the rest of an extended code is detail
    name = getattr(error, "sqlite_errorname", type(error).__name__)
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return damaged(path)
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return StoreBusy(f"the index {path} is in use by another program; try again in a moment")
    if code == sqlite3.SQLITE_FULL:
        return StoreError(f"the disk that holds {path} is full; make room, then run `recall index`")
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
        return StoreError(
            f"the index {path} cannot be opened ({name}); check that it and its folder are yours to write"
        )
    return StoreError(f"the index {path} cannot be read or written ({name}); check the disk and its free space")
