"""Calls of several kinds in turn, spawn to exit, and the table of their times: what the benches of the hook share.

The kinds take turns, so that a busy machine slows all alike: trust the ratios to a bare interpreter of the same table.
"""

import json
import random
import statistics
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import DEVNULL, Popen, run

from bench_machine import Machine, spawn_to_end

AT_ONCE = 10

#: The interpreter that the bench runs under: without the virtual environment, whose settings it would look up first.
PYTHON = str(getattr(sys, "_base_executable", sys.executable))
BARE = [PYTHON, "-I", "-S", "-c", "pass"]

#: What the hook may take, in bare interpreters: with a real answer, and without the time that the daemon takes for it.
LIMIT, LIMIT_OF_REST = 3.0, 1.7


@dataclass(frozen=True, slots=True)
class Kind:
    """A command that is called again and again. `prompt`: what is asked, empty for a command that is no hook;
    `prepare`: done before each call; `environment`: variables beside the machine's."""

    name: str
    command: Sequence[str]
    prompt: str = ""
    prepare: Callable[[], None] | None = None
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Call:
    """One call: its session, milliseconds, whether it printed anything, kB that were read from the disk for it."""

    session: str
    spent: float
    answered: bool
    read_kb: float


@dataclass(frozen=True, slots=True)
class Table:
    """The calls by kind's name, with the milliseconds that the daemon says it spent, by session. The first kind is
    what the others are compared with."""

    calls: dict[str, list[Call]]
    daemon: dict[str, float]

    def times(self, kind: str) -> list[float]:
        return [call.spent for call in self.calls[kind]]

    def inside(self, kind: str) -> list[float]:
        """Of each call that the daemon knows of, its own time."""
        return [self.daemon[call.session] for call in self.calls[kind] if call.session in self.daemon]

    def outside(self, kind: str) -> list[float]:
        """Of the same calls, all other time."""
        known = [call for call in self.calls[kind] if call.session in self.daemon]
        return [call.spent - self.daemon[call.session] for call in known]

    def ratio(self, times: list[float]) -> float:
        """How many times the first kind's median."""
        return statistics.median(times) / statistics.median(self.times(next(iter(self.calls))))

    def show(self, title: str, split: str = "", reads: bool = False) -> None:
        """Print it. `split`: the kind of which the daemon's part stands below; `reads`: with what the disk had to
        deliver."""
        print(f"{title:<32} {HEAD} {'/ bare':>7} {'answers':>8}{'  read, MB' * reads}")
        for kind, calls in self.calls.items():
            asked = any(call.session for call in calls)
            answers = f"{sum(call.answered for call in calls)}/{len(calls)}" if asked else ""
            read = f"{statistics.median(call.read_kb for call in calls) / 1000:10.1f}" if reads else ""
            print(f"{kind:<32} {figures(self.times(kind))} {self.ratio(self.times(kind)):7.2f} {answers:>8}{read}")
            if kind == split and self.inside(kind):
                for words, times in (("of it in the daemon", self.inside(kind)), ("the rest", self.outside(kind))):
                    print(f"{f'  {words}':<32} {figures(times)} {self.ratio(times):7.2f}")
        print(flush=True)


def take_turns(made: Machine, kinds: Sequence[Kind], calls: int, title: str) -> Table:
    """Call each kind so often, in an order that changes each round; `title` is part of the sessions' names."""
    for kind in kinds:
        _call(made, kind, f"{title}-first")  # reads the files from the disk, and compiles them
    found: dict[str, list[Call]] = {kind.name: [] for kind in kinds}
    order = random.Random(calls)
    for _ in range(calls):
        for kind in order.sample(kinds, len(kinds)):
            found[kind.name].append(_call(made, kind, title))
    return Table(found, made.spent(f"{title}-"))


def _call(made: Machine, kind: Kind, session: str) -> Call:
    data = made.message(kind.prompt, session) if kind.prompt else b""
    if kind.prepare is not None:
        kind.prepare()
    before = _read_kb()
    spent, output = spawn_to_end(kind.command, data, kind.environment)
    read = _read_kb() - before
    return Call(json.loads(data)["session_id"] if data else "", spent, bool(output), read)


def _read_kb() -> float:
    """What the disk had to deliver for the processes that have ended, as far as the system counts it."""
    if sys.platform == "win32":
        return 0.0
    import resource

    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_inblock * 0.512


def limits(table: Table, kind: str) -> None:
    """Say whether a kind, with a real answer, keeps the limits that the project has set itself."""
    parts = [("with the daemon's answer", table.times(kind), LIMIT)]
    if table.outside(kind):
        parts.append(("without the daemon's own time", table.outside(kind), LIMIT_OF_REST))
    for words, times, limit in parts:
        ratio = table.ratio(times)
        verdict = "within" if ratio <= limit else "above"
        print(f"{kind}, {words}: {ratio:.2f} bare interpreters, {verdict} the limit of {limit:g}")
    print(flush=True)


def together(command: Sequence[str], data: Callable[[], bytes]) -> list[tuple[float, bytes]]:
    """`spawn_to_end` in AT_ONCE threads; each counts from its own spawn."""
    results: list[tuple[float, bytes]] = []
    barrier = threading.Barrier(AT_ONCE)

    def call(sent: bytes) -> None:
        barrier.wait()
        results.append(spawn_to_end(command, sent))

    threads = [threading.Thread(target=call, args=(data(),)) for _ in range(AT_ONCE)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


@contextmanager
def busy_loops(count: int) -> Iterator[None]:
    """So many processes that do nothing but compute; ended afterwards, each by itself."""
    loops: list[Popen[bytes]] = []
    try:
        for _ in range(count):
            loops.append(Popen([PYTHON, "-I", "-S", "-c", "while True: pass"], stdin=DEVNULL))
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def nothing_in_c(folder: Path, compiler: str) -> list[str]:
    """The command of a C program that does nothing: what a process costs here. Empty where it does not compile."""
    source = folder / "nothing.c"
    source.write_text("int main(void) { return 0; }\n", encoding="utf-8")
    program = source.with_suffix("")
    done = run([compiler, "-O2", "-o", str(program), str(source)], stdin=DEVNULL, capture_output=True)
    return [str(program)] if done.returncode == 0 else []


HEAD = f"{'median':>7} {'p95':>7} {'max':>7}"


def figures(times: list[float]) -> str:
    """Median, 95th percentile and largest."""
    ordered = sorted(times)
    return f"{statistics.median(ordered):7.1f} {ordered[int(0.95 * (len(ordered) - 1))]:7.1f} {ordered[-1]:7.1f}"
