"""The schema of the index as numbered steps; `PRAGMA user_version` says how many of them a file has seen.

A step is never changed once released: a file in the field has run it as it was.

file        what a scan saw (path, size, time of change); stands from the moment a scan found it, so that files which
            wait to be read can be counted. `mtime_ns` NULL: to be looked at again, whatever the scan says; `done`: it
            was read to its end; `state`: what the reader of a growing file goes on from; `left_out`: why it has no
            records; `gone_at`: when (seconds since 1970) it was found deleted, its records being kept
document    a record inside a file: its headline, never its body. `key` tells the records of a file apart; the same key
            in several files is a copy. Without a name it cannot be shown. `masked`: what was masked, kind to count.
            `terms`: fingerprints of the words of its text (recall/text/words.py), not the words themselves;
            `origin`, `person`: the machine of the team that it came from, and whose that is
chunk       the SHA-256 of each piece of text that stands for a document in the search, in order; ordinal -1 is the
            piece that holds its headline alone
embedding   a piece's vector under one model: float32, little-endian, length 1. It hangs on the text's digest alone, so
            a renamed file or the same text elsewhere costs nothing, and two models' vectors lie side by side unmixed.
            `background`: float32 scores of the text over the bank of everyday messages; NULL: it has no sketch yet
sketch      a piece's token vectors and sparse weights, packed. A table of its own: they are read by a few at a time,
            vectors all at once
"""

import sqlite3
from collections.abc import Sequence

from recall.store.guard import transaction

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        "CREATE TABLE meta (key TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID",
        "INSERT INTO meta VALUES ('generation', 0)",
        "CREATE TABLE project (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, name TEXT NOT NULL)",
        """CREATE TABLE file (
            id INTEGER PRIMARY KEY,
            kind TEXT NOT NULL,
            path TEXT NOT NULL UNIQUE,
            project_id INTEGER NOT NULL REFERENCES project,
            size INTEGER NOT NULL,
            mtime_ns INTEGER
        )""",
        "CREATE INDEX file_project ON file (project_id)",
        """CREATE TABLE document (
            id INTEGER PRIMARY KEY,
            file_id INTEGER NOT NULL REFERENCES file ON DELETE CASCADE,
            name TEXT NOT NULL,
            description TEXT NOT NULL,
            date TEXT
        )""",
        "CREATE INDEX document_file ON document (file_id)",
        """CREATE TABLE chunk (
            document_id INTEGER NOT NULL REFERENCES document ON DELETE CASCADE,
            ordinal INTEGER NOT NULL,
            digest BLOB NOT NULL,
            PRIMARY KEY (document_id, ordinal)
        ) WITHOUT ROWID""",
        "CREATE INDEX chunk_digest ON chunk (digest)",
        "CREATE TABLE model (id INTEGER PRIMARY KEY, identity TEXT NOT NULL UNIQUE, dimension INTEGER NOT NULL)",
        """CREATE TABLE embedding (
            id INTEGER PRIMARY KEY,
            model_id INTEGER NOT NULL REFERENCES model,
            digest BLOB NOT NULL,
            vector BLOB NOT NULL,
            UNIQUE (model_id, digest)
        )""",
        "CREATE TABLE skipped (path TEXT PRIMARY KEY, reason TEXT NOT NULL) WITHOUT ROWID",
    ),
    (
        # Files that hold many records and grow, records of another project than their file's, and secrets.
        "INSERT INTO meta VALUES ('recipe', 0), ('erased', 0)",
        "ALTER TABLE file ADD COLUMN done INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE file ADD COLUMN state TEXT",
        "ALTER TABLE file ADD COLUMN left_out TEXT",
        "ALTER TABLE file ADD COLUMN damaged_lines INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE file ADD COLUMN gone_at INTEGER",
        "ALTER TABLE file ADD COLUMN masked TEXT NOT NULL DEFAULT '{}'",
        "UPDATE file SET done = 1 WHERE id IN (SELECT file_id FROM document)",
        "ALTER TABLE document ADD COLUMN key TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE document ADD COLUMN project_id INTEGER REFERENCES project",
        "ALTER TABLE document ADD COLUMN session TEXT",
        "ALTER TABLE document ADD COLUMN language TEXT",
        'ALTER TABLE document ADD COLUMN "group" TEXT',
        "ALTER TABLE document ADD COLUMN successor TEXT",
        "ALTER TABLE document ADD COLUMN successor_path TEXT",
        "ALTER TABLE document ADD COLUMN masked TEXT NOT NULL DEFAULT '{}'",
        "UPDATE document SET project_id = (SELECT project_id FROM file WHERE file.id = file_id)",
        "DROP INDEX document_file",
        "CREATE UNIQUE INDEX document_place ON document (file_id, key)",
        "CREATE INDEX document_project ON document (project_id)",
    ),
    (
        # Token vectors for late interaction. What was embedded before is embedded once more.
        "ALTER TABLE embedding ADD COLUMN background BLOB",
        """CREATE TABLE sketch (
            embedding_id INTEGER PRIMARY KEY REFERENCES embedding ON DELETE CASCADE,
            data BLOB NOT NULL
        )""",
    ),
    (
        # Lexical search, and sparse weights beside the token vectors. What was read before is read and embedded anew.
        "ALTER TABLE document ADD COLUMN terms BLOB NOT NULL DEFAULT x''",
        "UPDATE embedding SET background = NULL",
        "DELETE FROM sketch",
    ),
    (
        # Records of other machines: NULL for the person's own.
        "ALTER TABLE document ADD COLUMN origin TEXT",
        "ALTER TABLE document ADD COLUMN person TEXT",
    ),
)

SCHEMA_VERSION = len(MIGRATIONS)


def version_of(connection: sqlite3.Connection) -> int:
    """The number of steps that the file has seen; 0 for a new one."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return int(version)


def migrate(connection: sqlite3.Connection, migrations: Sequence[Sequence[str]] = MIGRATIONS) -> None:
    """Run the steps that the file has not seen, each in a transaction of its own: a crash leaves a whole version."""
    while (version := version_of(connection)) < len(migrations):
        with transaction(connection):
            for statement in migrations[version]:
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {version + 1}")
