"""What sharing costs the hook: `python tools/bench_share_hook.py` prints tables in some ten minutes.

    python tools/bench_share_hook.py [--notes 1000] [--calls 60] [--rows 0 20000 100000]

First two daemons in turn whose indexes hold as much: one with records of the person's own alone, one with half of them
from a team, which exchanges records with a real server every few seconds meanwhile (in use it does so every five
minutes). Then daemons side by side, with 2,000 notes of their own and ever more rows of a team. Records are generated
(tools/bench_share_team.py), the notes that answer are the samples. Trust the ratios of one table.
"""

import argparse
import itertools
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psutil

from bench_calls import BARE, Call, Table
from bench_machine import Machine, load_average, machine, spawn_to_end
from bench_scale import age
from bench_share_team import Vectors, fill, notes_of, pieces_of, records_of
from bench_share_wire import NOWHERE, Uploader, new_team, number_of, put
from recall.cli.client import call
from recall.cli.demo import NOTES
from recall.core.config import load_config
from recall.daemon.process import end_daemon
from recall.index.pipeline import run
from recall.index.sources import GrowingSource, Source, configured_sources, team_sources
from recall.replica.membership import Membership, new_machine, write_membership
from recall.replica.replica import Change, Cursor, Page, Replica
from recall.share.connection import connected
from recall.share.membership import Joining, join, membership
from recall.share.server import Server
from recall.share.sync import exchange
from recall.sources.projects import discover, encode

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
import postgres
from postgres import Database

QUESTION = "how long do we keep access logs before deleting them?"
#: Seconds between two exchanges.
EVERY = 5.0
#: What lets a machine show what came, and exchange nothing.
PAUSED = Membership("postgresql://nobody@127.0.0.1/none", new_machine(), "here", "me", new_machine(), paused=True)
OWN, TEAM, MEANWHILE = "own records alone", "half of them from a team", "  while records are exchanged"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--notes", type=int, default=1000, help="records in both indexes of the first table")
    parser.add_argument("--calls", type=int, default=60, help="calls of each kind (default 60)")
    parser.add_argument("--rows", type=int, nargs="*", default=[0, 20_000, 100_000], help="rows of the team's records")
    asked = parser.parse_args()
    with machine() as made:
        vectors = Vectors()
        print(f"{load_average()}; from source", flush=True)
        with postgres.Server() as server, beside(made, "sharing") as sharing:
            compare(made, sharing, new_team(server, "team"), vectors, notes=asked.notes, calls=asked.calls)
        end_daemon(made.paths)
        grow(made, vectors, asked.rows, max(asked.calls // 2, 5))
        print(f"at the end: {load_average()}")


@contextmanager
def beside(made: Machine, name: str) -> Iterator[Machine]:
    """Another machine whose person asks in the same project; its daemon ends with the block."""
    other = Machine(made.home.parent / name)
    other.project = made.project
    try:
        yield other
    finally:
        end_daemon(other.paths)


def compare(own: Machine, sharing: Machine, team: Database, vectors: Vectors, *, notes: int, calls: int) -> None:
    """The hook of two machines in turn."""
    Uploader(team.url, team.password, notes // 2, vectors.pieces)(0)
    for made, many in ((own, notes), (sharing, notes - notes // 2)):
        write_samples(made)
        bring_up_to_date(made, vectors)
        write_notes(made, many)
    joined = Joining(team.url, "here", "me")
    join(sharing.paths, joined, lambda _: team.password)
    config = load_config(Path(sharing.paths.config))
    member = membership(sharing.paths)
    exchange(sharing.paths, member, [sharing.claude], config, vectors.identity, password=team.password)
    for made in (own, sharing):
        fill(made.paths, sources(made), vectors)
        start(made)
    exchanges = Exchanges(sharing, team)
    with exchanges.going_on():
        table = take_turns({OWN: own, TEAM: sharing}, exchanges, calls)
    table.show("spawn to end, ms")
    alone = statistics.median(table.times(OWN))
    for kind in table.calls:
        if kind in (OWN, TEAM, MEANWHILE):
            inside = f"{statistics.median(table.inside(kind)):.1f} ms of it in the daemon" if table.inside(kind) else ""
            print(f"{kind:<32} {statistics.median(table.times(kind)) / alone:5.2f} times {OWN}; {inside}")
    with_team = [one.spent for kind in (TEAM, MEANWHILE) for one in table.calls.get(kind, ())]
    print(f"{'sharing on, all calls':<32} {statistics.median(with_team) / alone:5.2f} times {OWN}")
    print(f"{exchanges.done} exchanges; rows: {rows_in(own):,} and {rows_in(sharing):,}\n", flush=True)


class Exchanges:
    """Exchanges of a machine's records, one after the other, each by the command that its daemon starts; before each a
    colleague changes a record."""

    def __init__(self, made: Machine, team: Database) -> None:
        self.done = 0
        self._made = made
        self._team = team
        self._over = threading.Event()
        self._running = threading.Event()

    @property
    def is_running(self) -> bool:
        return self._running.is_set()

    @contextmanager
    def going_on(self) -> Iterator[None]:
        thread = threading.Thread(target=self._work)
        thread.start()
        try:
            yield
        finally:
            self._over.set()
            thread.join()

    def _work(self) -> None:
        command = [sys.executable, "-m", "recall", "share", "sync", "--quiet", "--home", self._made.paths.home]
        environment = {**os.environ, "PGPASSWORD": self._team.password, "CLAUDE_CONFIG_DIR": str(self._made.claude)}
        some = records_of(1, 1_000_000)
        while not self._over.is_set():
            with connected(self._team.url, NOWHERE, self._team.password) as connection:
                server = Server(connection, number_of(1))
                server.enrol("laptop-01", "person-01")
                put(server, [next(some)])
            self._running.set()
            code = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL).returncode
            self._running.clear()
            if code:
                raise SystemExit(f"an exchange ended with {code}")
            self.done += 1
            self._over.wait(EVERY)


def take_turns(machines: dict[str, Machine], exchanges: Exchanges | None, calls: int) -> Table:
    """Call a bare interpreter and the hook of each machine, in an order that changes each round."""
    commands = {name: made.registered_command() for name, made in machines.items()}
    for name, made in machines.items():
        spawn_to_end(commands[name], made.message(QUESTION, "first"))
    found: dict[str, list[Call]] = {"bare interpreter": [], **{name: [] for name in machines}}
    if exchanges is not None:
        found[MEANWHILE] = []
    chance = random.Random(calls)
    for number in range(calls):
        for name in chance.sample(list(machines), len(machines)):
            data = machines[name].message(QUESTION, f"turn-{number}")
            was_running = exchanges is not None and exchanges.is_running
            spent, output = spawn_to_end(commands[name], data)
            kind = MEANWHILE if name == TEAM and was_running else name
            found[kind].append(Call(f"{name} {json.loads(data)['session_id']}", spent, bool(output), 0.0))
        spent, _ = spawn_to_end(BARE, b"")
        found["bare interpreter"].append(Call("", spent, False, 0.0))
    spent_inside = {f"{name} {id_}": ms for name, made in machines.items() for id_, ms in made.spent("turn-").items()}
    return Table({kind: made for kind, made in found.items() if made}, spent_inside)


def grow(made: Machine, vectors: Vectors, sizes: Sequence[int], calls: int) -> None:
    """Daemons side by side, each with the same 2,000 notes of its own, and with so many rows of a team."""
    machines: dict[str, Machine] = {}
    words: list[str] = []
    with ExitStack() as stack:
        records, rows, colleagues = 0, 0, itertools.count(1)
        for size in sorted(sizes):
            one = stack.enter_context(beside(made, f"rows-{size}"))
            if machines:
                before = list(machines.values())[-1]
                one.claude = before.claude
                shutil.copytree(before.paths.home, one.paths.home, dirs_exist_ok=True)
            else:
                write_samples(one)
                bring_up_to_date(one, vectors)
                write_notes(one, 2000)
                write_membership(Path(one.paths.share), PAUSED)
                fill(one.paths, sources(one), vectors)
            while rows < size:
                came, in_rows = receive(one, next(colleagues), size - rows)
                records, rows = records + came, rows + in_rows
            fill(one.paths, team_sources(one.paths), vectors)
            machines[f"{rows:,} rows of a team"] = one
            words.append(f"{records:,} records; index {Path(one.paths.index).stat().st_size / 1e6:,.0f} MB")
        daemons = [start(one) for one in machines.values()]
        table = take_turns(machines, None, calls)
        table.show("2,000 notes of one's own, ms")
        for name, one, daemon, more in zip(machines, machines.values(), daemons, words, strict=True):
            inside = statistics.median(table.inside(name) or [float("nan")])
            look = [call(one.paths, "index", timeout=600)["seconds"] for _ in range(2)][-1]
            resident = daemon.memory_info().rss / 1e6
            print(
                f"{name:<32} {inside:6.1f} ms in the daemon; {more}, resident {resident:,.0f} MB; a look {look:.1f} s"
            )


def receive(made: Machine, number: int, most: int) -> tuple[int, int]:
    """Take what a colleague holds into the replica, until so many rows are reached; how many records and rows."""
    changes, records, rows = [], {}, 0
    for shared in records_of(number, 2000):
        if rows >= most:
            break
        records[shared.record.id] = shared.record
        changes.append(Change(number_of(number), shared.place, shared.record.id, shared.project, shared.path, number))
        rows += len(pieces_of(shared.record))
    with Replica(Path(made.paths.share_records)) as replica:
        names = {number_of(number): (f"laptop-{number:02}", f"person-{number:02}")}
        replica.apply(Page(changes, names, records, Cursor(number + 1)))
    return len(records), rows


def samples() -> list[Path]:
    return sorted(NOTES.glob("*.md"))


def write_samples(made: Machine) -> None:
    """The notes that answer."""
    for sample in samples():
        write_note(made, sample.name, sample.read_text("utf-8"))


def write_notes(made: Machine, number: int) -> None:
    """Generated notes of the project that is asked in, an hour old."""
    for place, shared in zip(range(number), notes_of(900), strict=False):
        one = shared.record
        write_note(made, f"{place}.md", f"---\nname: {one.name}\ndescription: {one.description}\n---\n\n{one.body}\n")
    age(made.home)


def write_note(made: Machine, name: str, text: str) -> None:
    folder = made.claude / "projects" / encode(str(made.project)) / "memory"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")


def sources(made: Machine) -> list[Source | GrowingSource]:
    config = load_config(Path(made.paths.config))
    return [*configured_sources([made.claude], discover([made.claude]), config), *team_sources(made.paths)]


def bring_up_to_date(made: Machine, vectors: Vectors) -> None:
    """A run of the index with the real model."""
    run(made.paths, sources(made), vectors.embedder, vectors.late)


def start(made: Machine) -> psutil.Process:
    """The machine's daemon, which reads its own Claude folder."""
    os.environ["CLAUDE_CONFIG_DIR"] = str(made.claude)
    return made.start()


def rows_in(made: Machine) -> int:
    """Rows that its daemon searches."""
    return sum(call(made.paths, "status")["counts"].values())


if __name__ == "__main__":
    main()
