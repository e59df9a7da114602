"""The one writer of the index: files come and go, documents are put with their chunks, vectors by text and model.

A file is first enlisted, then its documents are put one by one, and with the last of them, or after it, it is finished.

Each method is one transaction, so that an end at any moment leaves an index that is whole and can be gone on with.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from recall.core.types import FoundFile, Kind, Project, Skipped
from recall.store.cleanup import tidy
from recall.store.connection import open_writer
from recall.store.documents import finish_file, note_erasure, put_document, put_project
from recall.store.entries import STORED_FLOAT, Embedded, Entry, Finish, Outcome, Stored
from recall.store.guard import damaged, transaction, translated

DAY_SECONDS = 86_400


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

    def apply_recipe(self, recipe: int) -> None:
        """Have every file read again unless its texts went through this recipe already; vectors stay by their text.

        Growing files begin anew; what came of one that is gone stays as it is.
        """
        with self._transaction():
            changed = self._connection.execute(
                "UPDATE meta SET value = ? WHERE key = 'recipe' AND value <> ?", (recipe, recipe)
            )
            if changed.rowcount:
                self._connection.execute("UPDATE file SET mtime_ns = NULL")
                self._connection.execute("UPDATE file SET state = '' WHERE state IS NOT NULL")

    def stored(self, kind: Kind) -> dict[str, Stored]:
        """The files of one kind, by path."""
        with translated(self._path):
            rows = self._connection.execute(
                """SELECT file.path, project.key, file.size, file.mtime_ns,
                    file.done AND file.gone_at IS NULL AND count(chunk.ordinal) = count(embedding.id)
                FROM file
                JOIN project ON project.id = file.project_id
                LEFT JOIN document ON document.file_id = file.id
                LEFT JOIN chunk ON chunk.document_id = document.id
                LEFT JOIN embedding ON embedding.digest = chunk.digest AND embedding.model_id = ?
                    AND embedding.background IS NOT NULL
                WHERE file.kind = ? GROUP BY file.id""",
                (self._model, kind),
            )
            return {path: Stored(project, size, mtime, bool(complete)) for path, project, size, mtime, complete in rows}

    def state(self, path: str) -> str | None:
        """What the reader of an enlisted file left to go on from; None where it has to begin, also for a new model.

        Empty where it has to begin and what it brought before is void.
        """
        with translated(self._path):
            (state,) = self._connection.execute(
                """SELECT CASE WHEN state = '' OR NOT EXISTS (
                    SELECT 1 FROM document JOIN chunk ON chunk.document_id = document.id
                    LEFT JOIN embedding ON embedding.digest = chunk.digest AND embedding.model_id = ?
                        AND embedding.background IS NOT NULL
                    WHERE document.file_id = file.id AND embedding.id IS NULL
                ) THEN state END FROM file WHERE path = ?""",
                (self._model, path),
            ).fetchone()
        return None if state is None else str(state)

    def enlist(self, files: Iterable[FoundFile], projects: Mapping[str, Project]) -> None:
        """Note files that wait to be read, so that they count as pending until they are; known ones stay.

        Stored projects get the names that they have in `projects`: a namesake's coming or going changes a name.
        """
        with self._transaction():
            for key, name in self._connection.execute("SELECT key, name FROM project").fetchall():
                if key in projects and projects[key].name != name:
                    put_project(self._connection, projects[key])
                    self._count_change()
            for file in files:
                self._connection.execute(
                    "INSERT OR IGNORE INTO file (kind, path, project_id, size) VALUES (?, ?, ?, ?)",
                    (file.kind, file.path, put_project(self._connection, projects[file.project]), file.size),
                )

    def remove(self, paths: Iterable[str], *, now: int = 0, keep_days: int = 0) -> int:
        """Files that are no longer there go with all that came of them; how many are missed since the last time.

        With `keep_days` their documents stay for so many days after `now` (seconds since 1970), when they were first
        missed. Vectors stay until `tidy`, for the case that a file only moved.
        """
        missed = 0
        with self._transaction():
            for path in paths:
                file_id, gone_at, kept = self._connection.execute(
                    """SELECT id, gone_at, EXISTS (SELECT 1 FROM document WHERE file_id = file.id)
                    FROM file WHERE path = ?""",
                    (path,),
                ).fetchone()
                missed += gone_at is None
                if kept and now < (now if gone_at is None else gone_at) + keep_days * DAY_SECONDS:
                    if gone_at is None:
                        self._connection.execute("UPDATE file SET gone_at = ? WHERE id = ?", (now, file_id))
                    continue
                self._connection.execute("DELETE FROM file WHERE id = ?", (file_id,))
                self._note_erasure()
                self._count_change()
        return missed

    def clear(self, path: str) -> None:
        """Take out what came of a file that is to be read from its beginning, when it can be."""
        with self._transaction():
            gone = self._connection.execute(
                "DELETE FROM document WHERE file_id = (SELECT id FROM file WHERE path = ?)", (path,)
            )
            self._connection.execute(
                """UPDATE file SET (mtime_ns, state) = (NULL, NULL)
                WHERE path = ? AND (mtime_ns, state) IS NOT (NULL, NULL)""",
                (path,),
            )
            if gone.rowcount:
                self._note_erasure()
                self._count_change()

    def missing(self, digests: Iterable[bytes]) -> list[bytes]:
        """Those of the chunk digests that have no vector of the model yet, each once, in order."""
        with translated(self._path):
            return [
                digest
                for digest in dict.fromkeys(digests)
                if not self._connection.execute(
                    "SELECT 1 FROM embedding WHERE model_id = ? AND digest = ? AND background IS NOT NULL",
                    (self._model, digest),
                ).fetchone()
            ]

    def put_embedded(self, embedded: Mapping[bytes, Embedded]) -> None:
        """Store what the model made of texts, by the digests of these; what is known stays."""
        with self._transaction():
            for digest, made in embedded.items():
                background = made.background.astype(STORED_FLOAT).tobytes()
                row = self._connection.execute(
                    """INSERT INTO embedding (model_id, digest, vector, background) VALUES (?, ?, ?, ?)
                    ON CONFLICT (model_id, digest) DO UPDATE
                    SET (vector, background) = (excluded.vector, excluded.background) WHERE background IS NULL
                    RETURNING id""",
                    (self._model, digest, made.vector.astype(STORED_FLOAT).tobytes(), background),
                ).fetchone()
                if row and made.sketch:
                    self._connection.execute("INSERT OR REPLACE INTO sketch VALUES (?, ?)", (*row, made.sketch))
            if embedded:
                self._count_change()

    def put(
        self, file: FoundFile, entry: Entry | None, *, state: str | None = None, finish: Finish | None = None
    ) -> Outcome:
        """Write a document of an enlisted file, and say whether it is new or other than it was.

        `state` is what the reader of a growing file goes on from, None leaves it as it is. With `finish` the file is
        done, which it can also be without a further document.
        """
        outcome: Outcome = "unchanged"
        with self._transaction():
            file_id = self._number("SELECT id FROM file WHERE path = ?", file.path)
            if entry is not None:
                outcome = put_document(self._connection, file_id, entry)
            if state is not None:
                self._connection.execute("UPDATE file SET state = ? WHERE id = ?", (state, file_id))
            if finish is not None and finish_file(self._connection, file_id, file, finish) and outcome == "unchanged":
                outcome = "changed"
            if outcome != "unchanged":
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
        """At the end of a whole run: drop what nothing uses any more, and bring all pages into the main file."""
        tidy(self._connection, self._path)

    def _note_erasure(self) -> None:
        note_erasure(self._connection)

    def _count_change(self) -> None:
        self._connection.execute("UPDATE meta SET value = value + 1 WHERE key = 'generation'")

    def _number(self, query: str, value: str) -> int:
        (number,) = self._connection.execute(query, (value,)).fetchone()
        return int(number)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with translated(self._path), transaction(self._connection):
            yield
