"""One PostgreSQL server for the tests of sharing, and a database of its own for each test."""

import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest

from postgres import Database, Server
from share.machines import Machine, exchanged


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """A running server that notes down each statement. A machine that can have none fails here."""
    with Server(statements=True) as running:
        yield running


@pytest.fixture
def database(server: Server) -> Database:
    """A new database, owned by a role of its own that may do nothing else on the server."""
    if not server.running():  # the test before ended it
        server.restart()
    name = f"team_{secrets.token_hex(4)}"
    password = secrets.token_urlsafe(12)
    owner = server.create_role(f"{name}_owner", password)
    return Database(server, server.create_database(name, owner), owner, password)


@pytest.fixture(scope="session")
def with_tls() -> Iterator[Server]:
    """A running server that speaks TLS."""
    with Server(tls=True) as running:
        yield running


@pytest.fixture
def pair(tmp_path: Path, database: Database) -> list[Machine]:
    """Two machines of one team with a note each."""
    machines = [Machine(tmp_path, name) for name in ("laptop", "tower")]
    for number, machine in enumerate(machines):
        machine.note("first", f"{machine.name} knows something", "")
        machine.join(database.url, database.password, make=number == 0)
    exchanged(machines)
    return machines
