"""Search over many rows: `python tools/bench_search.py [ROWS ...]` prints ms a question and the time to load an index.

A question is one dot product with every row, the best chunk of each document, and the top 11. Rows are random unit
vectors of 384 dimensions, three to a document. Figures are medians of one run; the ratios to the first line say more
than the milliseconds, which belong to the machine.
"""

import argparse
import hashlib
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt

from recall.core.types import Document, FoundFile, Project
from recall.search.dense import rank
from recall.store.entries import Entry, Finish
from recall.store.reader import Reader
from recall.store.writer import Writer

DIMENSION = 384
CHUNKS_A_DOCUMENT = 3
TOP = 11
#: A million rows from SQLite need a file of 2 GB and minutes to write; the search itself is measured with them.
MOST_STORED_ROWS = 100_000

Floats = npt.NDArray[np.float32]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("rows", type=int, nargs="*", default=[1_000, 10_000, 100_000, 1_000_000])
    parser.add_argument("--questions", type=int, default=30, help="questions a size (default 30)")
    arguments = parser.parse_args()
    print(f"{'rows':>9}  {'ms a question':>13}  {'ratio':>7}  {'load ms':>8}  {'ratio':>7}")
    first: tuple[float, float | None] | None = None
    for rows in arguments.rows:
        vectors = unit_vectors(rows, seed=rows)
        asked = question_ms(vectors, arguments.questions)
        loaded = load_ms(vectors) if rows <= MOST_STORED_ROWS else None
        first = first or (asked, loaded)
        load = f"{loaded:8.1f}  {ratio(loaded, first[1]):>7}" if loaded is not None else f"{'-':>8}  {'-':>7}"
        print(f"{rows:9,}  {asked:13.3f}  {ratio(asked, first[0]):>7}  {load}", flush=True)


def ratio(value: float, base: float | None) -> str:
    return f"{value / base:.1f}" if base else "-"


def unit_vectors(count: int, seed: int) -> Floats:
    """float32 [count, DIMENSION], each of length 1."""
    vectors = np.random.default_rng(seed).standard_normal((count, DIMENSION), dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


def median_ms(calls: Iterable[Callable[[], object]]) -> float:
    times = []
    for call in calls:
        began = time.perf_counter()
        call()
        times.append(time.perf_counter() - began)
    return statistics.median(times) * 1000


def question_ms(vectors: Floats, questions: int) -> float:
    documents = np.arange(len(vectors), dtype=np.int32) // CHUNKS_A_DOCUMENT
    asked = unit_vectors(questions, seed=1)
    rank(vectors, documents, asked[0], None, TOP)  # the first touches every page of the vectors
    return median_ms(partial(rank, vectors, documents, query, None, TOP) for query in asked)


def load_ms(vectors: Floats) -> float:
    """Time to load the vectors from an index that was written the way the pipeline does, but many at once."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "index.sqlite3"
        project = Project("/bench", "bench")
        with Writer(path, "bench", DIMENSION) as writer:
            for start in range(0, len(vectors), CHUNKS_A_DOCUMENT):
                chunk = vectors[start : start + CHUNKS_A_DOCUMENT]
                digests = [hashlib.sha256(vector.tobytes()).digest() for vector in chunk]
                file = FoundFile("memory", f"/bench/{start}.md", project.key, 1000, 1)
                writer.enlist([file], {project.key: project})
                document = Document("memory", file.path, project.key, f"Note {start}", "What it is about", "")
                writer.put_vectors(dict(zip(digests, chunk, strict=True)))
                writer.put(file, Entry(document, project, digests), finish=Finish(project, 1))
            writer.tidy()
        reader = Reader(path)
        if not np.array_equal(reader.load("bench").vectors, vectors):
            sys.exit("the rows that were loaded are not those that were stored")
        milliseconds = median_ms([lambda: reader.load("bench")] * 3)
        reader.close()
        return milliseconds


if __name__ == "__main__":
    main()
