"""Measure the product on the evaluation corpora: ranking beside the plain one, silence, and the gate's whole curve.

    python tools/evaluate.py [--corpora FOLDER] [--models FOLDER] [--model NAME ...] [--gap] [--names] [--examples N]

Each corpus folder (`NAME/queries.jsonl` and its Markdown files) is one project. `unrelated.jsonl` beside them holds
messages that deserve silence; they are asked in every corpus. All models that are installed in the folder `--models`
are measured, and the bundled one. `--gap` proposes values for the gap rule and shows how well those found on the other
corpora serve each one. `--names` asks about identifiers that stand in one record alone, with and without the search by
letters.
"""

import argparse
import statistics
import sys
import time
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from recall.core.errors import RecallError, UsageError
from recall.core.types import Document
from recall.embed.catalog import find_model
from recall.embed.embedder import Embedder
from recall.embed.manifest import BUNDLED
from recall.evals import calibrate, curve, report
from recall.evals.measure import Corpus, Outcome, ask, index_corpus, judge, read_corpus
from recall.evals.names import name_questions
from recall.evals.questions import Question, read_questions
from recall.late.late import Late
from recall.search.answer import Rules

CORPORA = Path(__file__).resolve().parents[2] / "shared" / "corpora"
#: Shares of plain unrelated messages that may get something, for the curve; the third is the one that is proposed.
FALSE_SPEECH = (0.0, 0.05, 0.10, 0.15, 0.20, 0.30, 0.50, 1.0)
ALLOWED, ALLOWED_HARD = 0.08, 0.20


def main() -> int:
    """Evaluate each named model. Returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", type=Path, default=CORPORA, help=f"folder of the corpora (default {CORPORA})")
    parser.add_argument("--model", action="append", help="name of a model (default: all installed); repeatable")
    parser.add_argument("--models", type=Path, help="folder of models that are not bundled")
    parser.add_argument("--gap", action="store_true", help="propose values for the gap rule and print its curve")
    parser.add_argument("--names", action="store_true", help="measure questions about identifiers too")
    parser.add_argument(
        "--examples", type=int, default=0, metavar="N", help="print N found questions of each language pair"
    )
    arguments = parser.parse_args()
    try:
        for name in arguments.model or installed(arguments.models):
            evaluate(name, arguments)
    except RecallError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0


def installed(models: Path | None) -> list[str]:
    """The bundled model, and those in the folder of models."""
    found = sorted(path.parent.name for path in models.glob("*/manifest.toml")) if models else []
    return [BUNDLED, *(name for name in found if name != BUNDLED)]


def evaluate(name: str, arguments: argparse.Namespace) -> None:
    """Measure one model and print the tables."""
    manifest = find_model(name, arguments.models)
    embedder = Embedder(manifest)
    late = Late(embedder)
    rules = Rules.of(manifest, "calibrated")
    unrelated = read_questions(arguments.corpora / "unrelated.jsonl")
    outcomes: list[Outcome] = []
    corpora = _corpora(arguments.corpora, embedder, late)
    for corpus, questions, _ in corpora:
        outcomes += ask(corpus, [*questions, *unrelated], embedder, rules)
    print(f"\n## {name}\n\n{manifest.weights}\n{manifest.calibration}\n")
    milliseconds = sorted(1000 * outcome.seconds for outcome in outcomes)
    print(f"search: median {statistics.median(milliseconds):.1f} ms, slowest {milliseconds[-1]:.1f} ms\n")
    print(*report.comparison_table(outcomes), "", *report.ranking_table(outcomes), "", sep="\n")
    print(*report.gate_table(outcomes), "", *report.choice_table(_choices(outcomes)), sep="\n")
    if arguments.examples:
        print("", *report.examples(outcomes, arguments.examples), sep="\n")
    if arguments.names:
        print("", *report.name_table(*_names(corpora, embedder, rules)), sep="\n")
    if arguments.gap:
        _calibrate(outcomes)


def _names(
    corpora: list[tuple[Corpus, list[Question], list[Document]]], embedder: Embedder, rules: Rules
) -> tuple[list[Outcome], list[Outcome]]:
    """Questions about identifiers, with the search by letters and without it."""
    blind = replace(rules, weights=replace(rules.weights, words=0.0))
    found: tuple[list[Outcome], list[Outcome]] = ([], [])
    for corpus, _, documents in corpora:
        for question in name_questions(corpus.folder, documents):
            heads = embedder.heads([question.query])[0]
            for outcomes, chosen in zip(found, (rules, blind), strict=True):
                outcomes.append(judge(corpus, question, heads, chosen))
    return found


def _choices(outcomes: list[Outcome]) -> dict[str, curve.Choice]:
    """The gate's curve over all messages, and each corpus under a threshold that was found on the others."""
    found = {
        f"at most {share:.0%} of unrelated": curve.measure(outcomes, curve.choose(outcomes, share))
        for share in FALSE_SPEECH
    }
    judged: list[tuple[list[Outcome], float]] = []
    for corpus in sorted({outcome.corpus for outcome in outcomes}):
        others = [outcome for outcome in outcomes if outcome.corpus != corpus]
        judged.append(([o for o in outcomes if o.corpus == corpus], curve.choose(others, ALLOWED, ALLOWED_HARD)))
        found[f"{corpus}, found on the others"] = curve.measure(*judged[-1])
    return found | {"all, each found on the others": curve.measure_all(judged)}


def _corpora(folder: Path, embedder: Embedder, late: Late) -> list[tuple[Corpus, list[Question], list[Document]]]:
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
        corpus = index_corpus(path.parent, documents, embedder, late)
        seconds, rows = time.perf_counter() - started, len(corpus.source.snapshot.rows.row_ids)
        print(f"{corpus.name}: {len(documents)} documents, {rows} rows, {seconds:.0f} s", file=sys.stderr)
        corpora.append((corpus, read_questions(path), documents))
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
