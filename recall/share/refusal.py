"""Why no connection came about, where libpq's words say more than that nobody answers: what it is, and what to do."""

import re
from typing import NamedTuple

import psycopg

from recall.core.errors import ShareError, ShareUnreachable
from recall.share.address import shown
from recall.text.clean import one_line


class _Kind(NamedTuple):
    """`words`: a pattern of the line that says so; `passes`: whether it passes by itself."""

    words: str
    what: str
    advice: str
    passes: bool = False


#: psycopg gives no SQLSTATE for what ends a connection before it stands, so that the words of libpq and of the server
#: must do (https://www.postgresql.org/docs/current/client-authentication-problems.html); a server may speak Japanese.
_KINDS = (
    _Kind(
        r"does not support SSL",
        "speaks no TLS, which is asked for (sslmode)",
        "let its owner turn it on (`ssl = on`), or leave sslmode out of the address in a network that you trust",
    ),
    _Kind(
        r'authentication method requirement "!password" failed',
        "asks for the password in clear text on a connection that is not encrypted, and did not get it",
        "ask for TLS in the address (?sslmode=verify-full), or let its owner set scram-sha-256 in pg_hba.conf",
    ),
    _Kind(
        r"pg_hba\.conf",
        "lets nobody in from here by this user, database and kind of connection",
        "let its owner add a line for them to pg_hba.conf; one that wants TLS is asked with ?sslmode=verify-full",
    ),
    _Kind(
        r"is not permitted to log in|ログインが許可",
        "has this user as a role that may not log in",
        "let its owner allow it (ALTER ROLE name LOGIN), or put another user into the address",
    ),
    _Kind(
        r"too many (connections|clients)|connection slots are reserved|多すぎ",
        "has no connection free at the moment",
        "try again later, or let its owner raise max_connections or the limit of the role or database",
        passes=True,
    ),
    _Kind(
        r'database ".*" does not exist|データベース.*存在しません',
        "has no database of this name",
        "check the end of the address, or let its owner make it: CREATE DATABASE name ENCODING 'UTF8'",
    ),
    _Kind(
        r"permission denied for database",
        "does not let this user use the database",
        "let its owner allow it: GRANT CONNECT ON DATABASE name TO role",
    ),
    _Kind(
        r'role ".*" does not exist',
        "knows no user of this name",
        "check the user in the address, or let its owner make it: CREATE ROLE name LOGIN",
    ),
    _Kind(
        r"definition of service|service file",
        "cannot be found through the service that is named",
        "check `service` in the address and PGSERVICE, or write the service into your pg_service.conf",
    ),
    _Kind(
        r"valid client certificate|certificate authentication failed",
        "wants a certificate of this machine, and got none that it takes",
        "add sslcert and sslkey to the address; its owner has them",
    ),
    _Kind(
        r"certificate|sslrootcert",
        "is not proved to be the right one by its certificate",
        "name the file of its authority in the address (sslrootcert=FILE), and the host as the certificate has it",
    ),
    _Kind(
        r"authentication failed",
        "does not take this user for who it says it is",
        "check the user in the address, or let its owner look into pg_hba.conf",
    ),
    _Kind(
        r"invalid (\w+ value|port number|integer value)",
        "cannot be asked with these settings",
        "correct this part of the address, or the PG... variable of the environment that it comes from",
    ),
)


def refusal(url: str, error: psycopg.OperationalError) -> ShareError | None:
    """What stands between us and the server as one sentence, None where it is only not there."""
    for line in str(error).splitlines():
        for kind in _KINDS:
            if re.search(kind.words, line, re.IGNORECASE):
                sort = ShareUnreachable if kind.passes else ShareError
                return sort(f"the team's server {shown(url)} {kind.what} ({in_short(line)}); {kind.advice}")
    return None


def reason(error: psycopg.Error) -> str:
    """What libpq says of a connection, in one short line; it names hosts and files, no data and no password."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return in_short(lines[-1] if lines else type(error).__name__)


def in_short(words: str) -> str:
    """A line of libpq's without what stands before the matter."""
    for start in ("connection failed: ", "connection is bad: ", "FATAL:  "):
        words = words.rpartition(start)[2]
    return one_line(words.strip())[:200]  # the server chose them
