"""One connection to the team's server, and what goes wrong with it in our own words."""

import os
import random
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar, cast

import psycopg
from psycopg import errors
from psycopg.abc import PQGen

from recall.core.errors import ShareError, ShareUnreachable
from recall.share.address import fields_of, is_encrypted, shown
from recall.share.refusal import reason, refusal
from recall.share.schema import NAME
from recall.text.clean import one_line

Result = TypeVar("Result")

#: Seconds to wait for a server to answer at all, and for one statement of its work.
CONNECT_SECONDS, STATEMENT_SECONDS = 10, 120
#: Seconds of silence after which a server is given up that has taken a question and never answers.
SILENT_SECONDS = STATEMENT_SECONDS + 30
#: How often work is done anew that the server gave up because another machine was at the same rows.
TRIES = 8

#: The libpq that can refuse to send a password as it stands (`require_auth`).
_CAN_REQUIRE = 160_000

#: How it says so; also: a text went while we wrote what belongs to it, and two machines made the schema at once.
_OTHERS_AT_IT = (
    errors.SerializationFailure,
    errors.DeadlockDetected,
    errors.UniqueViolation,
    errors.ForeignKeyViolation,
    errors.DuplicateSchema,
    errors.DuplicateTable,
)


class Connection(psycopg.Connection[tuple[object, ...]]):
    """A connection that does not wait for ever: `statement_timeout` is the server's to keep, and a server that hangs,
    or is none, keeps nothing."""

    def wait(self, gen: PQGen[Result], *args: Any, **kwargs: Any) -> Result:
        return super().wait(self._heard(gen), *args, **kwargs)

    def _heard(self, gen: PQGen[Result]) -> PQGen[Result]:
        """The steps of a question, as long as something is heard of the server in between."""
        try:
            wanted = next(gen)
            since = time.monotonic()
            while True:
                ready = yield wanted
                if ready:
                    since = time.monotonic()
                elif time.monotonic() - since > SILENT_SECONDS:
                    self.pgconn.finish()
                    raise psycopg.OperationalError(f"nothing was heard of it for {SILENT_SECONDS} s")
                wanted = gen.send(ready)
        except StopIteration as end:
            return cast(Result, end.value)


class NeedsPassword(ShareError):
    """The server wants a password, and none was found or it was wrong."""


@contextmanager
def connected(url: str, password_file: Path, password: str | None = None) -> Iterator[Connection]:
    """A connection whose names are looked up in our schema; each statement is a transaction unless one is begun.

    Raises ShareUnreachable, NeedsPassword, ShareError; none of their sentences holds the password.
    """
    with translated(url):
        connection = _connect(url, password_file, password)
        with connection:
            yield connection


def repeated(connection: Connection, work: Callable[[], Result]) -> Result:
    """Do `work` in a transaction, anew where the server gave it up for another machine's sake."""
    for left in reversed(range(TRIES)):
        try:
            with connection.transaction():
                return work()
        except _OTHERS_AT_IT:
            if not left:
                raise
            time.sleep(random.uniform(0.02, 0.2))  # noqa: S311  (no secret: so that two do not meet again)
    raise AssertionError


@contextmanager
def translated(url: str) -> Iterator[None]:
    """Turn what psycopg raises in the block into a ShareError. Messages of the server may quote a text: ours do not."""
    try:
        yield
    except psycopg.OperationalError as error:
        unreachable = error.sqlstate is None or error.sqlstate[:2] in ("08", "57", "53")
        if unreachable and not isinstance(error, errors.QueryCanceled):
            raise _unreachable(url, error) from None
        raise ShareError(_sentence(url, error)) from None
    except psycopg.Error as error:
        raise ShareError(_sentence(url, error)) from None


def _connect(url: str, password_file: Path, password: str | None) -> Connection:
    options: dict[str, object] = {} if password is None else {"password": password}
    if password is None and password_file.exists():
        options["passfile"] = str(password_file)
    own = "require_auth" in fields_of(url) or os.environ.get("PGREQUIREAUTH")
    if psycopg.pq.version() >= _CAN_REQUIRE and not own and not is_encrypted(url):
        options["require_auth"] = "!password"  # whoever listens could read it
    try:
        connection = Connection.connect(
            url,
            autocommit=True,
            application_name="recall",
            client_encoding="utf8",
            connect_timeout=CONNECT_SECONDS,
            keepalives_idle=30,
            tcp_user_timeout=1000 * CONNECT_SECONDS * 3,
            **options,  # type: ignore[arg-type]
        )
    except psycopg.OperationalError as error:
        if error.pgconn and error.pgconn.needs_password:
            raise NeedsPassword(
                f"the team's server {shown(url)} wants a password for its user{_unused(password_file)}: set "
                "PGPASSWORD, write it into your pgpass file, or run `recall share join` on a terminal, which asks"
            ) from None
        if _refused_password(error):
            place, advice = _tried(password_file, password)
            raise NeedsPassword(
                f"the team's server {shown(url)} refused the password {place} (wrong, or out of date); {advice}"
            ) from None
        raise
    try:
        encoding = connection.info.parameter_status("server_encoding")
        if encoding != "UTF8":  # it would refuse texts, or count their bytes as characters
            raise ShareError(
                f"expected a database in UTF8 at {shown(url)}, found one in {one_line(str(encoding))[:40]}; let its "
                "owner make one: CREATE DATABASE name ENCODING 'UTF8' TEMPLATE template0"
            )
        connection.execute(f"SET search_path = {NAME}")
        connection.execute(f"SET statement_timeout = {1000 * STATEMENT_SECONDS}")
    except BaseException:
        connection.close()
        raise
    return connection


def _unused(password_file: Path) -> str:
    """Why libpq passes over the file of the password that is kept, where there is one."""
    if not password_file.exists():
        return ""
    if sys.platform != "win32" and password_file.stat().st_mode & 0o077:
        return f" ({password_file} is not used, for others can read it; `chmod 600` makes it good again)"
    return f" ({password_file} holds none for this server, database and user)"


def _refused_password(error: psycopg.OperationalError) -> bool:
    """Whether a password was sent and is a wrong one; a server may say so in another language."""
    used = error.pgconn is not None and error.pgconn.used_password
    said = str(error).lower()
    ways = ("password", "ldap", "pam", "radius", "bsd")  # of pg_hba.conf that ask for one
    return used and (
        any(f"{way} authentication failed" in said for way in ways)
        or "パスワード認証" in said
        or "password retrieved from file" in said  # libpq's own words, whatever the server speaks
    )


def _tried(password_file: Path, password: str | None) -> tuple[str, str]:
    """Where the password came from, by libpq's order, and what to do there."""
    if password is not None:
        return "that was given", "try again with the right one; the server's owner sets a new one"
    kept = password_file.exists()
    if environment_password():
        return "in PGPASSWORD", (
            f"put the right one there, or unset it: the one that is kept in {password_file} is used then"
            if kept
            else "put the right one there, or unset it"
        )
    if kept:
        return f"that is kept in {password_file}", "`recall share join ADDRESS --keep-password` puts another one there"
    return "in your pgpass file (or service file)", "write the right one there"


def _unreachable(url: str, error: psycopg.OperationalError) -> ShareError:
    """What is the matter, by libpq's words or the server's code (PostgreSQL's appendix of error codes)."""
    if isinstance(error, errors.DiskFull | errors.OutOfMemory):
        lack = "room on its disk" if isinstance(error, errors.DiskFull) else "memory"
        return ShareError(f"the team's server {shown(url)} has no {lack} left; its owner has to see to it")
    told = refusal(url, error)
    return told or ShareUnreachable(
        f"the team's server {shown(url)} does not answer ({reason(error)}); see that it runs, and that the address is "
        "right"
    )


def _sentence(url: str, error: psycopg.Error) -> str:
    if isinstance(error, errors.UndefinedTable | errors.InvalidSchemaName):
        # PostgreSQL hides a schema from whoever may not use it.
        return (
            f"{shown(url)} holds no team yet, or none that this database user may use; `recall share init` with this "
            "address makes one, and its owner lets a colleague's user in: recall share init ADDRESS --grant ROLE"
        )
    if isinstance(error, errors.InsufficientPrivilege):
        return (
            f"this database user may not do that on {shown(url)}; its owner grants it: "
            "recall share init ADDRESS --grant ROLE"
        )
    if isinstance(error, errors.QueryCanceled):
        return f"the team's server {shown(url)} took more than {STATEMENT_SECONDS} s for one step; try again later"
    if isinstance(error, psycopg.OperationalError) and error.sqlstate is None:
        return f"no connection to {shown(url)}: {reason(error)}"
    name = type(error).__name__
    return f"the team's server {shown(url)} refused ({name}{f', {error.sqlstate}' if error.sqlstate else ''})"


def environment_password() -> str | None:
    """What PGPASSWORD holds."""
    return os.environ.get("PGPASSWORD") or None
