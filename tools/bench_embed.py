"""Bench of the bundled model: `python tools/bench_embed.py` measures it against the same weights in plain fp32.

Both go through recall's own embedder, turn by turn in one process, so that a busy machine slows both: trust the ratios.
Load time and memory come from a fresh process for each. The fp32 graph (470 MB) is kept in .cache/.
"""

import argparse
import dataclasses
import json
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import psutil

from e5_small.container import read_container
from e5_small.fetch import FetchError, Source, fetch_weights
from e5_small.graph import build_graph
from recall.core.errors import RecallError
from recall.embed.catalog import find_model
from recall.embed.embedder import Embedder
from recall.embed.manifest import Manifest, Variant
from recall.embed.tokenizer import load_tokenizer

ROOT = Path(__file__).resolve().parents[1]
NAME = "multilingual-e5-small"
PLAIN = ROOT / ".cache" / f"{NAME}-float32" / "model.onnx"
QUESTION_TOKENS = (12, 30, 100)
CHUNK_TOKENS = 266
ROUNDS = 20


def make_plain() -> None:
    """Write the fp32 graph when it is not there yet."""
    if PLAIN.is_file():
        return
    source = Source(**tomllib.loads((ROOT / "models" / f"{NAME}.toml").read_text("utf-8"))["source"])
    PLAIN.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=PLAIN.parent) as folder:
        built = build_graph(read_container(fetch_weights(source, Path(folder))), "float32", f"{PLAIN.name}.data")
    PLAIN.with_name(f"{PLAIN.name}.data").write_bytes(built.data)
    PLAIN.write_bytes(built.graph)


def manifest_of(plain: bool) -> Manifest:
    """The bundled model's manifest, or the same with the fp32 graph."""
    bundled = find_model(NAME, None)
    if not plain:
        return bundled
    return dataclasses.replace(bundled, variants=(Variant("fp32", ("cpu",), (PLAIN,)),))


def texts_of_tokens(prefix: str, tokens: int, count: int) -> list[str]:
    """`count` different texts that have `tokens` tokens with their prefix, of words that are one token each."""
    manifest = manifest_of(plain=False)
    missing = tokens - len(load_tokenizer(manifest.tokenizer, manifest.max_tokens).encode(prefix))
    words = ("the", "was", "and", "with", "from", "that")
    chosen = np.random.default_rng(tokens).choice(words, (count, missing))
    return [" ".join(row) for row in chosen]


def milliseconds(work: Callable[[str], object], texts: list[str]) -> list[float]:
    """Wall-clock time of `work` for each text."""
    found = []
    for text in texts:
        began = time.perf_counter()
        work(text)
        found.append((time.perf_counter() - began) * 1000)
    return found


def compare(label: str, works: Sequence[Callable[[str], object]], texts: list[str]) -> tuple[float, float]:
    """Time both works on the same texts in turns, print a line, and return the medians (bundled, fp32) in ms."""
    times: list[list[float]] = [[], []]
    for work in works:
        work(texts[0])
    step = max(1, len(texts) // ROUNDS)
    for start in range(0, len(texts), step):
        for work, taken in zip(works, times, strict=True):
            taken.extend(milliseconds(work, texts[start : start + step]))
    (small, small95), (plain, plain95) = (np.percentile(taken, [50, 95]).tolist() for taken in times)
    print(
        f"{label:<22} {small:7.2f} ms (p95 {small95:7.2f})   fp32 {plain:7.2f} ms (p95 {plain95:7.2f})   "
        f"ratio {small / plain:.2f}"
    )
    return small, plain


def report_process(plain: bool) -> None:
    """In a fresh process: print load time and resident memory as one line of JSON."""
    began = time.perf_counter()
    embedder = Embedder(manifest_of(plain))
    load = time.perf_counter() - began
    process = psutil.Process()
    resident = {"loaded": process.memory_info().rss}
    for words in range(1, 101):
        embedder.embed_query("word " * (words % 40))
    resident["100 questions"] = process.memory_info().rss
    embedder.embed_passages(["word " * 600] * 4)
    resident["4 full passages"] = process.memory_info().rss
    print(json.dumps({"load": load, "resident": resident}))


def show_process(label: str, *flags: str) -> None:
    """Run this file in a fresh process and print what it measured."""
    done = subprocess.run([sys.executable, __file__, "--process", *flags], capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    memory = ", ".join(f"{after}: {size / 1e6:.0f} MB" for after, size in found["resident"].items())
    print(f"{label:<22} loads in {found['load']:.2f} s; whole process after {memory}")


def main() -> int:
    """Command line: prints the figures."""
    parser = argparse.ArgumentParser(description="Measure the bundled model against plain fp32.")
    parser.add_argument("--process", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--plain", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.process:
        report_process(arguments.plain)
        return 0
    try:
        make_plain()
        show_process("bundled")
        show_process("fp32", "--plain")
        bundled, plain = Embedder(manifest_of(plain=False)), Embedder(manifest_of(plain=True))
    except (FetchError, RecallError) as error:
        print(error, file=sys.stderr)
        return 1
    print(f"device: {bundled.device}")
    for tokens in QUESTION_TOKENS:
        texts = texts_of_tokens("query: ", tokens, 100)
        compare(f"question, {tokens} tokens", (bundled.embed_query, plain.embed_query), texts)
    chunks = texts_of_tokens("passage: ", CHUNK_TOKENS, 20)
    works = (lambda text: bundled.embed_passages([text]), lambda text: plain.embed_passages([text]))
    small, full = compare(f"chunk, {CHUNK_TOKENS} tokens", works, chunks)
    print(f"chunks a second: {1000 / small:.1f}, fp32 {1000 / full:.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
