"""The index of an older format stays until the new one is complete."""

import sqlite3
from pathlib import Path

import pytest

from recall.core.errors import StoreError
from recall.store.connection import open_writer
from recall.store.kept import drop_old
from recall.store.migrations import MIGRATIONS, SCHEMA_VERSION, migrate, version_of


def old_index(path: Path) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    migrate(connection, MIGRATIONS[:1])
    connection.execute("INSERT INTO project VALUES (1, '/srv/app', 'app')")
    connection.close()


def content(path: Path) -> tuple[int, list[tuple[object, ...]]]:
    connection = sqlite3.connect(path)
    found = version_of(connection), connection.execute("SELECT * FROM project").fetchall()
    connection.close()
    return found


def test_it_is_copied_whole_before_it_is_migrated_and_deleted_when_asked(tmp_path: Path) -> None:
    path = tmp_path / "index.sqlite3"
    old_index(path)
    open_writer(path).close()
    kept = tmp_path / "index.sqlite3.format1"
    assert content(kept) == (1, [(1, "/srv/app", "app")])
    assert content(path)[0] == SCHEMA_VERSION
    assert kept.stat().st_mode & 0o077 == 0
    open_writer(path).close()
    assert kept.exists()  # until somebody says that the new one is complete
    drop_old(path)
    assert [file.name for file in tmp_path.iterdir()] == ["index.sqlite3"]


def test_a_new_index_and_one_of_this_format_leave_nothing_beside_them(tmp_path: Path) -> None:
    path = tmp_path / "index.sqlite3"
    for _ in range(2):
        open_writer(path).close()
        assert [file.name for file in tmp_path.iterdir()] == ["index.sqlite3"]


def test_without_room_for_the_copy_the_old_one_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "index.sqlite3"
    old_index(path)
    (tmp_path / "index.sqlite3.format1.new").mkdir()  # what stands in the way of the copy stands for a full disk
    before = path.read_bytes()
    with pytest.raises(StoreError, match="could not be copied before it is changed"):
        open_writer(path)
    assert path.read_bytes() == before
