"""What leaves the index: leftovers at the end of a run, and a model's vectors when it is removed from the machine."""

import sqlite3
from pathlib import Path

from recall.store.connection import open_reader, open_writer
from recall.store.guard import transaction, translated


def tidy(connection: sqlite3.Connection, path: Path) -> None:
    """Drop what nothing uses any more, and bring all pages into the main file. Raises StoreError and its kinds.

    Only then is deleted text gone from the disk, also from the older pages in the -wal file.
    """
    with translated(path), transaction(connection):
        # By way of `id IN`, so that the look for them reads two indexes and not the vectors.
        connection.execute(
            """DELETE FROM embedding WHERE id IN (
                SELECT id FROM embedding WHERE digest NOT IN (SELECT digest FROM chunk))"""
        )
        connection.execute(
            """DELETE FROM project WHERE NOT EXISTS (SELECT 1 FROM file WHERE file.project_id = project.id)
            AND NOT EXISTS (SELECT 1 FROM document WHERE document.project_id = project.id)"""
        )
    # Zeroes stand for deleted text, but where SQLite has moved it before, a copy may stand in the rest of a page.
    # So the file is written anew, unless only records were added or a session got another title.
    with translated(path):
        (erased,) = connection.execute("SELECT value FROM meta WHERE key = 'erased'").fetchone()
        if erased:
            connection.execute("VACUUM")
            with transaction(connection):
                connection.execute("UPDATE meta SET value = 0 WHERE key = 'erased'")
    # An empty one is let alone: each checkpoint looks like a change to readers, who would load everything again.
    wal = path.with_name(f"{path.name}-wal")
    if wal.exists() and wal.stat().st_size:
        with translated(path):
            # With a reader in the middle of its work this does what it can; the next run does the rest.
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def has_vectors(path: Path, name: str, keep: str = "") -> bool:
    """Whether `drop_model` would find something. Needs no lock. Raises StoreError and its kinds."""
    connection = open_reader(path)
    if connection is None:  # none yet, or an old one that only a writer can read
        return path.exists()
    try:
        with translated(path):
            rows = connection.execute(
                "SELECT identity FROM model WHERE EXISTS (SELECT 1 FROM embedding WHERE model_id = model.id)"
            )
            return any(_is_of(identity, name, keep) for (identity,) in rows)
    finally:
        connection.close()


def drop_model(path: Path, name: str, keep: str = "") -> int:
    """Delete all vectors of the model called `name` under any identity but `keep`; how many they were.

    The file keeps its size. The caller holds `index.lock`. Nothing happens where there is no index or nothing of the
    model in it. Raises StoreError and its kinds.
    """
    if not path.exists():
        return 0
    connection = open_writer(path)
    try:
        with translated(path):
            found = connection.execute("SELECT id, identity FROM model").fetchall()
            models = [(id_,) for id_, identity in found if _is_of(identity, name, keep)]
            if not models:
                return 0
            with transaction(connection):
                dropped = connection.executemany("DELETE FROM embedding WHERE model_id = ?", models).rowcount
                connection.executemany("DELETE FROM model WHERE id = ?", models)
            return dropped
    finally:
        connection.close()


def shrink(path: Path) -> None:
    """Give the disk back what was deleted; that takes as much room as the index for a moment.

    The caller holds `index.lock`. Raises StoreError and its kinds, and the index is then as it was.
    """
    connection = open_writer(path)
    try:
        with translated(path):
            connection.execute("VACUUM")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        connection.close()


def _is_of(identity: str, name: str, keep: str) -> bool:
    return identity != keep and identity.rpartition("@")[0] == name
