"""The hook from spawn to end, as Claude Code sees it: `python tools/bench_hook.py` prints tables in about a minute.

Each kind of call is made in turn, so that a busy machine slows all alike: trust the ratios to a bare interpreter. The
answers are real ones, of the bundled model on sample notes in a throw-away home.
"""

import argparse
import os
import signal
import statistics
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

from bench_machine import Machine, load_average, machine, spawn_to_end
from recall.cli.stop import stop

QUESTION = "how long do we keep access logs before deleting them?"
SHORT = "thanks"  # below hook.min_characters: the daemon is asked and stays silent
AT_ONCE = 10
BUDGET_MS = 300


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--notes", type=int, default=200, help="notes in the index (default 200)")
    parser.add_argument("--calls", type=int, default=60, help="calls of each kind (default 60)")
    arguments = parser.parse_args()
    with machine() as made:
        made.write_notes(arguments.notes)
        hook = made.registered_command()
        made.start()
        print(f"{load_average()}; {arguments.notes} notes; {' '.join(hook[:1])}\n")
        one_by_one(made, hook, arguments.calls)
        at_once(made, hook)
        stopped_daemon(made, hook)
        no_daemon(made, hook)


def one_by_one(made: Machine, hook: list[str], calls: int) -> None:
    """A warm daemon, one call at a time."""
    bare = [sys.executable, "-I", "-S", "-c", "pass"]
    console = [sys.executable, "-m", "recall", *hook[1:]]
    kinds: dict[str, tuple[list[str], Callable[[], bytes]]] = {
        "bare interpreter": (bare, bytes),
        "hook, answer": (hook, partial(made.message, QUESTION, "answer")),
        "hook, silence": (hook, partial(made.message, SHORT, "silence")),
        "python -m recall hook": (console, partial(made.message, QUESTION, "console")),
    }
    for command, data in kinds.values():
        spawn_to_end(command, data())  # reads the files from the disk, and compiles them
    times: dict[str, list[float]] = {kind: [] for kind in kinds}
    answered = dict.fromkeys(kinds, 0)
    for _ in range(calls):
        for kind, (command, data) in kinds.items():
            spent, output = spawn_to_end(command, data())
            times[kind].append(spent)
            answered[kind] += bool(output)
    base = statistics.median(times["bare interpreter"])
    print(f"{'spawn to end, ms':<24} {'median':>7} {'p95':>7} {'max':>7} {'/ bare':>7} {'answers':>8}")
    for kind, spent_all in times.items():
        ratio = f"{statistics.median(spent_all) / base:7.2f}"
        print(f"{kind:<24} {figures(spent_all)} {ratio} {answered[kind]:5}/{calls}")
    daemon = made.journal("answer")[-calls:]
    rest = [whole - part for whole, part in zip(times["hook, answer"], daemon, strict=True)]
    print(f"{'  of it in the daemon':<24} {figures(daemon)} {statistics.median(daemon) / base:7.2f}")
    print(f"{'  the rest':<24} {figures(rest)} {statistics.median(rest) / base:7.2f}\n")


def at_once(made: Machine, hook: list[str], rounds: int = 5) -> None:
    """As many sessions that send a message at the same moment, and as many bare interpreters before them."""
    print(f"{f'{AT_ONCE} at once, ms':<24} {'median':>7} {'p95':>7} {'max':>7} {'/ bare':>7} {'answers':>8}  each")
    for _ in range(rounds):
        bare = [spent for spent, _ in together([sys.executable, "-I", "-S", "-c", "pass"], bytes)]
        results = together(hook, partial(made.message, QUESTION, "together"))
        times = sorted(spent for spent, _ in results)
        answers = sum(bool(output) for _, output in results)
        ratio = max(times) / max(bare)
        each = " ".join(f"{spent:.0f}" for spent in times)
        print(f"{'hook, answer':<24} {figures(times)} {ratio:7.2f} {answers:5}/{AT_ONCE}  {each}")
    print()


def together(command: list[str], data: Callable[[], bytes]) -> list[tuple[float, bytes]]:
    """`spawn_to_end` in so many threads; each counts from its own spawn."""
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


def stopped_daemon(made: Machine, hook: list[str], calls: int = 5) -> None:
    """A daemon that hangs: the hook must end by itself."""
    pid = made.settled().pid
    os.kill(pid, signal.SIGSTOP)
    try:
        times = [spawn_to_end(hook, made.message(QUESTION, "stopped"))[0] for _ in range(calls)]
    finally:
        os.kill(pid, signal.SIGCONT)
    print(f"{'no answer, ms':<24} {'median':>7} {'p95':>7} {'max':>7}")
    print(f"{'daemon stopped':<24} {figures(times)}   (budget {BUDGET_MS})")


def no_daemon(made: Machine, hook: list[str], calls: int = 3) -> None:
    """The first message of the day: the hook starts the daemon, which reads a model that the disk cache holds."""
    times, warm = [], []
    for _ in range(calls):
        stop(made.paths)
        began = time.perf_counter()
        times.append(spawn_to_end(hook, made.message(QUESTION, "cold"))[0])
        made.settled()
        warm.append((time.perf_counter() - began) * 1000)
    print(f"{'no daemon':<24} {figures(times)}")
    print(f"{'  until it is ready':<24} {figures(warm)}")
    reasons = Counter(line.split()[1] for line in Path(made.paths.hook_log).read_text("utf-8").splitlines())
    print(f"\nhook.log: {', '.join(f'{count} {word}' for word, count in reasons.items())}")


def figures(times: list[float]) -> str:
    """Median, 95th percentile and largest."""
    ordered = sorted(times)
    return f"{statistics.median(ordered):7.1f} {ordered[int(0.95 * (len(ordered) - 1))]:7.1f} {ordered[-1]:7.1f}"


if __name__ == "__main__":
    main()
