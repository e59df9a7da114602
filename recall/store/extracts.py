"""Extracts: what sharing takes out of the index, its sessions and what a model made of a file's texts."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from recall.store.connection import open_reader
from recall.store.guard import translated


@dataclass(frozen=True, slots=True)
class Session:
    """A session that headlines may name. `project` is the key of its last exchange's."""

    path: str
    project: str
    date: str | None  # ISO 8601 day
    size: int  # bytes
    mtime_ns: int | None


class Extracts:
    """The index, open for reading."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path

    def sessions(self) -> list[Session]:
        """All sessions of this machine that are shown."""
        with translated(self._path):
            return [
                Session(*row)
                for row in self._connection.execute(
                    """SELECT file.path, project.key, max(document.date), file.size, file.mtime_ns
                    FROM file JOIN document ON document.file_id = file.id
                    JOIN project ON project.id = document.project_id
                    WHERE file.kind = 'conversation' AND file.left_out IS NULL AND document.origin IS NULL
                    GROUP BY file.id ORDER BY file.path"""
                )
            ]

    def texts(self, file: str, model: str) -> dict[bytes, tuple[bytes, bytes]] | None:
        """Vector and sketch of each text of a file's one record by its digest; None until the model has made all.

        Of a transcript, whose records are many and hold what a person said, there is never anything.
        """
        with translated(self._path):
            rows = self._connection.execute(
                """SELECT chunk.digest, embedding.vector, sketch.data
                FROM file JOIN document ON document.file_id = file.id JOIN chunk ON chunk.document_id = document.id
                LEFT JOIN embedding ON embedding.digest = chunk.digest AND embedding.background IS NOT NULL
                    AND embedding.model_id = (SELECT id FROM model WHERE identity = ?)
                LEFT JOIN sketch ON sketch.embedding_id = embedding.id
                WHERE file.path = ? AND (file.kind <> 'conversation' OR document.origin IS NOT NULL)""",
                (model, file),
            ).fetchall()
        if not rows or any(vector is None for _, vector, _ in rows):
            return None
        return {digest: (vector, sketch or b"") for digest, vector, sketch in rows}

    def generation(self) -> int:
        """How often records or vectors have changed since the index was made."""
        with translated(self._path):
            (value,) = self._connection.execute("SELECT value FROM meta WHERE key = 'generation'").fetchone()
        return int(value)


@contextmanager
def open_extracts(path: Path) -> Iterator[Extracts | None]:
    """The index at `path`; None where there is none yet. Raises StoreError and its kinds."""
    connection = open_reader(path)
    if connection is None:
        yield None
        return
    try:
        yield Extracts(connection, path)
    finally:
        connection.close()
