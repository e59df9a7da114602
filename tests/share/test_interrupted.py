"""An exchange that ends at any moment, here, there or between, loses nothing and doubles nothing."""

import contextlib
import json
import select
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote

import pytest

from postgres import Database
from recall.core.errors import ShareError, ShareUnreachable
from recall.core.types import TEAM
from recall.share import incoming, sync
from recall.share.connection import Connection
from recall.share.membership import membership
from recall.share.report import standing
from recall.store.entries import Entry
from recall.store.writer import Writer
from share.holdings import agree, received, written
from share.machines import Machine, exchanged

#: As many moments of an exchange as a test takes, evenly over its bytes.
MOMENTS = 24


@pytest.fixture
def team(tmp_path: Path, database: Database, monkeypatch: pytest.MonkeyPatch) -> list[Machine]:
    """Two machines with a few notes, which exchange them in small steps."""
    monkeypatch.setattr(sync, "BATCH", 3)
    monkeypatch.setattr(incoming, "PAGE", 3)
    machines = [Machine(tmp_path, name) for name in ("laptop", "tower")]
    for number, machine in enumerate(machines):
        for note in range(8):
            machine.note(f"note-{note}", f"{machine.name} knows number {note}", "")
        machine.join(database.url, database.password, make=number == 0)
    exchanged(machines)
    agree(database, machines)
    return machines


def change(machine: Machine, round_: int) -> None:
    """Of eight notes two are written anew, one is edited, one is deleted, and one moves."""
    folder = machine.folder(machine.project) / "memory"
    notes = sorted(folder.glob("*.md"))
    machine.note(f"new-{round_}-a", f"{machine.name} learned in round {round_}", "")
    machine.note(f"new-{round_}-b", f"{machine.name} learned more in round {round_}", "")
    notes[0].unlink()
    notes[1].write_text(f"---\nname: edited\ndescription: {machine.name} edited in {round_}\n---\n", encoding="utf-8")
    notes[2].rename(folder / f"moved-{round_}.md")
    for old in notes[6:-1]:
        old.unlink()


class Died(BaseException):
    """The end of the process, as the rest of it sees it."""


class Wire:
    """Between a machine and the server, on 127.0.0.1:`port`: hands on bytes, and does `act` once `after` have passed
    (None: never)."""

    def __init__(self, behind: int, act: Callable[[], None] = lambda: None) -> None:
        self.after: int | None = None
        self.passed = 0
        self.act = act
        self._behind = behind
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def url(self, database: Database) -> str:
        return f"postgresql://{quote(database.owner)}@127.0.0.1:{self.port}/{database.name}"

    def set(self, after: int | None) -> None:
        self.passed, self.after = 0, after

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.close()
        with contextlib.suppress(OSError):  # wakes the thread up
            socket.create_connection(("127.0.0.1", self.port), 1).close()
        self._thread.join()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                with client, contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self._behind)) as far:
                    self._pump(client, far)

    def _pump(self, client: socket.socket, far: socket.socket) -> None:
        other = {client: far, far: client}
        while True:
            for side in select.select([client, far], [], [])[0]:
                data = side.recv(1 << 16)
                if not data:
                    return
                if self.after is not None and self.passed + len(data) > self.after:
                    other[side].sendall(data[: self.after - self.passed])
                    self.after = None
                    self.act()
                    return
                self.passed += len(data)
                other[side].sendall(data)


def bytes_of(wire: Wire, machine: Machine, database: Database, round_: int) -> int:
    """How many bytes a whole exchange of a round's changes takes."""
    change(machine, round_)
    wire.set(None)
    machine.sync(url=wire.url(database), identity="")
    return wire.passed


def test_the_machine_ends_after_any_answer_of_the_server(
    team: list[Machine], database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server has done what it was told, and nobody here has noted it: at each of its answers once."""
    laptop, tower = team
    heard = last = 0
    wait = Connection.wait

    def until(self: Connection, *arguments: Any, **options: Any) -> object:
        nonlocal heard
        answer = wait(self, *arguments, **options)
        heard += 1
        if heard == last:
            self.pgconn.finish()
            raise Died
        return answer

    died = True
    while died:
        change(laptop, last)
        change(tower, last)
        tower.sync(identity="")
        heard, last = 0, last + 1
        with monkeypatch.context() as patch:
            patch.setattr(Connection, "wait", until)
            try:
                laptop.sync(identity="")
                died = False
            except (Died, AssertionError):  # the driver's pipelines mind an end in their middle
                assert heard >= last
        if last % 3 == 0 or not died:
            exchanged(team)
            agree(database, team)
    assert last > 30, "an exchange has many steps"


def test_the_connection_ends_after_any_number_of_bytes(team: list[Machine], database: Database) -> None:
    laptop, tower = team
    with Wire(database.server.port) as wire:
        change(tower, 0)
        tower.sync(identity="")
        whole = bytes_of(wire, laptop, database, 0)
        for moment in range(MOMENTS):
            for machine in team:
                change(machine, moment + 1)
            tower.sync(identity="")
            wire.set(whole * moment // MOMENTS)
            with pytest.raises(ShareUnreachable, match="all else works on"):
                laptop.sync(url=wire.url(database), identity="")
            assert standing(laptop.paths, laptop.member).failing_since is not None
            if moment % 4 == 3:
                exchanged(team)
                agree(database, team)
        assert standing(laptop.paths, laptop.member).failed is None


def test_the_server_is_killed_in_the_middle(team: list[Machine], database: Database) -> None:
    laptop, tower = team
    with Wire(database.server.port, database.server.kill) as wire:
        change(tower, 0)
        tower.sync(identity="")
        whole = bytes_of(wire, laptop, database, 0)
        for moment in (3, 5, 6, 7, 9):
            for machine in team:
                change(machine, moment)
            tower.sync(identity="")
            wire.set(whole * moment // 10)
            with pytest.raises(ShareUnreachable):
                laptop.sync(url=wire.url(database), identity="")
            with pytest.raises(ShareUnreachable):
                laptop.sync(identity="")
            database.server.restart()
            exchanged(team)
            agree(database, team)


@pytest.mark.skipif(sys.platform == "win32", reason="the pipe of a killed process ends otherwise there")
def test_the_process_is_killed_in_the_middle(team: list[Machine], database: Database) -> None:
    laptop, tower = team
    running: list[subprocess.Popen[bytes]] = []
    with Wire(database.server.port, lambda: running[-1].send_signal(signal.SIGKILL)) as wire:
        laptop.join(wire.url(database), database.password)
        change(tower, 0)
        tower.sync(identity="")
        whole = bytes_of(wire, laptop, database, 0)
        for moment in (2, 4, 5, 6):
            for machine in team:
                change(machine, moment)
            tower.sync(identity="")
            wire.set(whole * moment // 10)
            command = [sys.executable, "-m", "recall", "share", "sync", "--quiet"]
            environment = laptop.environment() | {"PGPASSWORD": database.password}
            running.append(subprocess.Popen(command, env=environment, cwd=laptop.project))
            assert running[-1].wait(60) == -signal.SIGKILL
            exchanged(team)
            agree(database, team)


def damage(records: Path, how: str) -> None:
    with contextlib.closing(sqlite3.connect(records)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
    data = records.read_bytes()
    middle = len(data) // 2
    if how == "deleted":
        records.unlink()
    elif how == "empty":
        records.write_bytes(b"")
    elif how == "cut short":
        records.write_bytes(data[:middle])
    elif how == "cut within a page":
        records.write_bytes(data[: middle + 100])
    elif how == "no database":
        records.write_bytes(b"\xff" * len(data))
    elif how == "its first page alone":
        records.write_bytes(data[:4096] + b"\xa5" * (len(data) - 4096))
    elif how.startswith("page "):
        at = int(how.removeprefix("page ")) * 4096
        records.write_bytes(data[:at] + b"\xa5" * 4096 + data[at + 4096 :])
    else:
        records.unlink()
        with contextlib.closing(sqlite3.connect(records)) as connection:
            connection.execute(f"CREATE TABLE {'meta' if how == 'of tomorrow' else 'else'}_ (word text)")
            connection.execute(f"PRAGMA user_version = {1 if how == 'of another program' else 99}")


@pytest.mark.parametrize(
    "how",
    ["deleted", "empty", "cut short", "cut within a page", "no database", "its first page alone", "of tomorrow",
     "of another program", *(f"page {number}" for number in range(1, 12, 2))],
)  # fmt: skip
def test_a_damaged_replica_is_filled_anew(team: list[Machine], database: Database, how: str) -> None:
    laptop, tower = team
    damage(Path(laptop.paths.share_records), how)
    for machine in team:
        change(machine, 1)
    tower.sync(identity="")
    laptop.sync(identity="")  # heals by itself, at once
    exchanged(team)
    agree(database, team)


@pytest.mark.parametrize(
    "how", ["empty", "cut short", "no database", "its first page alone", "of tomorrow", "of another program"]
)
def test_what_is_indexed_stays_while_the_replica_cannot_be_read(team: list[Machine], how: str) -> None:
    laptop = team[0]
    laptop.index()
    before = sorted((r.origin or "", r.description) for r in laptop.records())
    assert [origin for origin, _ in before if origin], "the team's are among them"
    damage(Path(laptop.paths.share_records), how)
    report = laptop.index()
    assert report.complete
    assert sorted((r.origin or "", r.description) for r in laptop.records()) == before
    said = laptop.command("share", "status", check=False)
    assert (said.returncode, said.stdout, len(said.stderr.splitlines())) == (1, "", 1)
    assert "`recall share sync`" in said.stderr
    assert laptop.sync(identity="").received.taken
    report = laptop.index()
    assert (report.added, report.removed, report.chunks_embedded) == (0, 0, 0)
    assert sorted((r.origin or "", r.description) for r in laptop.records()) == before


@pytest.mark.parametrize(
    "data",
    [b"", b"{}", b"null", b"[]", b"\xff\xfe", b"{" * 100_000, b'{"url": 1}',
     json.dumps({"url": "x", "machine": "../../etc", "name": "n", "person": "p", "team": "t"}).encode()],
)  # fmt: skip
def test_a_damaged_membership_is_one_clear_sentence(team: list[Machine], data: bytes) -> None:
    laptop = team[0]
    Path(laptop.paths.share).write_bytes(data)
    with pytest.raises(ShareError, match=r"expected what `recall share join` wrote in .*share\.json, found something"):
        membership(laptop.paths)
    report = laptop.index()
    assert report.complete, "what has nothing to do with sharing works on"


@pytest.mark.parametrize(
    "url", ["rubbish", "postgresql://h:99999/db", "postgresql://h:port/db", "postgresql://[::1/db"]
)
def test_an_address_that_was_broken_by_hand_is_one_sentence(team: list[Machine], url: str) -> None:
    path = Path(team[0].paths.share)
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | {"url": url}), encoding="utf-8")
    for verb in ("status", "sync"):
        done = team[0].command("share", verb, check=False)
        assert "Traceback" not in done.stderr
        assert len(done.stderr.splitlines()) <= 1
        assert (done.returncode, done.stdout) != (0, "")


#: Runs recall with no file longer than so many bytes, as on a disk that is full.
_ON_A_SMALL_DISK = (
    "import resource, runpy, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2); "
    "sys.argv[:] = ['recall', *sys.argv[2:]]; runpy.run_module('recall', run_name='__main__')"
)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")
@pytest.mark.parametrize("limit", [0, 20_000, 120_000])
def test_a_full_disk_is_one_sentence_and_goes_on_later(team: list[Machine], database: Database, limit: int) -> None:
    laptop, tower = team
    for number in range(60):
        tower.note(f"long-{number}", f"{tower.name} knows much of number {number}", "word " * 900)
    tower.sync(identity="")
    done = subprocess.run(
        [sys.executable, "-c", _ON_A_SMALL_DISK, str(limit), "share", "sync"],
        env=laptop.environment() | {"PGPASSWORD": database.password},
        capture_output=True, encoding="utf-8", cwd=laptop.project, timeout=60, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode == 1, done.stdout
    assert done.stderr.startswith("recall: ")
    assert len(done.stderr.splitlines()) == 1
    assert "share.sqlite3" in done.stderr
    exchanged(team)
    agree(database, team)


def test_an_index_run_that_ends_behind_the_vectors_of_others_goes_on(
    team: list[Machine], database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    laptop, tower = team
    change(tower, 1)  # what follows comes with vectors
    tower.index()
    tower.sync()
    laptop.index()
    laptop.sync()
    put = Writer.put

    def dying(self: Writer, file: Any, entry: Entry | None, **options: Any) -> Any:
        if file.path.startswith(TEAM):
            raise Died
        return put(self, file, entry, **options)

    with monkeypatch.context() as patch:
        patch.setattr(Writer, "put", dying)
        with pytest.raises(Died):
            laptop.index()
    laptop.sync()
    report = laptop.index()
    assert (report.complete, report.chunks_embedded) == (True, 0)
    assert sorted(r.description for r in laptop.records() if r.origin is not None) == written(tower)
    laptop.sync()
    with contextlib.closing(sqlite3.connect(laptop.paths.share_records)) as replica:
        assert replica.execute("SELECT count(*) FROM embedding").fetchone() == (0,), "nothing lies here twice"
    agree(database, team)


def test_the_model_changes_in_between(team: list[Machine]) -> None:
    laptop, tower = team
    tower.index()
    tower.sync()
    laptop.sync(identity="another model that nobody has")
    laptop.sync()
    assert laptop.index().chunks_embedded < 8 * 2 + 1, "what others made of their texts was taken over"
    assert received(laptop)
