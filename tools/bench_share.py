"""Sharing at its full size, with a real PostgreSQL: `python tools/bench_share.py` prints tables in some half an hour.

    python tools/bench_share.py                                50 machines of 2,000 records, then one more that joins
    python tools/bench_share.py --machines 5 --records 200     a small team, in about a minute

The 50 machines are generated and drive `recall.share.server` as an exchange does. The one that joins is real: files on
the disk, its own state folder, `recall.share.sync.exchange`. Bytes are those that pass a counting proxy on loopback
between it and the server, with all that PostgreSQL's protocol adds. The model is the bundled one; of generated texts it
is run on some hundred only (tools/bench_share_team.py). tools/bench_share_hook.py has what it means for the hook.
"""

import argparse
import math
import multiprocessing
import os
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from bench_machine import load_average
from bench_scale import age
from bench_share_team import MIX, Shared, Vectors, check, fill, records_of
from bench_share_wire import NOWHERE, Proxy, Uploader, new_team, number_of, proxy, put, size_of, statements
from recall.core.config import load_config
from recall.index.pipeline import run
from recall.index.sources import GrowingSource, Source, configured_sources, team_sources
from recall.index.work import Report
from recall.replica.replica import Replica
from recall.replica.team import Team
from recall.share.connection import connected
from recall.share.server import Server
from recall.share.sync import Exchange, exchange
from recall.sources.projects import discover

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
import postgres
from postgres import Database
from share.machines import Machine

#: Machines that upload by themselves, before the others do it at once.
ALONE, AT_ONCE = 3, 4
#: Records that the model is really run on, for comparison.
ANEW = 20
#: Seconds after which the index has taken over enough to tell its pace.
TAKING = 60.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--machines", type=int, default=50, help="machines of the team (default 50)")
    parser.add_argument("--records", type=int, default=2000, help="records of each (default 2000)")
    asked = parser.parse_args()
    for name in [name for name in os.environ if name.startswith(("RECALL_", "CLAUDE", "PG"))]:
        del os.environ[name]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what was made goes, also then
    vectors = Vectors()
    check(vectors)
    print(f"{load_average()}; {asked.machines} machines of {asked.records:,} records: {MIX}", flush=True)
    with (
        postgres.Server() as server,
        tempfile.TemporaryDirectory(prefix="recall-bench-") as folder,
        proxy(server.port) as way,
    ):
        one_colleague(Path(folder), server, way, vectors, asked.records)
        team = new_team(server, "team")
        upload(team, vectors, asked.machines, asked.records)
        newcomer(Path(folder), team, way, vectors, asked.records)
    print(f"at the end: {load_average()}")


def one_colleague(folder: Path, server: postgres.Server, way: Proxy, vectors: Vectors, count: int) -> None:
    """A run of the index over one colleague's records: with what their machine made of them, and anew."""
    pair = new_team(server, "pair")
    Uploader(pair.url, pair.password, count, vectors.pieces)(0)
    with seat(folder, "reader") as machine:
        machine.join(way.through(pair), pair.password)
        machine.sync(identity=vectors.identity)
        took = bring_up_to_date(machine, vectors)
        print(f"\nindex of {took.added:,} records of a colleague")
        say("with their packs", took.seconds, f"{took.chunks_embedded} chunks embedded")
    some = min(ANEW, count)
    anew = new_team(server, "anew")
    with connected(anew.url, NOWHERE, anew.password) as connection:
        other = Server(connection, number_of(0))
        other.enrol("laptop-00", "person-00")
        put(other, list(records_of(0, some)))
    with seat(folder, "embedder") as machine:
        machine.join(way.through(anew), anew.password)
        machine.sync(identity=vectors.identity)
        began = time.perf_counter()
        done = run(machine.paths, team_sources(machine.paths), vectors.embedder, vectors.late)
        spent = time.perf_counter() - began
        times = spent / done.added / (took.seconds / took.added)
        say(
            f"embedded anew, {done.added} of them",
            spent,
            f"{done.chunks_embedded} chunks; {times:.0f} times as long a record",
        )


def upload(team: Database, vectors: Vectors, machines: int, count: int) -> None:
    """The first uploads of all generated machines."""
    work = Uploader(team.url, team.password, count, vectors.pieces)
    print(f"\nfirst upload of a machine of {count:,} records, to an empty server at first")
    alone = [work(number) for number in range(min(ALONE, machines))]
    median = statistics.median(one.seconds for one in alone)
    texts = statistics.median(one.records for one in alone)
    size = statistics.median(one.bytes for one in alone) / 1e6
    say("alone", median, f"median of {len(alone)}; {texts:.1f} s for the texts; {size:.0f} MB of packs")
    rest = range(len(alone), machines)
    if not rest:
        return
    began = time.perf_counter()
    with ProcessPoolExecutor(AT_ONCE, multiprocessing.get_context("spawn")) as pool:
        together = list(pool.map(work, rest))
    spent = time.perf_counter() - began
    middle = statistics.median(one.seconds for one in together)
    say(
        f"{AT_ONCE} at once",
        middle,
        f"median of {len(together)}, of which the slowest took {max(t.seconds for t in together):.1f} s",
    )
    total = sum(one.bytes for one in alone + together) / 1e6
    say(f"all {len(together)} of them", spent, "generating included")
    print(f"  {total:,.0f} MB of packs in all; the server's database: {size_of(team) / 1e6:,.0f} MB", flush=True)


def newcomer(folder: Path, team: Database, way: Proxy, vectors: Vectors, count: int) -> None:
    """A real machine that joins, and what it exchanges from then on."""
    with seat(folder, "newcomer") as machine:
        write(machine, count)
        fill(machine.paths, sources_of(machine), vectors)
        bring_up_to_date(machine, vectors)  # sessions, and a look over the rest
        print(f"\na machine with {count:,} records of its own joins")
        machine.join(way.through(team), team.password)
        first_exchange(machine, way, vectors)
        report = bring_up_to_date(machine, vectors, TAKING)
        found = f"{report.added:,} records, {report.chunks_embedded} chunks embedded"
        say("index takes over what came", report.seconds, found if report.complete else f"{found}; stopped")
        say("exchange after that", exchanged(machine, vectors).seconds, "lets go of the packs that it took over")
        sizes(machine)
        way.take()
        print("\nfrom then on")
        quiet(machine, team, way, vectors)
        edits(machine, team, way, vectors)


def first_exchange(machine: Machine, way: Proxy, vectors: Vectors) -> None:
    """Up, then down; when the first page has come, all of its own is up."""
    way.take()
    began = time.perf_counter()
    marks: list[tuple[float, int]] = []

    def told(done: Exchange) -> None:
        if done.received.taken + done.received.gone and not marks:
            marks.append((time.perf_counter() - began, way.counted.up))

    done = exchanged(machine, vectors, told)
    bytes_ = way.take()
    up, sent = marks[0] if marks else (done.seconds, bytes_.up)
    say("up, with the first page", up, f"{done.sent:,} records, {done.packs:,} packs, {sent / 1e6:,.0f} MB")
    say("down", done.seconds - up, f"{done.received.taken:,} records, {bytes_.down / 1e6:,.0f} MB")
    sizes(machine)


def sizes(machine: Machine) -> None:
    state = Path(machine.paths.home)
    files = {name: sum(f.stat().st_size for f in state.glob(f"{name}*")) for name in ("share.sqlite3", "index.sqlite3")}
    print(f"  {', '.join(f'{name} {size / 1e6:,.0f} MB' for name, size in files.items())}", flush=True)


def quiet(machine: Machine, team: Database, way: Proxy, vectors: Vectors) -> None:
    """Nothing is new on either side."""
    several(machine, vectors)
    with Replica(Path(machine.paths.share_records)) as replica:
        waiting = replica.packs()
        replica.drop_packs(waiting)
    print(f"  (while {len(waiting):,} packs wait for the index; without them:)")
    several(machine, vectors)
    way.take()
    with statements(team.server) as asked:
        exchanged(machine, vectors)
    bytes_ = way.take()
    words = "; ".join(" ".join(one.split())[:60] for one in asked)
    print(f"  {traffic(bytes_.up, bytes_.down)}, with {len(asked)} statements: {words}")
    began = time.perf_counter()
    done = machine.command("share", "sync", "--quiet", check=False, PGPASSWORD=team.password)
    if done.returncode:
        raise SystemExit(machine.command("share", "status").stdout)
    say("  as a process, from its start", time.perf_counter() - began, "")
    began = time.perf_counter()
    records = Team(machine.paths).offers
    say("looking up what others offer", time.perf_counter() - began, f"{len(records):,} records, as each look does")


def several(machine: Machine, vectors: Vectors) -> None:
    began = time.process_time()
    times = [exchanged(machine, vectors).seconds for _ in range(5)]
    busy = (time.process_time() - began) / len(times)
    say("quiet exchange", statistics.median(times), f"median of {len(times)}; {busy:.2f} s of processor time")


def edits(machine: Machine, team: Database, way: Proxy, vectors: Vectors) -> None:
    """One record changes, there and here."""
    shared = next(records_of(0, 1))
    changed = shared._replace(record=replace(shared.record, description=f"{shared.record.description} of today"))
    with connected(team.url, NOWHERE, team.password) as connection:
        other = Server(connection, number_of(0))
        put(other, [changed])
        other.put_packs({changed.record.id: vectors.pieces.pack(changed.record)}, vectors.identity)
    way.take()
    done = exchanged(machine, vectors)
    bytes_ = way.take()
    say("a colleague's edit comes", done.seconds, f"{done.received.taken} record; {traffic(bytes_.up, bytes_.down)}")
    write_one(machine, changed._replace(record=replace(changed.record, name="note-own-0")))
    done = exchanged(machine, vectors)
    bytes_ = way.take()
    say("an edit of our own goes", done.seconds, f"{done.sent} record; {traffic(bytes_.up, bytes_.down)}")


def exchanged(machine: Machine, vectors: Vectors, told: Callable[[Exchange], None] = lambda _: None) -> Exchange:
    config = load_config(Path(machine.paths.config))
    folders, password = [machine.claude], machine.password
    return exchange(machine.paths, machine.member, folders, config, vectors.identity, password=password, told=told)


def bring_up_to_date(machine: Machine, vectors: Vectors, seconds: float = math.inf) -> Report:
    """A run of the index as the daemon makes it, for so long at most, where the model's work costs nothing."""
    until = time.monotonic() + seconds
    return run(machine.paths, sources_of(machine), vectors, vectors.late, stop=lambda: time.monotonic() > until)


def sources_of(machine: Machine) -> list[Source | GrowingSource]:
    config = load_config(Path(machine.paths.config))
    return [*configured_sources([machine.claude], discover([machine.claude]), config), *team_sources(machine.paths)]


@contextmanager
def seat(folder: Path, name: str) -> Iterator[Machine]:
    """A machine whose home this process takes for the person's."""
    machine = Machine(folder, name)
    Path(machine.paths.home).mkdir(mode=0o700, parents=True)
    before = os.environ.get("HOME", "")
    os.environ["HOME"] = str(machine.home)
    try:
        yield machine
    finally:
        os.environ["HOME"] = before


def write(machine: Machine, count: int) -> None:
    """The records of one more machine as files, an hour old."""
    for shared in records_of(999, count):
        write_one(machine, shared)
    age(machine.home)


def write_one(machine: Machine, shared: Shared) -> None:
    record = shared.record
    if record.kind == "memory":
        machine.note(record.name.replace("-999-", "-own-"), record.description, record.body)
    elif record.kind == "knowledge":
        machine.rule(
            record.name, f"---\nname: {record.name}\ndescription: {record.description}\n---\n\n{record.body}\n"
        )
    else:
        machine.open_session(machine.project, shared.path, record.name, f"why is {record.name} so")


def say(what: str, seconds: float, more: str) -> None:
    print(f"  {what:<32} {seconds:8.2f} s   {more}".rstrip(), flush=True)


def traffic(up: int, down: int) -> str:
    return f"{up:,} bytes up, {down:,} down"


if __name__ == "__main__":
    main()
