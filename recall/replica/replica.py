"""The replica: the writer of share.sqlite3, held by the one process that exchanges records with the server.

Each method is one transaction. What came of a page of changes and how far the changes are known is written together,
so that an end at any moment neither loses a change nor takes one twice.
"""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import NamedTuple

from recall.core.types import Kind
from recall.replica.record import TeamRecord
from recall.replica.tables import open_for_writing, translated
from recall.store.guard import transaction

_PARAMETERS = 900  # SQLite takes 999 everywhere


class Cursor(NamedTuple):
    """Up to where changes are known: those of this number up to this machine's place are."""

    seq: int = 0
    machine: str = ""
    place: bytes = b""


@dataclass(frozen=True, slots=True)
class Change:
    """What another machine holds at a place since `seq`; `content` None: nothing any more."""

    machine: str
    place: bytes
    content: bytes | None
    project: str
    path: str
    seq: int


@dataclass(frozen=True, slots=True)
class Page:
    """Changes in order, up to `cursor`. `machines`: the names of who made them, machine and person, by their numbers;
    `records`: the texts of contents that were lacking."""

    changes: Sequence[Change]
    machines: Mapping[str, tuple[str, str]]
    records: Mapping[bytes, TeamRecord]
    cursor: Cursor


@dataclass(frozen=True, slots=True)
class Sent:
    """What the server has of a file of this machine; `content` b"": nothing, it was read and stays at home.

    `mtime_ns` None: to be looked at again. `model`: the identity of the model whose vectors the server has of it, ""
    for none.
    """

    file: str
    kind: Kind
    place: bytes
    content: bytes
    size: int  # bytes
    mtime_ns: int | None
    model: str


class Replica:
    """An open share.sqlite3. The caller holds `share.lock`. Every method raises ShareError where the disk fails."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._connection = open_for_writing(path)

    def __enter__(self) -> "Replica":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file. What was written stands already."""
        self._connection.close()

    @property
    def cursor(self) -> Cursor:
        """Up to where the changes of others are known."""
        seq, machine, place = json.loads(self.get("cursor") or '[0, "", ""]')
        return Cursor(seq, machine, bytes.fromhex(place))

    @property
    def seen(self) -> tuple[int, str]:
        """The last change of all that was heard of, and its mark."""
        seq, _, mark = (self.get("seen") or "0 ").partition(" ")
        return int(seq), mark

    def get(self, key: str) -> str:
        """One value of `meta` as a text, "" where there is none."""
        with translated(self._path):
            row = self._connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return str(row[0]) if row else ""

    def put(self, **values: str | int | None) -> None:
        """Set values of `meta`; None takes one out."""
        with self._transaction():
            self._put(values)

    def reset(self) -> None:
        """Know nothing any more: the server is another one, or was set back."""
        with self._transaction():
            for table in ("meta", "machine", "content", "holding", "embedding", "sent"):
                self._connection.execute(f"DELETE FROM {table}")  # noqa: S608  names of our own

    def lacking(self, contents: Iterable[bytes]) -> list[bytes]:
        """Those of the contents whose text is not here, each once, in order."""
        wanted = list(dict.fromkeys(contents))
        known = self._known("SELECT id FROM content WHERE id IN ({})", wanted)
        return [content for content in wanted if content not in known]

    def held(self, contents: Collection[bytes]) -> set[bytes]:
        """Those of the contents that this machine has itself."""
        return self._known("SELECT content FROM sent WHERE content IN ({})", list(contents))

    def counts(self) -> Counter[str]:
        """How many records of each other machine are here."""
        with translated(self._path):
            return Counter(dict(self._connection.execute("SELECT machine, count(*) FROM holding GROUP BY machine")))

    def holds(self, machine: str, place: bytes) -> bool:
        """Whether something of another machine's place is here."""
        with translated(self._path):
            query = "SELECT 1 FROM holding WHERE machine = ? AND place = ?"
            return self._connection.execute(query, (machine, place)).fetchone() is not None

    def apply(self, page: Page) -> None:
        """Take over a page of changes. A change whose content is neither here nor in the page is passed over, and what
        was at its place goes."""
        with self._transaction():
            run = self._connection.execute
            many = self._connection.executemany
            many(
                "INSERT OR REPLACE INTO machine VALUES (?, ?, ?)",
                [(id_, *names) for id_, names in page.machines.items()],
            )
            many(
                "INSERT OR IGNORE INTO content VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                [(id_, *astuple(record)) for id_, record in page.records.items()],
            )
            before = set(page.records)
            for change in page.changes:
                place = (change.machine, change.place)
                before.update(
                    id_ for (id_,) in run("SELECT content FROM holding WHERE machine = ? AND place = ?", place)
                )
                run("DELETE FROM holding WHERE machine = ? AND place = ?", place)
                if change.content is not None:
                    run(
                        """INSERT INTO holding SELECT ?, ?, id, ?, ?, ? FROM content WHERE id = ?""",
                        (*place, change.project, change.path, change.seq, change.content),
                    )
            # Only what may have lost its last holder: looking over all of it at each page takes time by its square.
            for table, id_ in (("content", "id"), ("embedding", "content")):
                many(
                    f"DELETE FROM {table} WHERE {id_} = ?1 AND NOT EXISTS"  # noqa: S608  names of our own
                    " (SELECT 1 FROM holding WHERE holding.content = ?1)",
                    [(content,) for content in before],
                )
            self._put({"cursor": json.dumps([page.cursor.seq, page.cursor.machine, page.cursor.place.hex()])})

    def sent(self) -> dict[str, Sent]:
        """What the server has of this machine, by the file here."""
        with translated(self._path):
            rows = self._connection.execute(
                "SELECT file, kind, place, content, size, mtime_ns, model FROM sent"
            ).fetchall()
        return {row[0]: Sent(*row) for row in rows}

    def places(self) -> int:
        """At how many places the server has something of this machine."""
        with translated(self._path):
            query = "SELECT count(DISTINCT place) FROM sent WHERE length(content) > 0"
            return int(self._connection.execute(query).fetchone()[0])

    def put_sent(self, gone: Iterable[str], sent: Iterable[Sent], written: int | None = None) -> None:
        """Note what the server has now, and as of which change of ours."""
        with self._transaction():
            self._connection.executemany("DELETE FROM sent WHERE file = ?", [(file,) for file in gone])
            self._connection.executemany(
                "INSERT OR REPLACE INTO sent VALUES (?, ?, ?, ?, ?, ?, ?)", [astuple(one) for one in sent]
            )
            if written is not None:
                self._put({"written": written})

    def drop_packs(self, packs: Iterable[tuple[bytes, str]]) -> None:
        """Let go of packs, each named by content and model: nobody waits for them."""
        with self._transaction():
            self._connection.executemany("DELETE FROM embedding WHERE content = ? AND model = ?", packs)
        with translated(self._path):  # they are most of the file
            self._connection.executescript("PRAGMA incremental_vacuum")  # `execute` frees one page

    def contents(self) -> list[bytes]:
        """All contents of others whose text is here."""
        with translated(self._path):
            return [row[0] for row in self._connection.execute("SELECT id FROM content ORDER BY id")]

    def add_packs(self, packs: Mapping[bytes, bytes], model: str) -> None:
        """Keep what a model made of contents until the index takes it over."""
        with self._transaction():
            self._connection.executemany(
                "INSERT OR IGNORE INTO embedding VALUES (?, ?, ?)", [(id_, model, data) for id_, data in packs.items()]
            )

    def packs(self) -> list[tuple[bytes, str]]:
        """Content and model of each pack that the index has perhaps not taken over yet."""
        with translated(self._path):
            return self._connection.execute("SELECT content, model FROM embedding").fetchall()

    def _known(self, query: str, values: Sequence[bytes]) -> set[bytes]:
        found: set[bytes] = set()
        with translated(self._path):
            for start in range(0, len(values), _PARAMETERS):
                some = values[start : start + _PARAMETERS]
                found.update(row[0] for row in self._connection.execute(query.format(", ".join("?" * len(some))), some))
        return found

    def _put(self, values: Mapping[str, str | int | None]) -> None:
        for key, value in values.items():
            if value is None:
                self._connection.execute("DELETE FROM meta WHERE key = ?", (key,))
            else:
                self._connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with translated(self._path), transaction(self._connection):
            yield
