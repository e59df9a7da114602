"""Numbered migrations: each once, whole or not at all, and never backwards."""

import sqlite3
from pathlib import Path

import numpy as np
import pytest

from recall.core.errors import StoreTooNew
from recall.core.types import BACKGROUND, Skipped
from recall.store.connection import open_reader, open_writer
from recall.store.entries import Embedded, Stored
from recall.store.migrations import MIGRATIONS, SCHEMA_VERSION, migrate, version_of
from recall.store.reader import Reader
from recall.store.writer import Writer

ONE = ("CREATE TABLE one (x)",)
TWO = ("ALTER TABLE one ADD COLUMN y", "INSERT INTO one VALUES (1, 2)")


def connect(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, isolation_level=None)


def test_a_new_file_gets_the_current_version_and_a_second_opening_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "index.sqlite3"
    open_writer(path).close()
    before = path.read_bytes()
    connection = open_writer(path)
    assert version_of(connection) == SCHEMA_VERSION == len(MIGRATIONS)
    connection.close()
    assert path.read_bytes() == before


def test_an_older_file_gets_only_the_steps_that_it_has_not_seen(tmp_path: Path) -> None:
    connection = connect(tmp_path / "a")
    migrate(connection, [ONE])
    connection.execute("INSERT INTO one VALUES (7)")
    migrate(connection, [ONE, TWO])
    assert connection.execute("SELECT * FROM one").fetchall() == [(7, None), (1, 2)]
    assert version_of(connection) == 2
    connection.close()


def test_a_step_that_fails_leaves_the_version_before_it(tmp_path: Path) -> None:
    connection = connect(tmp_path / "a")
    broken = ("CREATE TABLE two (x)", "INSERT INTO missing VALUES (1)")
    with pytest.raises(sqlite3.OperationalError, match="missing"):
        migrate(connection, [ONE, broken])
    assert version_of(connection) == 1
    assert connection.execute("SELECT name FROM sqlite_schema").fetchall() == [("one",)]
    connection.close()


def test_the_file_of_a_newer_program_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "index.sqlite3"
    connection = open_writer(path)
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    connection.close()
    before = path.read_bytes()
    for opening in (open_writer, open_reader):
        with pytest.raises(StoreTooNew, match=f"format {SCHEMA_VERSION + 1}.*update recall"):
            opening(path)
    assert path.read_bytes() == before


def test_a_reader_finds_no_index_where_the_file_is_missing_empty_or_not_yet_migrated(tmp_path: Path) -> None:
    path = tmp_path / "index.sqlite3"
    assert open_reader(path) is None
    assert not path.exists()
    path.touch()
    assert open_reader(path) is None


def test_the_notes_of_the_first_schema_keep_their_headlines_and_are_embedded_once_more(tmp_path: Path) -> None:
    path = tmp_path / "index.sqlite3"
    vector = np.array([0.6, 0.8], "<f4")
    connection = connect(path)
    migrate(connection, MIGRATIONS[:1])
    connection.execute("INSERT INTO project VALUES (1, '/srv/app', 'app')")
    connection.execute("INSERT INTO model VALUES (1, 'e5', 2)")
    connection.execute(
        "INSERT INTO file VALUES (1, 'memory', '/read.md', 1, 10, 5), (2, 'memory', '/new.md', 1, 7, NULL)"
    )
    connection.execute("INSERT INTO document VALUES (1, 1, 'A note', 'what it says', NULL)")
    connection.execute("INSERT INTO chunk VALUES (1, 0, x'01')")
    connection.execute("INSERT INTO embedding VALUES (1, 1, x'01', ?)", (vector.tobytes(),))
    connection.execute("INSERT INTO skipped VALUES ('/bad.md', 'is empty')")
    connection.close()
    assert open_reader(path) is None
    with Writer(path, "e5", 2) as writer:
        assert writer.stored("memory") == {
            "/read.md": Stored("/srv/app", 10, 5, complete=False),  # it has no token vectors yet
            "/new.md": Stored("/srv/app", 7, None, complete=False),
        }
        assert writer.missing([b"\x01", b"\x02"]) == [b"\x01", b"\x02"]
        assert Reader(path).load("e5").documents == []
        writer.put_embedded({b"\x01": Embedded(vector, b"tokens", np.zeros(BACKGROUND, np.float32))})
        assert writer.stored("memory")["/read.md"].complete
    reader = Reader(path)
    rows, summary = reader.load("e5"), reader.summary("e5")
    assert reader.sketches(rows.row_ids.tolist()) == {1: b"tokens"}
    reader.close()
    (record,) = rows.documents
    assert (record.path, record.name, record.project, record.session) == ("/read.md", "A note", "/srv/app", None)
    assert np.array_equal(rows.vectors, [vector])
    assert (summary.documents, summary.pending, summary.skipped) == ({"memory": 1}, 1, [Skipped("/bad.md", "is empty")])
