"""What the team's server holds, and the few questions and changes that machines put to it.

A change takes the clock's row first and keeps it to its end: numbers become visible in their order, and no machine has
to ask twice for what it has seen. Texts and packs, which take the time, are on the server before that.
"""

import secrets
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import cast

from recall.core.errors import ShareError
from recall.core.types import Kind
from recall.replica.membership import is_machine, plain_name
from recall.replica.pack import MAX_PACK
from recall.replica.record import (
    MAX_BODY,
    MAX_DESCRIPTION,
    MAX_NAME,
    MAX_PATH,
    MAX_PROJECT,
    MAX_SUCCESSOR,
    TeamRecord,
)
from recall.replica.replica import Change, Cursor
from recall.share.connection import Connection, repeated
from recall.share.schema import MOST_CHANGES, check_clock, check_version

_DIGEST = 32
#: Most bytes of packs that are fetched together.
_PACKS_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Head:
    """All that a quiet exchange asks: the team's number, the last change of all with its mark, and the mark of another
    one that was asked for. Of this machine: its last change that the server has (None: it does not know the machine),
    which computer writes in its name ("": not known), how many places it holds something at, and the last number among
    these."""

    team: str
    seq: int
    mark: str
    known: str
    written: int | None
    computer: str
    held: int
    newest: int


@dataclass(frozen=True, slots=True)
class Held:
    """What a machine has at a place."""

    place: bytes
    content: bytes
    project: str
    path: str


class Server:
    """The server as one machine uses it."""

    def __init__(self, connection: Connection, machine: str) -> None:
        self._connection = connection
        self.machine = machine

    def head(self, known: int = 0) -> Head:
        """One small query; `known` is the change whose mark is asked for. Raises ShareError for a schema that this
        program does not know, or a clock that somebody set by hand."""
        row = self._connection.execute(
            """SELECT team.id, team.version, clock.seq,
                coalesce((SELECT mark FROM past WHERE past.seq = clock.seq), ''),
                coalesce((SELECT mark FROM past WHERE past.seq = %s), ''),
                machine.written, coalesce(substr(machine.computer, 1, 64), ''), own.places, own.newest
            FROM team CROSS JOIN clock LEFT JOIN machine ON machine.id = %s CROSS JOIN (
                SELECT count(*) AS places, coalesce(max(seq), 0) AS newest FROM holding
                WHERE machine = %s AND content IS NOT NULL
            ) AS own
            WHERE team.one = 1 AND clock.one = 1""",
            [known, self.machine, self.machine],
        ).fetchone()
        if row is None:
            raise ShareError("the team's server holds half a team; run `recall share init` with its address again")
        team, version, seq, *_ = row
        check_version(cast(int, version))
        check_clock(cast(int, seq))
        return Head(cast(str, team), *cast("tuple[int, str, str, int | None, str, int, int]", row[2:]))

    def enrol(self, name: str, person: str, computer: str = "") -> None:
        """Let this machine take part, go by another name, or be another computer."""
        self._connection.execute(
            """INSERT INTO machine (id, name, person, computer) VALUES (%s, %s, %s, %s) ON CONFLICT (id) DO UPDATE
            SET name = excluded.name, person = excluded.person, computer = excluded.computer""",
            [self.machine, name, person, computer],
        )

    def changes(self, after: Cursor, until: int, limit: int) -> tuple[list[Change], dict[str, tuple[str, str]], Cursor]:
        """The next changes of other machines up to number `until`, their makers' names, and up to where these are all
        the changes; behind `until` where no more are left.

        A row that cannot be one of recall's is left out.
        """
        rows = self._connection.execute(
            """SELECT holding.machine, holding.place, holding.content, holding.seq,
                substr(holding.project, 1, %s), CASE WHEN length(holding.path) <= %s THEN holding.path END,
                substr(machine.name, 1, 200), substr(machine.person, 1, 200)
            FROM holding JOIN machine ON machine.id = holding.machine
            WHERE (holding.seq, holding.machine, holding.place) > (%s, %s, %s) AND holding.seq <= %s
                AND holding.machine <> %s AND length(holding.machine) = 32 AND length(holding.place) = %s
            ORDER BY holding.seq, holding.machine, holding.place LIMIT %s""",
            [MAX_PROJECT, MAX_PATH, *after, until, self.machine, _DIGEST, limit],
            binary=True,
        ).fetchall()
        changes, machines = [], {}
        for machine, place, content, seq, project, path, name, person in cast(
            "list[tuple[str, bytes, bytes | None, int, str, str | None, str, str]]", rows
        ):
            if is_machine(machine):
                # A path that is too long comes as none, and its record is refused like one that leads upwards.
                changes.append(Change(machine, place, content, project, "\0" if path is None else path, seq))
                machines[machine] = (plain_name(name), plain_name(person))
        if len(rows) < limit:
            return changes, machines, Cursor(until + 1)
        machine, place, _, seq, *_ = cast("tuple[str, bytes, object, int]", rows[-1])
        return changes, machines, Cursor(seq, machine, place)

    def records(self, contents: Collection[bytes]) -> dict[bytes, TeamRecord]:
        """The texts of contents as the server has them. One with a part that is too long is left out unread."""
        rows = self._connection.execute(
            """SELECT id, kind, name, description, body, date, language, successor FROM content
            WHERE id = ANY(%s) AND length(kind) < 20 AND length(name) <= %s AND length(description) <= %s
                AND length(body) <= %s AND length(coalesce(date, '')) <= 10 AND length(coalesce(language, '')) <= 3
                AND length(coalesce(successor, '')) <= %s""",
            [list(contents), MAX_NAME, MAX_DESCRIPTION, MAX_BODY, MAX_SUCCESSOR],
            binary=True,
        )
        return {
            cast(bytes, id_): TeamRecord(cast(Kind, kind), *cast("tuple[str, str, str]", rest))
            for id_, kind, *rest in rows
        }

    def packs(self, contents: Collection[bytes], model: str) -> Iterator[dict[bytes, bytes]]:
        """What a model made of contents, of those of which somebody has sent it; no more at a time than the memory
        takes easily."""
        sizes = self._connection.execute(
            """SELECT content, octet_length(pack) FROM embedding
            WHERE model = %s AND content = ANY(%s) AND octet_length(pack) <= %s ORDER BY content""",
            [model, list(contents), MAX_PACK],
            binary=True,
        ).fetchall()
        some: list[bytes] = []
        room = _PACKS_BYTES
        for content, size in cast("list[tuple[bytes, int]]", sizes):
            if some and size > room:
                yield self._packs(some, model)
                some, room = [], _PACKS_BYTES
            some.append(content)
            room -= size
        if some:
            yield self._packs(some, model)

    def _packs(self, contents: list[bytes], model: str) -> dict[bytes, bytes]:
        rows = self._connection.execute(
            """SELECT content, pack FROM embedding
            WHERE model = %s AND content = ANY(%s) AND octet_length(pack) <= %s""",
            [model, contents, MAX_PACK],
            binary=True,
        )
        return dict(cast("Iterable[tuple[bytes, bytes]]", rows))

    def own(self) -> tuple[int, list[Held]]:
        """The last change of this machine that the server has, and all that it holds."""
        with self._connection.transaction():
            row = self._connection.execute("SELECT written FROM machine WHERE id = %s", [self.machine]).fetchone()
            rows = self._connection.execute(
                "SELECT place, content, project, path FROM holding WHERE machine = %s AND content IS NOT NULL",
                [self.machine],
                binary=True,
            ).fetchall()
        return cast(int, row[0]) if row else 0, [
            Held(*row) for row in cast("list[tuple[bytes, bytes, str, str]]", rows)
        ]

    def put(self, records: Sequence[TeamRecord], held: Sequence[Held], gone: Sequence[bytes]) -> int:
        """Hold contents at places, and none at the places that are `gone`; the number of the change.

        `records` are the texts of all that is held. Texts that nobody holds any more go with the change.
        """
        return repeated(self._connection, lambda: self._put(records, held, gone))

    def _put(self, records: Sequence[TeamRecord], held: Sequence[Held], gone: Sequence[bytes]) -> int:
        texts = {record.id: record for record in records}
        self._put_records(texts)
        seq = self._tick()
        # Others may have taken back the last copy of a text after it was found there.
        self._put_records({id_: texts[id_] for id_ in self.lacking(texts)})
        places = [*(one.place for one in held), *gone]
        before = self._connection.execute(
            "SELECT DISTINCT content FROM holding WHERE machine = %s AND place = ANY(%s) AND content IS NOT NULL",
            [self.machine, places],
            binary=True,
        ).fetchall()
        with self._connection.cursor() as cursor:
            cursor.executemany(
                """INSERT INTO holding (machine, place, content, project, path, seq) VALUES (%s, %s, %s, %s, %s, %s)
                ON CONFLICT (machine, place) DO UPDATE SET content = excluded.content, project = excluded.project,
                    path = excluded.path, seq = excluded.seq""",
                [(self.machine, *astuple(one), seq) for one in held]
                + [(self.machine, place, None, "", "", seq) for place in gone],
            )
        self._sweep([cast(bytes, row[0]) for row in before])
        self._connection.execute("UPDATE machine SET written = %s WHERE id = %s", [seq, self.machine])
        return seq

    def put_packs(self, packs: Mapping[bytes, bytes], model: str) -> None:
        """Give others what a model made of contents; what is there stays."""

        def work() -> None:
            with self._connection.cursor() as cursor:
                cursor.executemany(
                    """INSERT INTO embedding (content, model, pack)
                    SELECT id, %s, %b FROM content WHERE id = %s ON CONFLICT DO NOTHING""",
                    [(model, pack, content) for content, pack in sorted(packs.items())],
                )

        repeated(self._connection, work)

    def lacking(self, contents: Collection[bytes]) -> list[bytes]:
        """Those of the contents that the server does not have."""
        known = self._connection.execute("SELECT id FROM content WHERE id = ANY(%s)", [list(contents)], binary=True)
        return sorted(set(contents) - {cast(bytes, row[0]) for row in known})

    def lacking_packs(self, contents: Collection[bytes], model: str) -> list[bytes]:
        """Those of the contents of which the server has nothing of a model yet."""
        known = self._connection.execute(
            "SELECT content FROM embedding WHERE model = %s AND content = ANY(%s)", [model, list(contents)], binary=True
        )
        return sorted(set(contents) - {cast(bytes, row[0]) for row in known})

    def leave(self) -> int:
        """Take back all that this machine holds, and its names; how many records that were."""
        return repeated(self._connection, self._leave)

    def _leave(self) -> int:
        seq = self._tick()
        before = self._connection.execute(
            "SELECT content FROM holding WHERE machine = %s AND content IS NOT NULL", [self.machine], binary=True
        ).fetchall()
        self._connection.execute(
            """UPDATE holding SET content = NULL, project = '', path = '', seq = %s
            WHERE machine = %s AND content IS NOT NULL""",
            [seq, self.machine],
        )
        self._sweep([cast(bytes, row[0]) for row in before])
        self._connection.execute("UPDATE machine SET name = '', person = '' WHERE id = %s", [self.machine])
        return len(before)

    def _put_records(self, records: Mapping[bytes, TeamRecord]) -> None:
        if not records:
            return
        with self._connection.cursor() as cursor:
            cursor.executemany(
                """INSERT INTO content (id, kind, name, description, body, date, language, successor)
                VALUES (%s, %s, %s, %s, %s, %s, %s, %s) ON CONFLICT DO NOTHING""",
                [(id_, *astuple(record)) for id_, record in sorted(records.items())],
            )

    def _tick(self) -> int:
        row = self._connection.execute(
            # No further than one beyond what is believed: another sum might be none that the column holds.
            "UPDATE clock SET seq = least(seq, %s) + 1 WHERE one = 1 RETURNING seq",
            [MOST_CHANGES],
        ).fetchone()
        if row is None:
            raise ShareError("the team's server holds half a team; run `recall share init` with its address again")
        seq = cast(int, row[0])
        check_clock(seq)
        self._connection.execute(  # a number comes again where the clock was set back
            "INSERT INTO past (seq, mark) VALUES (%s, %s) ON CONFLICT (seq) DO UPDATE SET mark = excluded.mark",
            [seq, secrets.token_hex(8)],
        )
        return seq

    def _sweep(self, contents: Collection[bytes]) -> None:
        """Delete those of the contents that nobody holds, with what models made of them."""
        self._connection.execute(
            """DELETE FROM content WHERE id = ANY(%s)
            AND NOT EXISTS (SELECT 1 FROM holding WHERE holding.content = content.id)""",
            [list(contents)],
        )
