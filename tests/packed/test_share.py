"""Sharing from the packed program: psycopg and its libraries are inside and speak to a real server, over TLS."""

import sys
from collections.abc import Iterator

import psutil
import pytest

from packed.laptop import NOTE, Laptop
from postgres import Server, authority_of_somebody_else


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server(tls=True) as running:
        yield running


def test_a_note_reaches_the_server_and_the_daemon_loads_no_client_of_it(ready: Laptop, server: Server) -> None:
    database = server.create_database("team")
    url = server.url("postgres", database, sslmode="verify-full", sslrootcert=server.ca)
    secret = {"PGPASSWORD": server.password}
    said = ready.run(ready.link, "share", "init", url, "--name", "laptop-1", environment=secret)
    assert "as laptop-1" in said.stdout
    ready.run(ready.link, "share", "sync", environment=secret)
    assert NOTE.encode() in server.dump(database)
    if sys.platform == "linux":
        daemon = psutil.Process(ready.json("status")["serve"]["pid"])
        assert not [one.path for one in daemon.memory_maps() if "psycopg" in one.path or "libpq" in one.path]


def test_a_server_of_an_unknown_authority_is_refused(ready: Laptop, server: Server) -> None:
    with authority_of_somebody_else() as authority:
        url = server.url("postgres", "postgres", sslmode="verify-full", sslrootcert=authority)
        said = ready.run(ready.link, "share", "init", url, check=False, environment={"PGPASSWORD": server.password})
    assert said.returncode == 1
    assert "certificate verify failed" in said.stderr
    assert "Traceback" not in said.stderr
