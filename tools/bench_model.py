"""A model behind the real daemon: `python tools/bench_model.py FOLDER` prints all figures in a few minutes.

FOLDER is a model as the export tools write it. Messages have 25 tokens with the question's prefix. The hook is measured
from spawn to end, one call after the other and ten at the same moment, each beside a bare interpreter in the same run.
"""

import argparse
import sys
import threading
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import psutil

from bench_calls import AT_ONCE, figures, together
from bench_machine import Machine, load_average, machine, spawn_to_end
from bench_memory import cpu_share
from recall.cli.client import call
from recall.core.config import render_default_config
from recall.embed.catalog import find_model
from recall.embed.manifest import BUNDLED, Manifest
from recall.embed.manifest_file import read_manifest
from recall.embed.tokenizer import load_tokenizer

TOKENS = 25
WORDS = "how long do we keep the access logs of the payment service before they are deleted and who decides".split()
NOTES = 30
#: Some 2,100 characters.
LONG = "The export writes to a temporary table first, because readers saw half of the rows when it failed. " * 21


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder", type=Path, nargs="?", help="the model's folder; without one the bundled model")
    parser.add_argument("--calls", type=int, default=60, help="hooks one after the other (default 60)")
    parser.add_argument("--notes", type=int, default=NOTES, help=f"notes in the index (default {NOTES})")
    parser.add_argument("--idle-seconds", type=float, default=60.0, help="length of the idle time (default 60)")
    arguments = parser.parse_args()
    folder = arguments.folder
    manifest = read_manifest(folder / "manifest.toml", folder) if folder else find_model(BUNDLED, None)
    print(f"{load_average()}; {manifest.name}, {', '.join(variant.name for variant in manifest.installed)}")
    with machine() as made:
        if folder:
            made.install(folder)
        began = time.perf_counter()
        daemon = made.start()
        print(f"daemon ready {time.perf_counter() - began:.2f} s after its start, {resident(daemon)}", flush=True)
        made.write_notes(arguments.notes)
        report = call(made.paths, "index", timeout=3600)
        chunks, seconds = report["chunks_embedded"], report["seconds"]
        print(f"{chunks} chunks in {seconds:.0f} s = {chunks / seconds:.1f} a second, {resident(daemon)}", flush=True)
        questions = messages(manifest)
        hooks(made, questions, arguments.calls)
        while_indexing(made, questions, arguments.notes)
        print(f"after the questions {resident(daemon)}")
        idle(made, daemon, arguments.idle_seconds)


def messages(manifest: Manifest) -> Iterator[str]:
    """Endless different messages of TOKENS tokens each."""
    tokenizer = load_tokenizer(manifest.tokenizer, manifest.max_tokens)
    for number in count():
        words = [WORDS[(number + place) % len(WORDS)] for place in range(TOKENS)]
        while len(tokenizer.encode(f"{manifest.query_prefix}{' '.join(words)} {number}")) > TOKENS:
            words.pop()
        yield f"{' '.join(words)} {number}"


def hooks(made: Machine, questions: Iterator[str], calls: int) -> None:
    """One after the other, then all at once."""
    hook, bare = made.registered_command(), [sys.executable, "-I", "-S", "-c", "pass"]
    for _ in range(3):
        spawn_to_end(hook, made.message(next(questions), "warm"))
    times: dict[str, list[float]] = {"bare": [], "hook": []}
    for _ in range(calls):
        times["bare"].append(spawn_to_end(bare, b"")[0])
        times["hook"].append(spawn_to_end(hook, made.message(next(questions), "one"))[0])
    daemon = made.journal("one")
    print(f"\n{'spawn to end, ms':<28} {'median':>7} {'p95':>7} {'max':>7}")
    print(f"{'bare interpreter':<28} {figures(times['bare'])}")
    print(f"{f'hook, {TOKENS} tokens':<28} {figures(times['hook'])}  asked {len(daemon)}/{calls}")
    print(f"{'  of it in the daemon':<28} {figures(daemon)}", flush=True)
    for _ in range(5):
        alone = max(spent for spent, _ in together(bare, bytes))
        before = late(made)
        spent = [time for time, _ in together(hook, lambda: made.message(next(questions), "ten"))]
        in_time = AT_ONCE - (late(made) - before)
        print(
            f"{f'{AT_ONCE} at once':<28} {figures(spent)}  in time {in_time}/{AT_ONCE}, slowest bare {alone:.0f}",
            flush=True,
        )


def late(made: Machine) -> int:
    """How many hooks have given up waiting so far; hook.log has a line for each."""
    log = Path(made.paths.hook_log)
    return len(log.read_text("utf-8").splitlines()) if log.exists() else 0


def while_indexing(made: Machine, questions: Iterator[str], notes: int) -> None:
    """One hook after the other while the daemon embeds all notes anew: each becomes three full chunks longer."""
    hook = made.registered_command()
    made.write_notes(notes, LONG)
    done = threading.Event()

    def index() -> None:
        call(made.paths, "index", timeout=3600)
        done.set()

    thread = threading.Thread(target=index)
    thread.start()
    times = []
    while not done.is_set():
        times.append(spawn_to_end(hook, made.message(next(questions), "busy"))[0])
        time.sleep(0.2)
    thread.join()
    print(f"{'hook while it indexes':<28} {figures(times)}  asked {len(made.journal('busy'))}/{len(times)}", flush=True)


def idle(made: Machine, daemon: psutil.Process, seconds: float) -> None:
    """CPU time with nothing to do: the looks at the sources are switched off, as they are after ten minutes."""
    config = Path(made.paths.config)
    overrides = {"model": name} if (name := call(made.paths, "status")["model"]) != BUNDLED else {}
    config.write_text(render_default_config({**overrides, "daemon.scan_seconds": 86_400}), encoding="utf-8")
    call(made.paths, "query", {"question": "wakes the daemon, which then reads its settings"})
    made.settled()
    print(f"idle: {cpu_share(daemon, seconds)}, {resident(daemon)}")


def resident(daemon: psutil.Process) -> str:
    memory = daemon.memory_info()
    return f"{memory.rss / 1e6:.0f} MB resident"


if __name__ == "__main__":
    main()
