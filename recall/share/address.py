"""The server's address, and the password that goes with it: where that comes from, and that it never shows.

A password is looked for in PGPASSWORD, then in the state folder's `share.pass`, where one goes that was typed at the
prompt and is to be kept, or without that file in the person's own pgpass file, whose form it has.
"""

import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from recall.core.atomic import replace_bytes
from recall.core.errors import UsageError
from recall.text.clean import one_line

#: What the hosts of this machine are called; only between other machines it matters who listens on the way.
_LOCAL = {"", "localhost", "127.0.0.1", "::1"}


def checked(url: str) -> str:
    """The address as it was given. Raises UsageError where it is none, or holds a password."""
    fields = fields_of(url)
    if any("password" in name or "secret" in name for name in fields):
        raise UsageError(
            "expected an address without a password (on a command line every process of this machine can read it); "
            "leave it out: PGPASSWORD, your pgpass file or a prompt gives it"
        )
    if not fields.get("dbname"):
        raise UsageError("expected postgresql://USER@HOST:PORT/DATABASE, found no DATABASE in it")
    return url


def fields_of(url: str) -> dict[str, str]:
    """The parts of an address by the names that PostgreSQL gives them. Raises UsageError."""
    import psycopg  # noqa: PLC0415  (nothing but the share commands loads it)
    from psycopg.conninfo import conninfo_to_dict  # noqa: PLC0415

    expected = "expected an address of the form postgresql://USER@HOST:PORT/DATABASE"
    if not url.startswith(("postgresql://", "postgres://")):
        raise UsageError(f"{expected}, found another one")
    try:
        fields = {key: str(value) for key, value in conninfo_to_dict(url).items() if value is not None}
        _shown(url)
    except (psycopg.Error, ValueError):  # the message would quote the address
        unknown = _unknown_part(url)
        if unknown:
            raise UsageError(
                f"expected settings of PostgreSQL behind the `?` of the address (like sslmode=verify-full), found "
                f"{unknown}, which is none; correct it or leave it out"
            ) from None
        raise UsageError(f"{expected}, found a broken one") from None
    return fields


def _unknown_part(url: str) -> str | None:
    """The name of a setting behind the `?` that PostgreSQL does not know; None where it may be a piece of a password
    instead, which is no matter for a message."""
    from psycopg.pq import Conninfo  # noqa: PLC0415

    query = url.partition("?")[2]
    known = {option.keyword.decode() for option in Conninfo.get_defaults()} | {"ssl"}
    names = [pair.partition("=")[0] for pair in query.split("&")]
    unknown = [name for name in names if name not in known and re.fullmatch(r"[A-Za-z_]{1,30}", name)]
    return unknown[0] if unknown and "@" not in query else None


def shown(url: str) -> str:
    """The address in short, for messages: `host:port/database`. Of one that somebody broke, nothing."""
    try:
        return _shown(url)
    except ValueError:
        return "(the address is broken)"


def _shown(url: str) -> str:
    parts = urlsplit(url)
    words = parse_qs(parts.query)
    host = words.get("host", [parts.hostname])[-1] or "localhost"
    port = words.get("port", [parts.port])[-1] or 5432
    return one_line(f"{host}:{port}{parts.path}")


def is_protected(url: str) -> bool:
    """Whether nobody between the machines can listen or put himself in the server's place."""
    return _is_behind_tls(url, {"verify-full"})


def is_encrypted(url: str) -> bool:
    """Whether nobody between the machines can only listen."""
    return _is_behind_tls(url, {"verify-full", "verify-ca", "require"})


def _is_behind_tls(url: str, modes: set[str]) -> bool:
    """Whether the way to the server is TLS of one of these `sslmode`s, or does not leave this machine."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    words = parse_qs(parts.query)
    hosts = {*words.get("host", [parts.hostname or ""]), *words.get("hostaddr", [])}
    return hosts <= _LOCAL or words.get("sslmode", [""])[-1] in modes


def keep_password(file: Path, url: str, password: str) -> None:
    """Keep a password in a pgpass file, for the owner's eyes only; it goes to this server, database and user alone.
    Raises UsageError, RecallError."""
    fields = fields_of(url)
    parts = [fields.get("host") or fields.get("hostaddr"), fields.get("port") or "5432", fields.get("dbname")]
    words = [*(part or "*" for part in parts), fields.get("user") or "*", password]
    line = ":".join(word if word == "*" else word.replace("\\", "\\\\").replace(":", "\\:") for word in words)
    replace_bytes(file, f"{line}\n".encode(), 0o600)
