"""One PostgreSQL server for the tests of sharing, and a database of its own for each test."""

import secrets
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from postgres import Server


class Database(NamedTuple):
    """A database that holds nothing yet. `url` is the owner's, without the password."""

    server: Server
    name: str
    owner: str
    password: str

    @property
    def url(self) -> str:
        return self.server.url(self.owner, self.name)

    def dump(self) -> bytes:
        return self.server.dump(self.name)


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
