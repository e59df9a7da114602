"""Memory and idle time of a real daemon: `python tools/bench_memory.py` asks it 10,000 mixed questions (minutes).

Resident memory is printed after the start, after indexing, and every 1,000 questions: it must not grow. Then the daemon
is left alone: first while it still looks the sources over every minute, then with nothing to do.
"""

import argparse
import random
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil

from bench_machine import Machine, load_average, machine
from recall.cli.client import call
from recall.core.config import render_default_config
from recall.embed.catalog import find_model
from recall.embed.embedder import Embedder
from recall.wire.transport import ask

#: Sessions that ask at once; more would only wait in the daemon's queue.
ASKERS = 4
REPORT_EVERY = 1_000

#: Kinds of message; each question is one of them with words of its own, so that nothing can be remembered.
SAMPLES = (
    "アクセスログは何日で消すことになっていますか？ 対象は{}です",
    "how long do we keep access logs of {} before deleting them?",
    "액세스 로그는 며칠 동안 보관하나요? {}에 대해 알려 주세요",
    "Сколько дней мы храним журналы доступа для {}?",
    "def keep_{}(days: int) -> bool:\n    return days < 90  # TypeError: '<' not supported between 'str' and 'int'",
    "🚀🔥 {} が落ちた 👩‍👩‍👧‍👦 help pls 🙏🏽",
    "{} " * 120,
    "{} " * 1_500,  # more than the model reads
)
#: How often each kind comes: a long message takes as much time as thirty short ones.
WEIGHTS = (20, 20, 20, 20, 20, 20, 8, 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--notes", type=int, default=200, help="notes in the index (default 200)")
    parser.add_argument("--questions", type=int, default=10_000, help="questions to ask (default 10000)")
    parser.add_argument("--idle-seconds", type=float, default=60.0, help="length of each idle time (default 60)")
    arguments = parser.parse_args()
    print(load_average(), flush=True)
    print(f"the model loads in {load_seconds():.2f} s (files in the disk cache)")
    with machine() as made:
        began = time.perf_counter()
        daemon = made.start()
        print(f"daemon ready {time.perf_counter() - began:.2f} s after its start\n")
        show("after the start", daemon)
        made.write_notes(arguments.notes)
        report = call(made.paths, "index", timeout=600)
        show(f"after indexing {report['added']} notes in {report['seconds']:.0f} s", daemon)
        ask_all(made, daemon, arguments.questions)
        idle(made, daemon, arguments.idle_seconds)


def load_seconds() -> float:
    manifest = find_model("multilingual-e5-small", None)
    began = time.perf_counter()
    Embedder(manifest)
    return time.perf_counter() - began


def show(when: str, daemon: psutil.Process) -> None:
    memory = daemon.memory_info().rss / 1e6
    print(f"{when:<44} {memory:6.1f} MB  {daemon.num_threads():2} threads", flush=True)


def ask_all(made: Machine, daemon: psutil.Process, count: int) -> None:
    """Ask over the wire as the hook does, but waiting for every answer."""

    def one(prompt: str) -> str:
        reply, _ = ask(made.paths, "hook", made.message(prompt, "memory"), timeout=60.0)
        return reply.status

    statuses: Counter[str] = Counter()
    prompts = mixed_questions()
    with ThreadPoolExecutor(ASKERS) as pool:
        asked = 0
        while asked < count:
            batch = [next(prompts) for _ in range(min(REPORT_EVERY, count - asked))]
            began = time.perf_counter()
            statuses.update(pool.map(one, batch))
            asked += len(batch)
            show(f"after {asked:,} questions ({len(batch) / (time.perf_counter() - began):.0f} a second)", daemon)
    print(f"answers: {', '.join(f'{number} {status}' for status, number in sorted(statuses.items()))}\n")


def mixed_questions() -> Iterator[str]:
    """Endless and always the same."""
    chance = random.Random(1)
    alphabet = "abcdefghijklmnopqrstuvwxyzあいうえおかきくけこ漢字仮名абвгд가나다라"
    while True:
        sample = chance.choices(SAMPLES, WEIGHTS)[0]
        words = ("".join(chance.choices(alphabet, k=chance.randint(2, 9))) for _ in range(sample.count("{}")))
        yield sample.format(*words)


def idle(made: Machine, daemon: psutil.Process, seconds: float) -> None:
    """CPU time while nobody asks: within ten minutes of a question, and, with the looks switched off, after that."""
    made.settled()
    # A little longer, so that a minute holds at least one look.
    print(f"idle, still in use: {cpu_share(daemon, seconds + 5)}")
    settings = render_default_config({"daemon.scan_seconds": 86_400})
    Path(made.paths.config).write_text(settings, encoding="utf-8")
    call(made.paths, "query", {"question": "wakes the daemon, which then reads its settings"})
    made.settled()
    print(f"idle, at rest:      {cpu_share(daemon, seconds)}")
    show("afterwards", daemon)


def cpu_share(daemon: psutil.Process, seconds: float) -> str:
    """CPU time of all its threads over a time of quiet. The system counts in hundredths of a second."""
    before = daemon.cpu_times()
    time.sleep(seconds)
    after = daemon.cpu_times()
    spent = max(0.0, after.user + after.system - before.user - before.system)
    return f"{spent:.2f} s of CPU in {seconds:g} s = {spent / seconds:.3%} of a core"


if __name__ == "__main__":
    main()
