"""Search over many rows: `python tools/bench_search.py [ROWS ...]` prints ms a question, load time, disk and memory.

Rows hold random vectors of 384 dimensions and sketches of random token vectors, three chunks and a headline to a
document, and lie in an index that is written as the pipeline does it. A question of 24 tokens ranks them all: every
cosine, late interaction on the best rows, sketches read from the index (`cold`: the first question for each) or at
hand. Figures are medians of one run; the ratios to the first line say more than the milliseconds, which belong to the
machine.
"""

import argparse
import hashlib
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
import psutil

from recall.core.types import BACKGROUND, KINDS, Document, FoundFile, Project
from recall.daemon.sketches import Sketches
from recall.embed.catalog import find_model
from recall.embed.embedder import Embedder
from recall.embed.encoder import Heads, unit
from recall.embed.manifest import BUNDLED, Weights
from recall.late.late import Late
from recall.search.score import Asked, Source, score
from recall.search.snapshot import take_snapshot
from recall.store.entries import Embedded, Entry, Finish
from recall.store.reader import Reader
from recall.store.writer import Writer

DIMENSION = 384
#: A headline and three chunks, with as many token vectors as 501 real notes and decision records keep on average.
PIECES, HEADLINE_TOKENS, TOKENS = 4, 36, 90
ASKED = 24


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("rows", type=int, nargs="*", default=[1_000, 5_000, 20_000])
    parser.add_argument("--questions", type=int, default=15, help="questions a size (default 15)")
    arguments = parser.parse_args()
    late = Late(Embedder(find_model(BUNDLED, None)))
    print(f"{'rows':>7} {'cold ms':>8} {'ms':>7} {'ratio':>6} {'load ms':>8} {'disk MB':>8} {'memory MB':>10}")
    base = 0.0
    for rows in arguments.rows:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "index.sqlite3"
            write(path, rows, late)
            cold, warm, load, memory = measure(path, late, arguments.questions)
            base = base or warm
            size = path.stat().st_size / 1e6
            print(
                f"{rows:7,} {cold:8.1f} {warm:7.1f} {warm / base:6.1f} {load:8.0f} {size:8.0f} {memory:10.0f}",
                flush=True,
            )


def write(path: Path, rows: int, late: Late) -> None:
    """An index of so many rows."""
    rng = np.random.default_rng(rows)
    project = Project("/bench", "bench")
    # Sketches of a few hundred texts, used again and again: making them is not what is measured.
    counts = [HEADLINE_TOKENS if number % PIECES == 0 else TOKENS for number in range(200)]
    tokens = (unit(rng.standard_normal((n, DIMENSION), dtype=np.float32)) for n in counts)
    some = [late.embedded(Heads(one[0], one, None)).sketch for one in tokens]
    background = np.array([0.8] * (BACKGROUND - 1) + [0.02], np.float32)
    with Writer(path, "bench", DIMENSION) as writer:
        for start in range(0, rows, PIECES):
            vectors = unit(rng.standard_normal((PIECES, DIMENSION), dtype=np.float32))
            digests = [hashlib.sha256(vector.tobytes()).digest() for vector in vectors]
            file = FoundFile("memory", f"/bench/{start}.md", project.key, 1000, 1)
            writer.enlist([file], {project.key: project})
            document = Document("memory", file.path, project.key, f"Note {start}", "What it is about", "")
            pairs = zip(digests, vectors, strict=True)
            writer.put_embedded({d: Embedded(v, some[(start + n) % 200], background) for n, (d, v) in enumerate(pairs)})
            writer.put(file, Entry(document, project, digests[1:], {}, digests[0]), finish=Finish(project, 1))
        writer.tidy()


def measure(path: Path, late: Late, questions: int) -> tuple[float, float, float, float]:
    """Milliseconds of a question with its sketches on the disk and at hand, and of loading; megabytes that came to be
    held."""
    process = psutil.Process()
    before = process.memory_info().rss
    began = time.perf_counter()
    reader = Reader(path)
    snapshot = take_snapshot(reader.load("bench"), late.bank)
    loaded = time.perf_counter() - began
    reader.close()
    sketches = Sketches(path)
    source = Source(snapshot, late, sketches.of(snapshot.generation))
    everything = snapshot.scope(None, KINDS)
    rng = np.random.default_rng(1)
    cold: list[float] = []
    warm: list[float] = []
    for _ in range(questions):
        tokens = unit(rng.standard_normal((ASKED, DIMENSION), dtype=np.float32))
        asked = Asked(tokens[0], late.project(tokens), None, ASKED)
        for times in (cold, warm):
            began = time.perf_counter()
            score(source, asked, everything, Weights())
            times.append(time.perf_counter() - began)
    sketches.close()
    held = (process.memory_info().rss - before) / 1e6
    return statistics.median(cold) * 1000, statistics.median(warm) * 1000, loaded * 1000, held


if __name__ == "__main__":
    main()
