"""The one writer of the index: files come and go, documents are put with their chunks, vectors by text and model.

Each method is one transaction, so that an end at any moment leaves an index that is whole and can be gone on with.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

from recall.core.types import Document, FoundFile, Kind, Project, Skipped
from recall.store.connection import open_writer
from recall.store.guard import damaged, transaction, translated

Vector = npt.NDArray[np.float32]
Outcome = Literal["added", "changed", "unchanged"]

#: Type of a stored vector, on every machine: 4-byte floats, little-endian.
STORED_FLOAT = np.dtype("<f4")


@dataclass(frozen=True, slots=True)
class Stored:
    """What the index knows of a file. `complete`: its documents stand, with all vectors of the writer's model."""

    project: str  # Project.key
    size: int  # bytes
    mtime_ns: int | None  # None: to be looked at again
    complete: bool


class Writer:
    """An open index with the model whose vectors are written. The caller holds `index.lock`.

    `identity` names the model, `dimension` is the length of its vectors. Every method raises StoreDamaged, StoreBusy
    or StoreError where the file or the disk fails.
    """

    def __init__(self, path: Path, identity: str, dimension: int) -> None:
        self._path = path
        self._connection = open_writer(path)
        try:
            with self._transaction():
                self._connection.execute(
                    "INSERT OR IGNORE INTO model (identity, dimension) VALUES (?, ?)", (identity, dimension)
                )
                self._model = self._number("SELECT id FROM model WHERE identity = ?", identity)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> "Writer":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file. What was written stands already."""
        self._connection.close()

    def check(self) -> None:
        """Read every page and raise StoreDamaged where one is broken, which a run might not come across by itself.

        Takes 40 ms for 12,000 rows of 384 dimensions, in proportion to the size of the file.
        """
        with translated(self._path):
            (verdict,) = self._connection.execute("PRAGMA quick_check(1)").fetchone()
        if verdict != "ok":
            raise damaged(self._path)

    def stored(self, kind: Kind) -> dict[str, Stored]:
        """The files of one kind, by path."""
        with translated(self._path):
            rows = self._connection.execute(
                """SELECT file.path, project.key, file.size, file.mtime_ns,
                    count(document.id) > 0 AND count(chunk.ordinal) = count(embedding.id)
                FROM file
                JOIN project ON project.id = file.project_id
                LEFT JOIN document ON document.file_id = file.id
                LEFT JOIN chunk ON chunk.document_id = document.id
                LEFT JOIN embedding ON embedding.digest = chunk.digest AND embedding.model_id = ?
                WHERE file.kind = ? GROUP BY file.id""",
                (self._model, kind),
            )
            return {path: Stored(project, size, mtime, bool(complete)) for path, project, size, mtime, complete in rows}

    def enlist(self, files: Iterable[FoundFile], projects: Mapping[str, Project]) -> None:
        """Note files that wait to be read, so that they count as pending until they are; known ones stay.

        Stored projects get the names that they have in `projects`: a namesake's coming or going changes a name.
        """
        with self._transaction():
            for key, name in self._connection.execute("SELECT key, name FROM project").fetchall():
                if key in projects and projects[key].name != name:
                    self._project(projects[key])
                    self._count_change()
            for file in files:
                self._connection.execute(
                    "INSERT OR IGNORE INTO file (kind, path, project_id, size) VALUES (?, ?, ?, ?)",
                    (file.kind, file.path, self._project(projects[file.project]), file.size),
                )

    def remove(self, paths: Iterable[str]) -> None:
        """Take files out with all that came of them; vectors stay until `tidy`, for the case that they only moved."""
        with self._transaction():
            for path in paths:
                self._connection.execute("DELETE FROM file WHERE path = ?", (path,))
                self._count_change()

    def clear(self, path: str) -> None:
        """Take out what came of a file that can no longer be read; the file stays, to be read when it can be."""
        with self._transaction():
            gone = self._connection.execute(
                "DELETE FROM document WHERE file_id = (SELECT id FROM file WHERE path = ?)", (path,)
            )
            if gone.rowcount:
                self._count_change()

    def missing(self, digests: Iterable[bytes]) -> list[bytes]:
        """Those of the chunk digests that have no vector of the model yet, each once, in order."""
        with translated(self._path):
            return [
                digest
                for digest in dict.fromkeys(digests)
                if not self._connection.execute(
                    "SELECT 1 FROM embedding WHERE model_id = ? AND digest = ?", (self._model, digest)
                ).fetchone()
            ]

    def put(
        self,
        file: FoundFile,
        document: Document,
        *,
        project: Project,
        digests: Sequence[bytes],
        vectors: Mapping[bytes, Vector],
        mtime_ns: int | None,
    ) -> Outcome:
        """Write what came of an enlisted file, and say whether the record is new or other than it was.

        `digests` are the SHA-256 of the document's chunks in order; `vectors` holds float32 [dimension] for those that
        were missing. `mtime_ns` None lets the next scan look at the file again.
        """
        with self._transaction():
            for digest, vector in vectors.items():
                self._connection.execute(
                    "INSERT OR IGNORE INTO embedding (model_id, digest, vector) VALUES (?, ?, ?)",
                    (self._model, digest, vector.astype(STORED_FLOAT).tobytes()),
                )
            file_id = self._number("SELECT id FROM file WHERE path = ?", file.path)
            project_id = self._project(project)
            outcome = self._put_document(file_id, project_id, document, digests)
            state = (file.kind, project_id, file.size, mtime_ns)
            self._connection.execute(
                """UPDATE file SET (kind, project_id, size, mtime_ns) = (?, ?, ?, ?)
                WHERE id = ? AND (kind, project_id, size, mtime_ns) IS NOT (?, ?, ?, ?)""",
                (*state, file_id, *state),
            )
            if vectors or outcome != "unchanged":
                self._count_change()
        return outcome

    def set_skipped(self, skipped: Iterable[Skipped]) -> None:
        """Replace the list of files that were left out."""
        with self._transaction():
            wanted = {item.path: item.reason for item in skipped}
            if wanted != dict(self._connection.execute("SELECT path, reason FROM skipped")):
                self._connection.execute("DELETE FROM skipped")
                self._connection.executemany("INSERT INTO skipped VALUES (?, ?)", wanted.items())

    def tidy(self) -> None:
        """At the end of a whole run: drop what nothing uses any more, and bring all pages into the main file.

        Only then are the zeroes that stand for deleted text in place and the older pages in the -wal file gone.
        """
        with self._transaction():
            # By way of `id IN`, so that the look for them reads two indexes and not the vectors.
            self._connection.execute(
                """DELETE FROM embedding WHERE id IN (
                    SELECT id FROM embedding WHERE digest NOT IN (SELECT digest FROM chunk))"""
            )
            self._connection.execute(
                "DELETE FROM project WHERE NOT EXISTS (SELECT 1 FROM file WHERE file.project_id = project.id)"
            )
        # An empty one is let alone: each checkpoint looks like a change to readers, who would load everything again.
        wal = self._path.with_name(f"{self._path.name}-wal")
        if wal.exists() and wal.stat().st_size:
            with translated(self._path):
                # With a reader in the middle of its work this does what it can; the next run does the rest.
                self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _put_document(self, file_id: int, project_id: int, document: Document, digests: Sequence[bytes]) -> Outcome:
        headline = (document.name, document.description, document.date)
        old = self._connection.execute(
            """SELECT document.id, file.project_id, document.name, document.description, document.date
            FROM document JOIN file ON file.id = document.file_id WHERE file.id = ?""",
            (file_id,),
        ).fetchone()
        if old is not None:
            rows = self._connection.execute("SELECT digest FROM chunk WHERE document_id = ? ORDER BY ordinal", old[:1])
            if old[1:] == (project_id, *headline) and [digest for (digest,) in rows] == list(digests):
                return "unchanged"
            self._connection.execute("DELETE FROM document WHERE id = ?", old[:1])
        document_id = self._connection.execute(
            "INSERT INTO document (file_id, name, description, date) VALUES (?, ?, ?, ?)", (file_id, *headline)
        ).lastrowid
        self._connection.executemany(
            "INSERT INTO chunk VALUES (?, ?, ?)", [(document_id, place, digest) for place, digest in enumerate(digests)]
        )
        return "added" if old is None else "changed"

    def _project(self, project: Project) -> int:
        """The id of the project's row, which is made, or given the project's new name, where needed."""
        self._connection.execute(
            """INSERT INTO project (key, name) VALUES (?, ?)
            ON CONFLICT (key) DO UPDATE SET name = excluded.name WHERE name <> excluded.name""",
            (project.key, project.name),
        )
        return self._number("SELECT id FROM project WHERE key = ?", project.key)

    def _count_change(self) -> None:
        self._connection.execute("UPDATE meta SET value = value + 1 WHERE key = 'generation'")

    def _number(self, query: str, value: str) -> int:
        (number,) = self._connection.execute(query, (value,)).fetchone()
        return int(number)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with translated(self._path), transaction(self._connection):
            yield
