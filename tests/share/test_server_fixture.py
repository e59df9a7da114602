"""The server that the other tests share through is a real one, loses nothing that it should keep, and goes away."""

import subprocess
import sys
from pathlib import Path

import psutil
import psycopg
import pytest

import postgres_programs as programs
from postgres import Database, Server, authority_of_somebody_else
from support import wait_until

CANARY = "canary-of-the-fixture"


def ask(database: Database, statement: str) -> list[tuple[object, ...]]:
    with psycopg.connect(database.url, password=database.password, autocommit=True) as connection:
        cursor = connection.execute(statement.encode())
        return cursor.fetchall() if cursor.description else []


def test_it_is_new_enough_and_asks_for_the_password(database: Database) -> None:
    number = ask(database, "SHOW server_version_num")[0][0]
    assert int(str(number)) >= programs.OLDEST * 10_000
    assert ask(database, "SHOW server_encoding") == [("UTF8",)]
    with pytest.raises(psycopg.OperationalError, match="password"):
        psycopg.connect(database.url, password="another").close()


def test_it_listens_on_loopback_alone(server: Server) -> None:
    postmaster = min(server.processes(), key=psutil.Process.create_time)
    listening = [one.laddr for one in postmaster.net_connections("inet") if one.status == psutil.CONN_LISTEN]
    assert listening == [("127.0.0.1", server.port)]
    with server.connect() as connection:
        assert connection.execute("SHOW unix_socket_directories").fetchone() == ("",)


def test_a_kill_keeps_what_was_committed_and_nothing_else(server: Server, database: Database) -> None:
    ask(database, "CREATE TABLE kept (word text)")
    ask(database, "INSERT INTO kept VALUES ('committed')")
    with psycopg.connect(database.url, password=database.password) as connection:
        connection.execute("INSERT INTO kept VALUES ('in flight')")
        server.kill()
        assert not server.running()
        with pytest.raises(psycopg.OperationalError):
            connection.commit()
    server.restart()
    assert ask(database, "SELECT word FROM kept") == [("committed",)]
    assert "automatic recovery in progress" in server.log()


def test_a_dump_has_texts_and_the_contents_of_bytes(database: Database) -> None:
    ask(database, "CREATE SCHEMA apart")
    ask(database, f"CREATE TABLE apart.texts AS SELECT 'text-{CANARY}' AS word")
    ask(database, f"CREATE TABLE bytes AS SELECT 'bytes-{CANARY}'::bytea AS held")
    dump = database.dump()
    assert f"text-{CANARY}".encode() in dump
    assert f"bytes-{CANARY}".encode() in dump
    assert f"gone-{CANARY}".encode() not in dump


def test_the_log_has_what_was_sent_and_not_kept(server: Server, database: Database) -> None:
    with psycopg.connect(database.url, password=database.password) as connection:
        connection.execute("CREATE TABLE gone AS SELECT %s::text AS word", [f"gone-{CANARY}"])
        connection.rollback()
    assert f"gone-{CANARY}".encode() not in database.dump()
    assert f"gone-{CANARY}" in server.log()


def test_one_owner_does_not_reach_what_is_another_ones(server: Server, database: Database) -> None:
    ask(database, "CREATE TABLE mine (word text)")
    stranger = server.create_role("a stranger's name", "a p@ssword: 'odd'")
    url = server.url(stranger, database.name)
    with (
        psycopg.connect(url, password="a p@ssword: 'odd'") as connection,
        pytest.raises(psycopg.errors.InsufficientPrivilege),
    ):
        connection.execute("SELECT * FROM mine")


def test_verify_full_knows_the_server_by_its_authority(with_tls: Server) -> None:
    url = with_tls.url(sslmode="verify-full", sslrootcert=with_tls.ca)
    with psycopg.connect(url, password=with_tls.password) as connection:
        assert connection.pgconn.ssl_in_use
        assert connection.execute("SELECT 1").fetchone() == (1,)


def test_verify_full_refuses_an_authority_of_somebody_else(with_tls: Server) -> None:
    with authority_of_somebody_else() as authority:
        url = with_tls.url(sslmode="verify-full", sslrootcert=authority)
        with pytest.raises(psycopg.OperationalError, match="certificate verify failed"):
            psycopg.connect(url, password=with_tls.password).close()


def test_a_server_with_tls_speaks_nothing_else(with_tls: Server) -> None:
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(with_tls.url(sslmode="disable"), password=with_tls.password).close()
    with_tls.kill()
    with_tls.restart()
    test_verify_full_knows_the_server_by_its_authority(with_tls)


def test_nothing_is_left_behind() -> None:
    with Server() as running:
        assert running.root.exists()
        assert running.running()
    assert not running.root.exists()
    assert not running.running()


def test_nothing_is_left_behind_by_a_run_that_is_killed(tmp_path: Path) -> None:
    said = tmp_path / "root"
    program = (
        "import sys, time; from pathlib import Path; from postgres import Server\n"
        "server = Server(); server.start()\n"
        "Path(sys.argv[1]).write_text(str(server.root)); time.sleep(600)\n"
    )
    folder = Path(__file__).resolve().parents[1]
    run = subprocess.Popen([sys.executable, "-c", program, str(said)], cwd=folder)
    try:
        wait_until(lambda: said.exists() and said.read_text() != "", "the server runs")
        root = Path(said.read_text())
        assert (root / "data" / "postmaster.pid").exists()
    finally:
        run.kill()
        run.wait()
    wait_until(lambda: not root.exists(), "the folder is gone")
    assert not [one for one in psutil.process_iter(["cwd"]) if one.info["cwd"] == str(root / "data")]


def test_a_machine_without_programs_is_told_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(programs.CHOICE, str(tmp_path))
    with pytest.raises(programs.NoServer, match=r"expected PostgreSQL 15 or newer .* found none; install the extra"):
        programs.find()


def test_the_wheel_is_found_where_the_machine_has_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "_SYSTEM", ())
    monkeypatch.setenv("PATH", "")
    assert programs.version(programs.find()) >= programs.OLDEST
