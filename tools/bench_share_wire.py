"""What the benches of sharing measure with: a team's database on a server of their own, a proxy that counts the bytes
between a machine and that server, and machines that put their records there by the code that a real one runs."""

import secrets
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import NamedTuple

from bench_share_team import Pieces, Shared, records_of
from recall.replica.membership import new_machine
from recall.share.connection import connected
from recall.share.schema import migrate
from recall.share.server import Held, Server
from recall.share.sync import BATCH, BATCH_BYTES

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
import postgres
from postgres import Database

NOWHERE = Path("/nonexistent")


def size_of(database: Database) -> int:
    """Bytes of all tables and indexes of a database."""
    with database.server.connect(database.name) as connection:
        row = connection.execute("SELECT pg_database_size(current_database())").fetchone()
    return int(row[0]) if row else 0


def new_team(server: postgres.Server, name: str) -> Database:
    """A database of a team that nobody has joined."""
    password = secrets.token_urlsafe(12)
    owner = server.create_role(f"{name}_owner", password)
    database = Database(server, server.create_database(name, owner), owner, password)
    with connected(database.url, NOWHERE, password) as connection:
        migrate(connection, new_machine())
    return database


class Upload(NamedTuple):
    """What one machine's first upload took: seconds for texts and for packs, bytes of packs."""

    records: float
    packs: float
    bytes: int

    @property
    def seconds(self) -> float:
        return self.records + self.packs


@dataclass(frozen=True, slots=True)
class Uploader:
    """Puts generated machines on the server. What generating takes is not counted."""

    url: str
    password: str
    count: int
    pieces: Pieces

    def __call__(self, number: int) -> Upload:
        """All records of one machine, then its packs, batch by batch as an exchange does."""
        shared = list(records_of(number, self.count))
        with connected(self.url, NOWHERE, self.password) as connection:
            server = Server(connection, number_of(number))
            server.enrol(f"laptop-{number:02}", f"person-{number:02}")
            began = time.perf_counter()
            for start in range(0, len(shared), BATCH):
                put(server, shared[start : start + BATCH])
            texts, packs, sent = time.perf_counter() - began, 0.0, 0
            for start in range(0, len(shared), BATCH):
                spent, size = self._packs(server, shared[start : start + BATCH])
                packs, sent = packs + spent, sent + size
        return Upload(texts, packs, sent)

    def _packs(self, server: Server, shared: Sequence[Shared]) -> tuple[float, int]:
        identity = self.pieces.identity
        made = {one.record.id: self.pieces.pack(one.record) for one in shared}
        began = time.perf_counter()
        lacking = server.lacking_packs(made, identity)
        some: dict[bytes, bytes] = {}
        for content in lacking:
            some[content] = made[content]
            if sum(map(len, some.values())) > BATCH_BYTES:
                server.put_packs(some, identity)
                some = {}
        if some:
            server.put_packs(some, identity)
        return time.perf_counter() - began, sum(len(made[content]) for content in lacking)


def put(server: Server, shared: Sequence[Shared]) -> None:
    """Hold records on the server."""
    held = [Held(one.place, one.record.id, one.project, one.path) for one in shared]
    server.put([one.record for one in shared], held, [])


def number_of(machine: int) -> str:
    return f"{machine:032x}"


@dataclass(slots=True)
class Counted:
    """Bytes that a machine has sent and received through the proxy."""

    up: int = 0
    down: int = 0


@dataclass(slots=True)
class Proxy:
    """Stands between machines and the server, and counts. `url` leads through it."""

    port: int
    counted: Counted = field(default_factory=Counted)

    def through(self, database: Database) -> str:
        """The address of a database by way of the proxy."""
        return database.url.replace(f":{database.server.port}/", f":{self.port}/")

    def take(self) -> Counted:
        """What was counted since the last time."""
        taken, self.counted = self.counted, Counted()
        return taken


@contextmanager
def proxy(target: int) -> Iterator[Proxy]:
    """A proxy on loopback before the server on a port."""
    with socket.create_server((postgres.HOST, 0)) as listener:
        made = Proxy(listener.getsockname()[1])
        threading.Thread(target=_accept, args=(listener, target, made), daemon=True).start()
        yield made


def _accept(listener: socket.socket, target: int, made: Proxy) -> None:
    while True:
        try:
            near, _ = listener.accept()
        except OSError:  # closed
            return
        far = socket.create_connection((postgres.HOST, target))
        for one in (near, far):
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=_pass, args=(near, far, partial(_count, made, "up")), daemon=True).start()
        threading.Thread(target=_pass, args=(far, near, partial(_count, made, "down")), daemon=True).start()


def _count(made: Proxy, way: str, size: int) -> None:
    setattr(made.counted, way, getattr(made.counted, way) + size)


def _pass(source: socket.socket, to: socket.socket, count: Callable[[int], None]) -> None:
    buffer = bytearray(256 * 1024)
    view = memoryview(buffer)
    try:
        while size := source.recv_into(buffer):
            count(size)
            to.sendall(view[:size])
    except OSError:
        pass
    for one in (source, to):
        with suppress(OSError):
            one.shutdown(socket.SHUT_RDWR)


@contextmanager
def statements(server: postgres.Server) -> Iterator[list[str]]:
    """The statements that come to the server within the block; they are in the list behind it."""
    seen: list[str] = []
    with server.connect() as connection:
        connection.execute("ALTER SYSTEM SET log_statement = 'all'")
        connection.execute("SELECT pg_reload_conf()")
        time.sleep(0.5)
        before = len(server.log())
        try:
            yield seen
        finally:
            text = server.log()[before:]
            connection.execute("ALTER SYSTEM RESET log_statement")
            connection.execute("SELECT pg_reload_conf()")
    seen += [
        line.partition("LOG:  ")[2].partition(": ")[2] for line in text.splitlines()
        if "LOG:  statement: " in line or "LOG:  execute " in line
    ]  # fmt: skip
