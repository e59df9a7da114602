"""Reading the index: the rows of one model for a snapshot, figures for `status`, and a cheap look for changes."""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np

from recall.core.types import Kind, Project, Skipped
from recall.store.connection import open_reader
from recall.store.guard import damaged, translated
from recall.store.pieces import load_pieces
from recall.store.repair import damaged_files
from recall.store.views import Postings, Record, Rows, Share, Summary

#: Rows whose sketches are asked for at a time: SQLite takes 999 parameters everywhere.
_PARAMETERS = 900


class Reader:
    """Read-only access to the index at `path`, which may be missing, appear later, or be replaced by a new one.

    One thread at a time. Every method raises StoreDamaged, StoreTooNew, StoreBusy or StoreError; afterwards the next
    call opens the file anew.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._connection: sqlite3.Connection | None = None
        self._file: tuple[int, int] | None = None

    def close(self) -> None:
        """Close the file, if it is open."""
        if self._connection is not None:
            self._connection.close()
        self._connection = self._file = None

    def version(self) -> tuple[int, int, int] | None:
        """A value that differs after every write of another process; None while there is no index. Microseconds."""
        with self._snapshot() as connection:
            if connection is None or self._file is None:
                return None
            return (*self._file, _number(connection, "PRAGMA data_version"))

    def generation(self) -> int:
        """How often records or vectors have changed since the index was made; 0 while there is none."""
        with self._snapshot() as connection:
            return _generation(connection) if connection else 0

    def load(self, model: str) -> Rows:
        """All that a search needs, for the model of this identity."""
        with self._snapshot() as connection:
            if connection is None:
                return Rows.none()
            documents = connection.execute(
                """SELECT document.id, document.key, file.kind, file.path, project.key, document.name,
                    document.description, document.date, document.session, document.language, document."group",
                    document.successor, document.successor_path, document.origin, document.person, document.terms
                FROM document JOIN file ON file.id = document.file_id JOIN project ON project.id = document.project_id
                ORDER BY document.id"""
            ).fetchall()
            pieces = load_pieces(connection, model, self._path)
            incomplete = pieces.incomplete
            shown = _shown((row[0], row[1], row[5]) for row in documents if row[0] not in incomplete)
            sessions: dict[str, set[str]] = {}
            for _, key, _, path, _, _, _, _, session, *_ in documents:
                if key:
                    sessions.setdefault(key, set()).update(filter(None, (session, Path(path).stem)))
            ids = np.array([row[0] for row in documents if row[0] in shown], np.int64)
            kept = np.isin(pieces.documents, ids)
            if not kept.all():
                pieces = pieces.only(kept)
            records = [row for row in documents if row[0] in shown]
            if any(len(row[-1]) % 4 for row in records):
                raise damaged(self._path)
            return Rows(
                vectors=pieces.vectors,
                row_documents=np.searchsorted(ids, pieces.documents).astype(np.int32),
                row_ids=pieces.ids,
                is_headline=pieces.is_headline,
                backgrounds=pieces.backgrounds,
                postings=Postings.of([row[-1] for row in records]),
                documents=[Record(*(*row[2:-1], frozenset(sessions.get(row[1], ())))) for row in records],
                projects=[Project(*row) for row in connection.execute("SELECT key, name FROM project ORDER BY id")],
                generation=_generation(connection),
            )

    def rows_by_model(self) -> dict[str, int]:
        """How many rows can be searched under each model, by its identity, in the order of their first use."""
        with self._snapshot() as connection:
            if connection is None:
                return {}
            return dict(
                connection.execute(
                    """SELECT model.identity, count(*) FROM chunk
                    JOIN embedding ON embedding.digest = chunk.digest AND embedding.background IS NOT NULL
                    JOIN model ON model.id = embedding.model_id GROUP BY model.id ORDER BY model.id"""
                )
            )

    def missing_vectors(self, model: str) -> tuple[int, int]:
        """How many texts of the index have no vector yet under the model of this identity, and how many there are."""
        with self._snapshot() as connection:
            if connection is None:
                return 0, 0
            missing, total = connection.execute(
                """SELECT count(*) - count(embedding.id), count(*)
                FROM (SELECT DISTINCT digest FROM chunk) AS piece
                LEFT JOIN embedding ON embedding.digest = piece.digest AND embedding.background IS NOT NULL
                    AND embedding.model_id = (SELECT id FROM model WHERE identity = ?)""",
                (model,),
            ).fetchone()
            return int(missing), int(total)

    def summary(self, model: str) -> Summary:
        """Figures for the model of this identity; all zero while there is no index."""
        with self._snapshot() as connection:
            if connection is None:
                return Summary(damaged=self._damaged())
            skipped = [Skipped(*row) for row in connection.execute("SELECT path, reason FROM skipped ORDER BY path")]
            documents = connection.execute(
                """SELECT document.id, document.key, document.name, file.id, file.kind, project.key, project.name,
                    document.masked, count(chunk.ordinal), count(embedding.id)
                FROM document
                JOIN file ON file.id = document.file_id
                JOIN project ON project.id = document.project_id
                LEFT JOIN chunk ON chunk.document_id = document.id
                LEFT JOIN embedding ON embedding.digest = chunk.digest AND embedding.background IS NOT NULL
                    AND embedding.model_id = (SELECT id FROM model WHERE identity = ?)
                GROUP BY document.id ORDER BY document.id""",
                (model,),
            ).fetchall()
            incomplete = {row[0]: row[3] for row in documents if row[8] != row[9]}
            shown = _shown((row[0], row[1], row[2]) for row in documents if row[0] not in incomplete)
            shares: dict[tuple[str, Kind], Share] = {}
            masked: Counter[str] = Counter()
            for id_, _, _, _, kind, key, name, found, chunks, _ in documents:
                if id_ in shown:
                    share = shares.get((key, kind), Share(Project(key, name), kind, 0, 0))
                    shares[key, kind] = replace(share, documents=share.documents + 1, rows=share.rows + chunks)
                    masked.update(json.loads(found))
            waiting = set(incomplete.values())
            named = {item.path for item in skipped}
            left_out: Counter[str] = Counter()
            pending = damaged_lines = 0
            for id_, path, done, reason, lines, gone_at, found in connection.execute(
                "SELECT id, path, done, left_out, damaged_lines, gone_at, masked FROM file"
            ):
                pending += (not done or id_ in waiting) and gone_at is None and path not in named
                left_out.update([reason] if reason else [])
                damaged_lines += lines
                masked.update(json.loads(found))
            return Summary(
                shares=sorted(shares.values(), key=lambda share: (share.project.name, share.project.key, share.kind)),
                pending=pending,
                skipped=skipped,
                left_out=dict(left_out),
                damaged_lines=damaged_lines,
                masked=dict(masked),
                generation=_generation(connection),
                bytes=_size(self._path) + _size(self._path.with_name(f"{self._path.name}-wal")),
                damaged=self._damaged(),
            )

    def sketches(self, ids: Sequence[int]) -> dict[int, bytes]:
        """The packed token vectors of rows by their `row_ids`, those that have some and are still there."""
        found: dict[int, bytes] = {}
        with self._snapshot() as connection:
            for start in range(0, len(ids) if connection else 0, _PARAMETERS):
                some = ids[start : start + _PARAMETERS]
                places = ", ".join("?" * len(some))
                query = f"SELECT embedding_id, data FROM sketch WHERE embedding_id IN ({places})"  # noqa: S608
                found.update(connection.execute(query, some) if connection else ())
        return found

    @contextmanager
    def _snapshot(self) -> Iterator[sqlite3.Connection | None]:
        """The open connection within one read transaction, so that all that is read belongs together."""
        self._follow_file()
        if self._connection is None:
            yield None
            return
        try:
            with translated(self._path):
                self._connection.execute("BEGIN")
                yield self._connection
                self._connection.execute("COMMIT")
        except BaseException:
            self.close()
            raise

    def _follow_file(self) -> None:
        """Open the file that stands at the path now. One that was set aside would never show a change again."""
        try:
            state = self._path.stat()
        except FileNotFoundError:
            self.close()
            return
        file = (state.st_dev, state.st_ino)
        if file != self._file or self._connection is None:
            self.close()
            self._connection, self._file = open_reader(self._path), file

    def _damaged(self) -> Path | None:
        return next(reversed(damaged_files(self._path)), None)


def _shown(documents: Iterable[tuple[int, str, str]]) -> set[int]:
    """Which of the documents (id, key, name), in order of their ids, can be shown: named ones, of copies the first."""
    shown: set[int] = set()
    keys: set[str] = set()
    for id_, key, name in documents:
        if name and key not in keys:
            shown.add(id_)
            if key:
                keys.add(key)
    return shown


def _generation(connection: sqlite3.Connection) -> int:
    return _number(connection, "SELECT value FROM meta WHERE key = 'generation'")


def _number(connection: sqlite3.Connection, query: str) -> int:
    (number,) = connection.execute(query).fetchone()
    return int(number)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
