"""What goes wrong at the server's end is one sentence that says what to do; all else works on, and later so does it."""

import contextlib
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql

from postgres import Database, Server, authority_of_somebody_else
from recall.core.errors import ShareError, ShareUnreachable
from recall.share import connection
from recall.share.connection import NeedsPassword
from recall.share.report import in_words, standing
from recall.text.clean import visible
from share.holdings import agree, ask
from share.machines import Machine, exchanged


def test_a_server_that_is_away_is_told_of_since_when(
    pair: list[Machine], database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    laptop, tower = pair
    clock = 1_790_000_000.0
    monkeypatch.setattr("recall.share.sync.time.time", lambda: clock)
    database.server.stop()
    for hours in range(3):
        clock = 1_790_000_000.0 + 3600 * hours
        laptop.note(f"offline-{hours}", f"laptop learned {hours} without a server", "")
        with pytest.raises(ShareUnreachable, match=r"does not answer .* all else works on"):
            laptop.sync(identity="")
    found = standing(laptop.paths, laptop.member)
    assert found.failing_since == 1_790_000_000
    assert found.failed is not None
    assert f"failing since {found.fields['failing_since']}: the team's server 127.0.0.1:" in in_words(found.fields)
    report = laptop.index()
    assert report.complete
    assert "laptop learned 2 without a server" in {record.description for record in laptop.records()}
    assert "tower knows something" in {record.description for record in laptop.records()}, "what has come stays"

    database.server.start()
    exchanged(pair)
    agree(database, pair)
    found = standing(laptop.paths, laptop.member)
    assert (found.failed, found.failing_since) == (None, None)
    assert tower.sync(identity="").sent == 0


def test_a_wrong_password_a_missing_database_and_missing_rights_are_told(
    pair: list[Machine], database: Database, tmp_path: Path
) -> None:
    laptop = pair[0]
    laptop.password = "not-the-password"
    with pytest.raises(NeedsPassword, match="refused the password that was given") as raised:
        laptop.sync(identity="")
    assert "not-the-password" not in str(raised.value)
    laptop.password = database.password
    with pytest.raises(ShareError, match='database "nowhere" does not exist'):
        laptop.sync(url=database.server.url(database.owner, "nowhere"), identity="")

    role = database.server.create_role(f"{database.name}_colleague", "pass-of-the-colleague")
    stranger = Machine(tmp_path, "stranger")
    url = database.server.url(role, database.name)
    with pytest.raises(ShareError, match=r"none that this database user may use.* share init ADDRESS --grant ROLE"):
        stranger.join(url, "pass-of-the-colleague")
    with pytest.raises(ShareError, match="may not do that"):
        stranger.join(url, "pass-of-the-colleague", make=True)
    with pytest.raises(ShareError, match='none named "nobody of this name"'):
        laptop.join(database.url, database.password, make=True, grant="nobody of this name")
    laptop.join(database.url, database.password, make=True, grant=role)
    stranger.note("new", "stranger knows something", "")
    stranger.join(url, "pass-of-the-colleague")
    exchanged([*pair, stranger])
    agree(database, [*pair, stranger])


def test_a_database_without_a_team_a_newer_one_and_another_one_are_told(
    pair: list[Machine], database: Database, tmp_path: Path
) -> None:
    laptop = pair[0]
    empty = database.server.create_database(f"{database.name}_empty", database.owner)
    with pytest.raises(ShareError, match=r"holds no team yet, .*`recall share init`"):
        Machine(tmp_path, "early").join(database.server.url(database.owner, empty), database.password)
    ask(database, "UPDATE team SET version = 99")
    for again in (lambda: laptop.sync(identity=""), lambda: laptop.join(database.url, database.password, make=True)):
        with pytest.raises(ShareError, match=r"newer recall \(format 99, this program knows 1\); update recall"):
            again()
    ask(database, "UPDATE team SET version = 1, id = 'another'")
    with pytest.raises(ShareError, match="another team lives at this address"):
        laptop.sync(identity="")
    ask(database, "DELETE FROM clock")
    with pytest.raises(ShareError, match="half a team"):
        laptop.sync(identity="")


@pytest.mark.parametrize("others_first", [False, True])
def test_a_server_that_was_set_up_from_an_older_copy_gets_and_gives_everything(
    pair: list[Machine], database: Database, tmp_path: Path, others_first: bool
) -> None:
    """Also where others have gone on there, until the numbers are beyond those that the last one remembers."""
    reader = Machine(tmp_path, "reader")
    reader.join(database.url, database.password)
    reader.note("own", "reader knows something", "")
    team = [*pair, reader]
    exchanged(team)
    copy = sql.Identifier(f"{database.name}_copy")
    true, owner = sql.Identifier(database.name), sql.Identifier(database.owner)
    with database.server.connect() as superuser:
        superuser.execute(sql.SQL("CREATE DATABASE {} TEMPLATE {} OWNER {}").format(copy, true, owner))
    for machine in team:
        machine.note("second", f"{machine.name} knows more", "")
        machine.note("first", f"{machine.name} knows better", "")
    exchanged(team)
    with database.server.connect() as superuser:
        superuser.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(true))
        superuser.execute(sql.SQL("ALTER DATABASE {} RENAME TO {}").format(copy, true))
    if others_first:
        for round_ in range(8):
            for machine in pair:
                machine.note(f"later-{round_}", f"{machine.name} went on to {round_}", "")
                machine.sync(identity="")
    reader.sync(identity="")
    exchanged(team)
    agree(database, team)


def test_a_database_that_was_made_anew_gets_everything_again(pair: list[Machine], database: Database) -> None:
    """Under the old number, as by a script that makes the schema and copies `team`."""
    for table in ("embedding", "holding", "content", "machine", "past"):
        ask(database, f"DELETE FROM {table}")
    ask(database, "UPDATE clock SET seq = 0")
    exchanged(pair)
    agree(database, pair)


def test_verify_full_takes_the_right_authority_and_no_other(with_tls: Server, tmp_path: Path) -> None:
    url = with_tls.url(sslmode="verify-full", sslrootcert=with_tls.ca)
    laptop = Machine(tmp_path, "laptop")
    laptop.note("first", "laptop knows something", "")
    laptop.join(url, with_tls.password, make=True)
    assert laptop.sync(identity="").sent == 1
    assert standing(laptop.paths, laptop.member).protected
    with authority_of_somebody_else() as authority:
        wrong = with_tls.url(sslmode="verify-full", sslrootcert=authority)
        with pytest.raises(ShareError, match="certificate verify failed"):
            laptop.sync(url=wrong, identity="")


def test_a_step_that_takes_too_long_is_given_up(
    pair: list[Machine], database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    laptop = pair[0]
    monkeypatch.setattr(connection, "STATEMENT_SECONDS", 1)
    laptop.note("second", "laptop knows more", "")
    with psycopg.connect(database.url, password=database.password) as other:
        other.execute("UPDATE recall.clock SET seq = seq")
        with pytest.raises(ShareError, match="took more than 1 s for one step; try again later"):
            laptop.sync(identity="")
        other.rollback()
    exchanged(pair)
    agree(database, pair)


@contextlib.contextmanager
def listener(serve: Callable[[socket.socket], None]) -> Iterator[str]:
    """Somebody who listens on loopback and is no server; the address."""
    with socket.create_server(("127.0.0.1", 0)) as opened:

        def accept() -> None:
            with contextlib.suppress(OSError):
                while True:
                    client, _ = opened.accept()
                    client.settimeout(5)
                    with client, contextlib.suppress(OSError):
                        serve(client)

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        yield f"postgresql://somebody@127.0.0.1:{opened.getsockname()[1]}/team?sslmode=disable&gssencmode=disable"
        with contextlib.suppress(OSError):
            opened.shutdown(socket.SHUT_RDWR)
    thread.join(30)


def silent(client: socket.socket) -> None:
    while client.recv(1 << 16):
        pass


def message(kind: bytes, body: bytes) -> bytes:
    return kind + struct.pack("!i", len(body) + 4) + body


def welcoming(client: socket.socket) -> None:
    """Lets everybody in, and answers no question."""
    client.recv(1 << 16)
    said = message(b"R", struct.pack("!i", 0))
    said += message(b"S", b"server_encoding\0UTF8\0") + message(b"S", b"client_encoding\0UTF8\0")
    client.sendall(said + message(b"Z", b"I"))
    silent(client)


def cursing(client: socket.socket) -> None:
    """Refuses everybody with a sentence that wipes the screen."""
    client.recv(1 << 16)
    client.sendall(message(b"E", b"SFATAL\0VFATAL\0C3D000\0Mgone\x1b[2J\x07\xe2\x80\xae away\r\nfor ever\0\0"))


def babbling(client: socket.socket) -> None:
    client.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n" * 500)


@pytest.mark.parametrize("serve", [silent, welcoming, cursing, babbling])
def test_whoever_is_no_server_costs_a_bounded_time_and_prints_nothing_of_his_own(
    pair: list[Machine], monkeypatch: pytest.MonkeyPatch, serve: Any
) -> None:
    laptop = pair[0]
    monkeypatch.setattr(connection, "CONNECT_SECONDS", 2)
    monkeypatch.setattr(connection, "SILENT_SECONDS", 2)
    with listener(serve) as url, pytest.raises(ShareUnreachable) as raised:
        laptop.sync(url=url, identity="")
    assert visible(str(raised.value)) == str(raised.value)
    assert len(str(raised.value).splitlines()) == 1
    assert len(str(raised.value)) < 500
    laptop.sync(identity="")


@pytest.mark.parametrize("encoding", ["SQL_ASCII", "LATIN1", "EUC_JP"])
def test_a_database_that_cannot_hold_all_texts_is_refused(database: Database, tmp_path: Path, encoding: str) -> None:
    name = f"{database.name}_{encoding.lower()}"
    with database.server.connect() as superuser:
        superuser.execute(
            sql.SQL("CREATE DATABASE {} OWNER {} TEMPLATE template0 ENCODING {} LC_COLLATE 'C' LC_CTYPE 'C'").format(
                sql.Identifier(name), sql.Identifier(database.owner), sql.Literal(encoding)
            )
        )
    with pytest.raises(ShareError, match=f"expected a database in UTF8 .*, found one in {encoding}"):
        Machine(tmp_path, "laptop").join(database.server.url(database.owner, name), database.password, make=True)
