"""The hook from spawn to end, as Claude Code sees it: `python tools/bench_hook.py` prints tables in about a minute.

    python tools/bench_hook.py                  from source, by the launcher that `recall setup` registers
    python tools/bench_hook.py --program FILE   a packed program, installed first: a carrier file or a program's folder

All kinds of call of a table are made in turn, so that a busy machine slows all alike: trust the ratios to a bare
interpreter. The answers are real ones, of the bundled model on sample notes in a throw-away home.
"""

import argparse
import os
import shutil
import signal
import sys
import time
from collections import Counter
from functools import partial
from pathlib import Path

from bench_calls import (
    AT_ONCE,
    BARE,
    HEAD,
    Kind,
    busy_loops,
    figures,
    limits,
    nothing_in_c,
    take_turns,
    together,
)
from bench_machine import Machine, load_average, machine, spawn_to_end
from bench_packed import COLD, Packed, can_be_cold, cold_kinds, install
from recall.daemon.process import end_daemon

QUESTION = "how long do we keep access logs before deleting them?"
SHORT = "thanks"  # below hook.min_characters: the daemon is asked and stays silent
ANSWER, SILENCE = "hook, answer", "hook, silence"
ASKED = {ANSWER: QUESTION, SILENCE: SHORT}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", metavar="FILE", type=Path, help="measure this packed program: carrier or folder")
    parser.add_argument("--notes", type=int, default=200, help="notes in the index (default 200)")
    parser.add_argument("--calls", type=int, default=60, help="calls of each kind (default 60)")
    asked = parser.parse_args()
    if asked.program is not None and not asked.program.exists():
        parser.error(f"expected a carrier file or a program's folder, found no {asked.program}")
    with machine() as made:
        packed = install(made, asked.program) if asked.program else None
        made.write_notes(asked.notes)
        hook = made.registered_command()
        made.start()
        print(f"{load_average()}; {asked.notes} notes; {asked.program.name if packed else 'from source'}")
        print(f"hook: {' '.join(hook[:1])}\nbare: {' '.join(BARE)}\n", flush=True)
        one_by_one(made, hook, packed, asked.calls)
        if packed and can_be_cold():
            cold(made, packed, max(asked.calls // 3, 1))
        busy(made, hook, max(asked.calls // 2, 1))
        at_once(made, hook)
        stopped_daemon(made, hook)
        no_daemon(made, hook)
        print(f"at the end: {load_average()}, some of it from here")


def one_by_one(made: Machine, hook: list[str], packed: Packed | None, calls: int) -> None:
    """A warm daemon, one call at a time."""
    kinds = [Kind("bare interpreter", BARE)]
    compiler = shutil.which("cc")
    if compiler and (nothing := nothing_in_c(made.home, compiler)):
        kinds.append(Kind("C program that does nothing", nothing))
    kinds += [Kind(name, hook, prompt) for name, prompt in ASKED.items()]
    if packed is None:
        kinds.append(Kind("python -m recall hook", [sys.executable, "-m", "recall", *hook[1:]], QUESTION))
    elif packed.carrier is not None:
        kinds.append(Kind("sh alone", ["/bin/sh", "-c", ":"]))
        kinds.append(Kind("carrier file, answer", ["/bin/sh", str(packed.carrier), *hook[1:]], QUESTION))
    table = take_turns(made, kinds, calls, "warm")
    table.show("spawn to end, ms", split=ANSWER)
    limits(table, ANSWER)


def cold(made: Machine, packed: Packed, calls: int) -> None:
    """The program's files on the disk alone."""
    table = take_turns(made, cold_kinds(made, packed, ASKED), calls, "cold")
    table.show("cold files, ms", split=ANSWER, reads=True)
    print(f"{COLD}\n", flush=True)


def busy(made: Machine, hook: list[str], calls: int) -> None:
    """Somebody else computes on every core."""
    cores = os.cpu_count() or 1
    kinds = [Kind("bare interpreter", BARE), *(Kind(name, hook, prompt) for name, prompt in ASKED.items())]
    with busy_loops(cores):
        table = take_turns(made, kinds, calls, "busy")
    table.show(f"{cores} cores busy, ms", split=ANSWER)


def at_once(made: Machine, hook: list[str], rounds: int = 5) -> None:
    """As many sessions that send a message at the same moment, and as many bare interpreters before them."""
    print(f"{f'{AT_ONCE} at once, ms':<32} {HEAD} {'/ bare':>7} {'answers':>8}  each")
    for _ in range(rounds):
        bare = [spent for spent, _ in together(BARE, bytes)]
        results = together(hook, partial(made.message, QUESTION, "together"))
        times = sorted(spent for spent, _ in results)
        answers = f"{sum(bool(output) for _, output in results)}/{AT_ONCE}"
        each = " ".join(f"{spent:.0f}" for spent in times)
        print(f"{ANSWER:<32} {figures(times)} {max(times) / max(bare):7.2f} {answers:>8}  {each}")
    print("(here the slowest hook is compared with the slowest bare interpreter)\n", flush=True)


def stopped_daemon(made: Machine, hook: list[str], calls: int = 5) -> None:
    """A daemon that hangs: the hook must end by itself."""
    pid = made.settled().pid
    os.kill(pid, signal.SIGSTOP)
    try:
        times = [spawn_to_end(hook, made.message(QUESTION, "stopped"))[0] for _ in range(calls)]
    finally:
        os.kill(pid, signal.SIGCONT)
    print(f"{'no answer, ms':<32} {HEAD}")
    print(f"{'daemon hangs':<32} {figures(times)}   (budget {made.budget_ms})", flush=True)


def no_daemon(made: Machine, hook: list[str], calls: int = 3) -> None:
    """The first message of the day: the hook starts the daemon, which reads a model that the disk cache holds."""
    times, warm = [], []
    for _ in range(calls):
        end_daemon(made.paths)
        began = time.perf_counter()
        times.append(spawn_to_end(hook, made.message(QUESTION, "first"))[0])
        made.settled()
        warm.append((time.perf_counter() - began) * 1000)
    print(f"{'no daemon':<32} {figures(times)}")
    print(f"{'  until it is ready':<32} {figures(warm)}")
    reasons = Counter(line.split()[1] for line in Path(made.paths.hook_log).read_text("utf-8").splitlines())
    print(f"\nhook.log: {', '.join(f'{count} {word}' for word, count in reasons.items())}")


if __name__ == "__main__":
    main()
