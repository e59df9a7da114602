"""Models and their precisions beside each other: what they find on the corpora, how fast they are, what they hold.

    python tools/compare_models.py [--corpora FOLDER] [FOLDER[:VARIANT ...] ...]

The bundled model comes first, then each FOLDER as the export tools write it (manifest.toml and files), in the named
variants or all that are there. Every one runs in a process of its own, one after the other, on the CPU.
"""

import argparse
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench_machine import load_average
from evaluate import CORPORA
from recall.core.errors import RecallError, UsageError
from recall.embed.catalog import find_model
from recall.embed.embedder import Embedder
from recall.embed.manifest import BUNDLED, Manifest
from recall.embed.manifest_file import read_manifest
from recall.evals.measure import ask, index_corpus, read_corpus
from recall.evals.metrics import summarize
from recall.evals.questions import read_questions
from recall.late.late import Late
from recall.models.speeds import measure
from recall.search.answer import Rules

HEAD = ("model", "variant", "MB", "hit@1", "hit@3", "MRR", "ms a question", "p95", "chunks/s", "MB resident")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", metavar="FOLDER[:VARIANT...]", help="exported models")
    parser.add_argument("--corpora", type=Path, default=CORPORA, help=f"folder of the corpora (default {CORPORA})")
    parser.add_argument("--only", nargs=2, metavar=("FOLDER", "VARIANT"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    try:
        if arguments.only:
            print(json.dumps(measured(manifest_of(arguments.only[0]), arguments.only[1], arguments.corpora)))
            return 0
        print(f"{load_average()}\n\n| {' | '.join(HEAD)} |\n|{' --- |' * 2}{' ---: |' * (len(HEAD) - 2)}", flush=True)
        for folder, variant in chosen(arguments.models):
            command = [sys.executable, __file__, "--corpora", str(arguments.corpora), "--only", folder, variant]
            done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
            found = json.loads(done.stdout)
            print(f"| {' | '.join(str(found[name]) for name in HEAD)} |", flush=True)
    except RecallError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    except subprocess.CalledProcessError as error:
        return error.returncode
    return 0


def chosen(models: list[str]) -> list[tuple[str, str]]:
    """Folder ("" for the bundled model) and variant of each row."""
    rows = []
    for word in ["", *models]:
        folder, *variants = word.split(":")
        there = [variant.name for variant in manifest_of(folder).installed]
        if missing := set(variants) - set(there):
            raise UsageError(f"{folder}: expected one of the variants {', '.join(there)}, not {', '.join(missing)}")
        rows += [(folder, variant) for variant in variants or there]
    return rows


def manifest_of(folder: str) -> Manifest:
    """Raises ModelError."""
    return read_manifest(Path(folder) / "manifest.toml", Path(folder)) if folder else find_model(BUNDLED, None)


def measured(manifest: Manifest, variant: str, corpora: Path) -> dict[str, Any]:
    """The figures of one variant by the words of HEAD."""
    only = tuple(found for found in manifest.variants if found.name == variant)
    manifest = replace(manifest, variants=only)
    embedder = Embedder(manifest, device="cpu")
    speed = measure(embedder)
    resident = psutil.Process().memory_info().rss / 1e6
    late, rules = Late(embedder), Rules.of(manifest, "calibrated")
    ranks: list[int | None] = []
    for path in sorted(corpora.glob("*/queries.jsonl")):
        corpus = index_corpus(path.parent, read_corpus(path.parent)[0], embedder, late)
        ranks += [outcome.rank for outcome in ask(corpus, read_questions(path), embedder, rules)]
    ranking = summarize(ranks)
    figures = (
        manifest.name,
        variant,
        f"{sum(file.bytes for file in manifest.needed(only)) / 1e6:.0f}",
        *(f"{figure:.2f}" for figure in (ranking.hit_at_1, ranking.hit_at_3, ranking.mrr)),
        *(f"{figure:.1f}" for figure in (speed.query_ms_p50, speed.query_ms_p95, speed.chunks_per_second)),
        f"{resident:.0f}",
    )
    return dict(zip(HEAD, figures, strict=True))


if __name__ == "__main__":
    sys.exit(main())
