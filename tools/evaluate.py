"""Measure the product on the evaluation corpora: ranking, silence, and gate values that would serve better.

    python tools/evaluate.py [--corpora FOLDER] [--model NAME ...] [--calibrate] [--examples N]

Each corpus folder (`NAME/queries.jsonl` and its Markdown files) is one project. `unrelated.jsonl` beside them holds
messages that deserve silence; they are asked in every corpus. `--calibrate` proposes gate values and shows how well
values found on the other corpora serve each one.
"""

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from recall.core.errors import RecallError, UsageError
from recall.embed.catalog import find_model
from recall.embed.embedder import Embedder
from recall.evals import calibrate, report
from recall.evals.measure import Corpus, Outcome, ask, index_corpus, read_corpus
from recall.evals.questions import Question, read_questions

CORPORA = Path(__file__).resolve().parents[2] / "shared" / "corpora"
#: Shares of plain unrelated messages that may get something, for the curve; the third is the one that is proposed.
FALSE_SPEECH = (0.0, 0.05, 0.10, 0.15, 0.20, 0.30, 0.50, 1.0)
ALLOWED = 0.10


def main() -> int:
    """Evaluate each named model. Returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", type=Path, default=CORPORA, help=f"folder of the corpora (default {CORPORA})")
    parser.add_argument("--model", action="append", help="name of a model (default multilingual-e5-small); repeatable")
    parser.add_argument("--models", type=Path, help="folder of models that are not bundled")
    parser.add_argument("--calibrate", action="store_true", help="propose gate values and print the curve")
    parser.add_argument(
        "--examples", type=int, default=0, metavar="N", help="print N found questions of each language pair"
    )
    arguments = parser.parse_args()
    try:
        for name in arguments.model or ["multilingual-e5-small"]:
            evaluate(name, arguments)
    except RecallError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0


def evaluate(name: str, arguments: argparse.Namespace) -> None:
    """Measure one model and print the tables."""
    manifest = find_model(name, arguments.models)
    embedder = Embedder(manifest)
    unrelated = read_questions(arguments.corpora / "unrelated.jsonl")
    outcomes: list[Outcome] = []
    for corpus, questions in _corpora(arguments.corpora, embedder):
        outcomes += ask(corpus, [*questions, *unrelated], embedder, manifest.gate)
    gate = manifest.gate
    print(f"\n## {name}\n\nfloor {gate.floor}, weak {gate.weak}, strong {gate.strong}, near {gate.near}\n")
    print(*report.ranking_table(outcomes), "", *report.gate_table(outcomes), sep="\n")
    if arguments.examples:
        print("", *report.examples(outcomes, arguments.examples), sep="\n")
    if arguments.calibrate:
        _calibrate(outcomes)


def _corpora(folder: Path, embedder: Embedder) -> list[tuple[Corpus, list[Question]]]:
    """Index every corpus of the folder, telling how long it took."""
    found = sorted(folder.glob("*/queries.jsonl"))
    if not found:
        raise UsageError(f"{folder}: expected folders with a queries.jsonl; name the right one with --corpora")
    corpora = []
    for path in found:
        started = time.perf_counter()
        documents, skipped = read_corpus(path.parent)
        for item in skipped:
            print(f"skipped {item.path}: {item.reason}", file=sys.stderr)
        corpus = index_corpus(path.parent, documents, embedder)
        seconds, rows = time.perf_counter() - started, len(corpus.snapshot.row_documents)
        print(f"{corpus.name}: {len(documents)} documents, {rows} chunks, {seconds:.0f} s", file=sys.stderr)
        corpora.append((corpus, read_questions(path)))
    return corpora


def _calibrate(outcomes: list[Outcome]) -> None:
    """Print how well the signs separate, the curve, the proposal, and each corpus under values found on the others."""
    cases = calibrate.cases_of(outcomes)
    print("\n### Calibration\n\n| sign, area under the curve | against plain | against near misses |")
    print("| --- | ---: | ---: |")
    for label, signs in (("top", cases.top), ("gap", cases.gap)):
        areas = [calibrate.separation(signs, cases.found, other) for other in (cases.plain, cases.hard)]
        print(f"| {label}, note in the top three | {areas[0]:.2f} | {areas[1]:.2f} |")
    print("", *report.curve_table({f"at most {s:.0%}": calibrate.best_point(cases, s) for s in FALSE_SPEECH}), sep="\n")
    held_out = {}
    for corpus in sorted({outcome.corpus for outcome in outcomes}):
        others = calibrate.cases_of([outcome for outcome in outcomes if outcome.corpus != corpus])
        own = calibrate.cases_of([outcome for outcome in outcomes if outcome.corpus == corpus])
        chosen = calibrate.best_point(others, ALLOWED)
        held_out[f"{corpus}, found on the others"] = calibrate.measure_point(own, chosen.floor, chosen.weak)
        chosen = calibrate.best_point(own, ALLOWED)
        held_out[f"{corpus}, found on itself"] = chosen
    print("", *report.curve_table(held_out), sep="\n")
    gate = calibrate.propose(cases, ALLOWED)
    print(f"\nproposal for at most {ALLOWED:.0%} of the plain unrelated messages:\n\n[gate]")
    print(f"floor = {gate.floor}\nweak = {gate.weak}\nstrong = {gate.strong}\nnear = {gate.near}")


if __name__ == "__main__":
    sys.exit(main())
