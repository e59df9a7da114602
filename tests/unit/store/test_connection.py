"""Opening the index: permissions, and every failure as the right kind of error."""

import os
import sqlite3
import stat
import sys
from pathlib import Path

import pytest

from recall.core.errors import StoreBusy, StoreDamaged, StoreError
from recall.store.connection import open_reader, open_writer
from recall.store.guard import transaction, translated


@pytest.mark.skipif(sys.platform == "win32", reason="permissions are access lists there")
def test_the_index_and_the_files_beside_it_are_readable_by_the_owner_only(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        connection = open_writer(tmp_path / "index.sqlite3")
        with transaction(connection):
            connection.execute("INSERT INTO skipped VALUES ('a', 'b')")
        modes = {entry.name: stat.S_IMODE(entry.stat().st_mode) for entry in tmp_path.iterdir()}
        connection.close()
    finally:
        os.umask(before)
    assert modes == dict.fromkeys(["index.sqlite3", "index.sqlite3-wal", "index.sqlite3-shm"], 0o600)


def test_a_file_that_is_no_database_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "index.sqlite3"
    path.write_bytes(b"not a database" * 1000)
    for opening in (open_writer, open_reader):
        with pytest.raises(StoreDamaged, match="damaged"):
            opening(path)


def test_a_folder_that_is_missing_is_an_error_that_says_so(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"cannot be made .*folder exists"):
        open_writer(tmp_path / "missing" / "index.sqlite3")


def test_a_transaction_of_another_program_is_busy_and_not_damage(tmp_path: Path) -> None:
    path = tmp_path / "index.sqlite3"
    first = open_writer(path)
    second = open_writer(path)
    second.execute("PRAGMA busy_timeout = 0")
    with transaction(first), pytest.raises(StoreBusy, match="in use"), translated(path), transaction(second):
        raise AssertionError("two transactions at once")
    first.close()
    second.close()


def test_a_full_disk_rolls_back_and_is_said_in_words(tmp_path: Path) -> None:
    path = tmp_path / "index.sqlite3"
    connection = open_writer(path)
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    connection.execute(f"PRAGMA max_page_count = {pages + 2}")
    with pytest.raises(StoreError, match="is full; make room"), translated(path), transaction(connection):
        for number in range(10_000):
            connection.execute("INSERT INTO skipped VALUES (?, ?)", (f"/{number}", "x" * 100))
    assert connection.execute("SELECT count(*) FROM skipped").fetchone() == (0,)
    connection.close()


def test_an_error_of_sqlite_never_carries_the_text_it_failed_on(tmp_path: Path) -> None:
    path = tmp_path / "index.sqlite3"
    connection = open_writer(path)
    connection.execute("INSERT INTO skipped VALUES (CAST(x'63616e617279ff' AS TEXT), '')")  # "canary" and a wrong byte
    with pytest.raises(sqlite3.OperationalError, match="canary"):
        connection.execute("SELECT path FROM skipped").fetchall()
    with pytest.raises(StoreError) as caught, translated(path):
        connection.execute("SELECT path FROM skipped").fetchall()
    connection.close()
    assert "canary" not in str(caught.value)
    assert caught.value.__suppress_context__
