"""The schema on the server as numbered steps. Plain SQL, so that whatever speaks PostgreSQL's protocol will do.

team        one row: the team's number, and how many steps the schema has seen
clock       one row: the number of the last change. Whoever writes takes the row's lock and holds it to the end, so that
            changes become visible in the order of their numbers, and no machine's own clock matters
past        a mark, drawn by chance, for each change: whoever remembers one misses it on a server that was set up from
            an older copy, even where others have gone on there
machine     who takes part; `written` is the last change of its own, `computer` which one writes in its name
content     records' texts by the SHA-256 of all of it; gone with its last holder
holding     which machine holds which content at which of its places; content NULL: not any more. Such rows stay, some
            hundred bytes each without a word, for machines that come back after a long time
embedding   what a model made of a content, packed (recall/replica/pack.py)
"""

from typing import Any

from recall.core.errors import ShareError
from recall.text.clean import one_line

#: A schema of its own, so that the database may hold other things.
NAME = "recall"
#: The most changes that are believed of a team: a thousand a second would take 285,000 years.
MOST_CHANGES = 2**53

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        "CREATE TABLE clock (one smallint PRIMARY KEY, seq bigint NOT NULL)",
        "INSERT INTO clock VALUES (1, 0)",
        "CREATE TABLE past (seq bigint PRIMARY KEY, mark text NOT NULL)",
        """CREATE TABLE machine (
            id text PRIMARY KEY,
            name text NOT NULL,
            person text NOT NULL,
            computer text NOT NULL DEFAULT '',
            joined timestamptz NOT NULL DEFAULT now(),
            written bigint NOT NULL DEFAULT 0
        )""",
        """CREATE TABLE content (
            id bytea PRIMARY KEY,
            kind text NOT NULL,
            name text NOT NULL,
            description text NOT NULL,
            body text NOT NULL,
            date text,
            language text,
            successor text
        )""",
        """CREATE TABLE holding (
            machine text NOT NULL REFERENCES machine,
            place bytea NOT NULL,
            content bytea REFERENCES content,
            project text NOT NULL,
            path text NOT NULL,
            seq bigint NOT NULL,
            PRIMARY KEY (machine, place)
        )""",
        "CREATE INDEX holding_change ON holding (seq, machine, place)",
        "CREATE INDEX holding_content ON holding (content)",
        """CREATE TABLE embedding (
            content bytea NOT NULL REFERENCES content ON DELETE CASCADE,
            model text NOT NULL,
            pack bytea NOT NULL,
            PRIMARY KEY (content, model)
        )""",
    ),
)


def migrate(connection: Any, team: str, role: str | None = None) -> str:
    """Make the schema, or bring it up to date, and let a database role use it; the number of the team.

    `team` is the number for a new one. Raises ShareError where a newer recall has written the schema.
    """
    with connection.transaction():
        connection.execute(f"CREATE SCHEMA IF NOT EXISTS {NAME}")
        connection.execute(
            "CREATE TABLE IF NOT EXISTS team (one smallint PRIMARY KEY, id text NOT NULL, version integer NOT NULL)"
        )
        connection.execute("INSERT INTO team VALUES (1, %s, 0) ON CONFLICT DO NOTHING", [team])
        known, version = connection.execute("SELECT id, version FROM team WHERE one = 1 FOR UPDATE").fetchone()
        check_version(version)
        for step in MIGRATIONS[version:]:
            for statement in step:
                connection.execute(statement)
        connection.execute("UPDATE team SET version = %s WHERE version < %s", [len(MIGRATIONS), len(MIGRATIONS)])
        if role is not None:
            _grant(connection, role)
    return str(known)


def check_version(version: int) -> None:
    """Raises ShareError for a schema that this program does not know."""
    if version > len(MIGRATIONS):
        raise ShareError(
            f"the team's server was set up by a newer recall (format {version}, this program knows {len(MIGRATIONS)}); "
            "update recall on this machine"
        )


def check_clock(seq: int) -> None:
    """Raises ShareError for a number of changes that no team can have made."""
    if not 0 <= seq <= MOST_CHANGES:
        raise ShareError(
            f"expected the number of the team's last change in recall.clock on its server, found {seq}, which no team "
            "can have reached; nothing was exchanged: let the server's owner set it back to the last number in "
            "recall.past, or drop the schema recall and run `recall share init` anew"
        )


def _grant(connection: Any, role: str) -> None:
    from psycopg import errors, sql  # noqa: PLC0415  (nothing but the share commands loads it)

    for statement in (
        "GRANT USAGE ON SCHEMA {schema} TO {role}",
        "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema} TO {role}",
    ):
        try:
            connection.execute(sql.SQL(statement).format(schema=sql.Identifier(NAME), role=sql.Identifier(role)))
        except (errors.UndefinedObject, errors.ReservedName, errors.SyntaxError):
            raise ShareError(
                f'expected a role that the server knows, found none named "{one_line(role)[:63]}"; nothing was '
                "changed: give its right name, or let the server's owner make it: CREATE ROLE name LOGIN PASSWORD ..."
            ) from None
