"""Many at once: no change is missed by whoever asks in between, and nobody gets in another one's way."""

import random
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest

from postgres import Database
from recall.core.errors import RecallError, ShareBusy, ShareError
from recall.replica.record import TeamRecord, place_of
from recall.replica.replica import Replica
from recall.share import membership
from recall.share.connection import connected
from recall.share.incoming import receive
from recall.share.membership import Joining, join, leave
from recall.share.server import Held
from recall.share.server import Server as Team
from recall.share.sync import exchange
from share.holdings import agree, ask, served
from share.machines import Machine
from support import wait_until

WRITERS, CHANGES = 6, 40
#: Few texts, so that all the time one writes what another takes back.
TEXTS = [TeamRecord("memory", f"text-{number}", f"text {number}", "") for number in range(12)]


@pytest.fixture
def laptop(tmp_path: Path, database: Database) -> Machine:
    machine = Machine(tmp_path, "laptop")
    machine.note("first", "laptop knows something", "")
    machine.join(database.url, database.password, make=True)
    machine.sync(identity="")
    return machine


def write(database: Database, machine: str, seed: int) -> dict[bytes, bytes]:
    """Hold and take back texts at a few places, in changes of several; what is held in the end."""
    chance = random.Random(seed)
    held: dict[bytes, bytes] = {}
    with connected(database.url, Path("none"), database.password) as connection:
        server = Team(connection, machine)
        server.enrol(f"machine-{seed}", "somebody")
        for _ in range(CHANGES):
            places = [place_of("memory", "api", f"{number}.md") for number in chance.sample(range(8), 4)]
            new = {place: chance.choice(TEXTS) for place in places[: chance.randrange(1, 4)]}
            gone = [place for place in places if place not in new and place in held]
            server.put([*new.values()], [Held(place, record.id, "api", "x") for place, record in new.items()], gone)
            held.update((place, record.id) for place, record in new.items())
            for place in gone:
                del held[place]
            packs = {record.id: b"p" * 32 for record in new.values()}
            server.put_packs(packs, "some model")
    return held


def test_no_change_of_six_writers_is_missed_by_whoever_reads_in_between(
    laptop: Machine, database: Database, tmp_path: Path
) -> None:
    """Numbers become visible in their order: a reader that has seen one has seen all below it. One that sees a number
    before a lower one would never ask for that one again, and end with something else than what is held."""
    numbers = [f"{number:032x}" for number in range(1, WRITERS + 1)]
    done = threading.Event()

    def read(name: str) -> Replica:
        replica = Replica(tmp_path / f"{name}.sqlite3")
        with connected(database.url, Path("none"), database.password) as connection:
            server = Team(connection, "f" * 32)
            last = False
            while not last:
                last = done.is_set()
                before = replica.cursor
                head = server.head()
                receive(server, replica, head.seq, "", lambda _: None)
                assert replica.cursor >= before
        return replica

    with ThreadPoolExecutor() as pool:
        readers = [pool.submit(read, f"reader-{number}") for number in range(2)]
        writers = [pool.submit(write, database, number, seed) for seed, number in enumerate(numbers)]
        try:
            truth = {number: writer.result() for number, writer in zip(numbers, writers, strict=True)}
        finally:
            done.set()
        replicas = [reader.result() for reader in readers]
    for replica in replicas:
        rows = replica._connection.execute("SELECT machine, place, content FROM holding").fetchall()
        texts = {content for (content,) in replica._connection.execute("SELECT id FROM content")}
        replica.close()
        held = {number: {p: c for m, p, c in rows if m == number} for number in numbers}
        assert held == truth
        assert {c for _, _, c in rows} == texts
    there = {row[0] for row in ask(database, "SELECT id FROM content")}
    used = {content for held in truth.values() for content in held.values()}
    assert there - {row[0] for row in ask(database, "SELECT id FROM content WHERE name = 'first'")} == used
    assert {row[0] for row in ask(database, "SELECT content FROM embedding")} <= used


def test_six_machines_exchange_at_once(tmp_path: Path, database: Database) -> None:
    team = [Machine(tmp_path, f"m{number}") for number in range(WRITERS)]

    def live(machine: Machine) -> None:
        for round_ in range(4):
            machine.note("same", f"all know in round {round_}", "")
            machine.note(f"own-{round_ % 2}", f"{machine.name} knows in round {round_}", "")
            machine.sync(identity="")

    for machine in team:
        machine.password = database.password
    with ThreadPoolExecutor() as pool:
        # All of them make the team at the same moment.
        joined = pool.map(lambda machine: machine.join(database.url, database.password, make=True), team)
        assert len({member.team for member in joined}) == 1
        list(pool.map(live, team))
        list(pool.map(lambda machine: machine.sync(identity=""), team))
    agree(database, team)


def blocked(database: Database, machine: Machine, meanwhile: Callable[[threading.Thread], None]) -> list[RecallError]:
    """Do something while an exchange of the machine waits for another one's change; what the exchange raised."""
    raised: list[RecallError] = []

    def run() -> None:
        try:
            machine.sync(identity="")
        except RecallError as error:
            raised.append(error)

    thread = threading.Thread(target=run)
    with psycopg.connect(database.url, password=database.password) as other:
        other.execute("UPDATE recall.clock SET seq = seq")
        thread.start()
        waiting = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        wait_until(lambda: ask(database, waiting) != [], "the exchange waits for the clock")
        meanwhile(thread)
        other.rollback()
    thread.join()
    return raised


def test_a_second_exchange_of_one_machine_says_so(laptop: Machine, database: Database) -> None:
    laptop.note("second", "laptop knows more", "")

    def meanwhile(_: threading.Thread) -> None:
        with pytest.raises(ShareBusy, match="another recall is exchanging records"):
            laptop.sync(identity="")
        done = laptop.command("share", "sync", "--quiet", check=False)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")

    assert blocked(database, laptop, meanwhile) == []
    agree(database, [laptop])


def test_leaving_waits_for_an_exchange_and_none_comes_behind_it(
    laptop: Machine, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An exchange that has read who it is before the person leaves must not bring everything back."""
    laptop.note("second", "laptop knows more", "")
    monkeypatch.setattr(membership, "WAIT_SECONDS", 0.1)

    def meanwhile(_: threading.Thread) -> None:
        with pytest.raises(ShareError, match="an exchange of records is under way"):
            leave(laptop.paths, delete=True, password=database.password)

    member = laptop.member
    assert blocked(database, laptop, meanwhile) == []
    assert leave(laptop.paths, delete=True, password=database.password) == 2
    with pytest.raises(ShareError, match="left the team"):
        exchange(laptop.paths, member, [laptop.claude], {}, "", password=database.password)  # type: ignore[arg-type]
    assert ask(database, "SELECT count(*) FROM holding WHERE content IS NOT NULL") == [(0,)]
    assert ask(database, "SELECT count(*) FROM content") == [(0,)]
    again, _ = join(laptop.paths, Joining(database.url), lambda _: database.password)
    assert again.machine != member.machine
    laptop.sync(identity="")
    assert len(served(database, laptop)) == 2


def test_index_and_exchange_at_once(laptop: Machine, database: Database, tmp_path: Path) -> None:
    tower = Machine(tmp_path, "tower")
    tower.join(database.url, database.password)
    stop = threading.Event()

    def write_on() -> int:
        rounds = 0
        while not stop.is_set():
            tower.note(f"n-{rounds % 5}", f"tower knows {rounds}", "")
            tower.sync(identity="")
            laptop.sync()
            rounds += 1
        return rounds

    with ThreadPoolExecutor() as pool:
        writing = pool.submit(write_on)
        began = time.monotonic()
        try:
            for _ in range(3):
                assert laptop.index().complete
        finally:
            stop.set()
        assert writing.result() > 0
        assert time.monotonic() > began
    laptop.sync()
    assert laptop.index().complete
    agree(database, [laptop, tower])
    texts = {record.description for record in laptop.records() if record.origin == "tower"}
    assert texts == set(served(database, tower))
