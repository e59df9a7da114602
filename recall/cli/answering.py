"""What `recall eval` asks: the person's own records, and the messages of question files, by the daemon or in memory."""

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recall.cli.client import call_warm, current_folder
from recall.core.config import load_config
from recall.core.errors import RecallError, UsageError
from recall.text.clean import one_line
from recall.wire.paths import StatePaths

if TYPE_CHECKING:
    from recall.embed.manifest import Manifest
    from recall.evals.answered import Answered
    from recall.evals.questions import Question
    from recall.evals.records import Records
    from recall.search.gate import Rule

#: The names of question files in a corpus; that of unrelated messages may stand beside the corpus as well.
_QUERIES, _UNRELATED = "queries.jsonl", "unrelated.jsonl"


@dataclass(frozen=True, slots=True)
class Answers:
    """Answered messages, the rule and the thresholds that the gate has today, and `problems` of the question files."""

    answered: "Sequence[Answered]"
    model: str
    rule: "Rule"
    thresholds: Mapping[str, float]
    records: int
    where: str
    problems: Sequence[str]

    @property
    def about(self) -> str:
        """One line on what was asked of what."""
        asked = sum(not one.unrelated for one in self.answered)
        return (
            f"{asked} questions and {len(self.answered) - asked} messages that no note answers, {self.records} notes "
            f"and rules of {self.where}, {self.model}, gate {self.rule}"
        )


def own_records(paths: StatePaths, project: str | None) -> "Records":
    """The notes and rules of a project, by default the current folder's. Raises RecallError where there are none."""
    from recall.daemon.naming import project_meant
    from recall.evals import records
    from recall.sources.projects import discover

    projects = discover(load_config(Path(paths.config)).claude_folders(os.environ))
    keys = frozenset({project_meant(project, projects).key}) if project else projects.current(current_folder(), None)
    found = records.own_records(Path(paths.index), keys)
    for item in found.skipped:
        print(f"recall: {one_line(item.path)}: {item.reason}", file=sys.stderr)
    if not found.texts:
        raise RecallError(
            "no notes or rules of this project are in the index; run `recall index`, or go to another project's folder"
        )
    return found


def answers(files: Sequence[str], corpus: str | None, paths: StatePaths) -> Answers:
    """Ask every message of the files. What is wrong with a file is told on stderr and hides nothing that is right.

    Raises UsageError for a file that cannot be read, and where no message is left.
    """
    found = _in_memory(files, Path(corpus).absolute(), paths) if corpus else _by_daemon(files, paths)
    if not found.answered:
        raise UsageError("expected messages to ask, found none; write some, or mend the files as the lines above say")
    return found


def _by_daemon(files: Sequence[str], paths: StatePaths) -> Answers:
    from recall.embed.catalog import find_model
    from recall.embed.gates import read_gates, with_own
    from recall.evals.answered import Ranker, ask_daemon

    if not files:
        raise UsageError("expected a file of questions, found none; `recall eval make` tells how to come by one")
    config = load_config(Path(paths.config))
    records = own_records(paths, None)
    questions, problems = _read(files, records)
    ranker, cwd = Ranker(records), current_folder()
    replies: list[Mapping[str, Any]] = []

    def ask(fields: Mapping[str, Any]) -> Mapping[str, Any]:
        replies.append(call_warm(paths, "query", fields))
        return replies[-1]

    answered = [ask_daemon(question, ask, cwd, ranker) for question in questions]
    if any(reply["reason"] == "disabled" for reply in replies):
        raise RecallError(f"the hook is switched off, so nothing is handed over; set enabled = true in {paths.config}")
    models = {reply["model"] for reply in replies}
    if len(models) > 1 or any(reply["indexing"] for reply in replies):
        print("recall: the index was being built meanwhile; run it again when `recall index` is done", file=sys.stderr)
    model = replies[-1]["model"] if replies else str(config["model"])
    where = one_line(str(replies[-1]["project"])) if replies else "no project"
    manifest, rule = with_own(find_model(model, Path(paths.models)), read_gates(Path(paths.gates))), config["gate"]
    return Answers(answered, manifest.name, rule, _today(manifest, rule), len(records.texts), where, problems)


def _in_memory(files: Sequence[str], folder: Path, paths: StatePaths) -> Answers:
    from recall.embed.catalog import find_model
    from recall.embed.embedder import Embedder
    from recall.embed.gates import read_gates, with_own
    from recall.evals.answered import Ranker, of_outcome
    from recall.evals.measure import ask, index_corpus, read_corpus
    from recall.evals.records import records_of
    from recall.late.late import Late
    from recall.search.answer import Rules

    if not folder.is_dir():
        raise UsageError(f"{folder}: expected a folder of notes, found none; name the right one with --corpus")
    documents, skipped = read_corpus(folder)
    for item in skipped:
        print(f"recall: {one_line(item.path)}: {item.reason}", file=sys.stderr)
    if not documents:
        raise UsageError(f"{folder}: expected notes (*.md) below it, found none; name the right one with --corpus")
    records = records_of(documents, skipped)
    questions, problems = _read(files or _corpus_files(folder), records)
    config = load_config(Path(paths.config))
    manifest = with_own(find_model(config["model"], Path(paths.models)), read_gates(Path(paths.gates)))
    print(f"embedding {len(documents)} notes and rules of {folder.name}...", file=sys.stderr, flush=True)
    embedder = Embedder(manifest)
    corpus = index_corpus(folder, documents, embedder, Late(embedder))
    ranker = Ranker(records)
    rule = config["gate"]
    rules = Rules.of(manifest, rule)
    outcomes = ask(corpus, [_relative(question, folder) for question in questions], embedder, rules)
    answered = [of_outcome(outcome, ranker, folder) for outcome in outcomes]
    thresholds = _today(manifest, rule)
    return Answers(answered, manifest.name, rule, thresholds, len(documents), folder.name, problems)


def _today(manifest: "Manifest", rule: "Rule") -> dict[str, float]:
    """The thresholds that the gate's rule has for a model."""
    from recall.embed.gates import NAMES

    values = manifest.calibration if rule == "calibrated" else manifest.gate
    return {name: float(getattr(values, name)) for name in NAMES[rule]}


def _read(files: Sequence[str], records: "Records") -> "tuple[list[Question], list[str]]":
    """The questions of all files, and what is wrong with them, which is told at once."""
    from recall.evals.check import read_file

    questions: list[Question] = []
    problems: list[str] = []
    for name in files:
        file = read_file(Path(name), records)
        questions += file.questions
        problems += file.problems
    for problem in problems:
        print(f"recall: {problem}", file=sys.stderr)
    return questions, problems


def _corpus_files(folder: Path) -> list[str]:
    if not (folder / _QUERIES).is_file():
        raise UsageError(f"{folder}: expected {_QUERIES} in it, found none; name a file of questions")
    unrelated = [place for place in (folder / _UNRELATED, folder.parent / _UNRELATED) if place.is_file()]
    return [str(folder / _QUERIES), *(str(place) for place in unrelated[:1])]


def _relative(question: "Question", folder: Path) -> "Question":
    """The question with its records by their paths in the corpus."""

    def relative(names: frozenset[str]) -> frozenset[str]:
        return frozenset(Path(path).relative_to(folder).as_posix() for path in names)

    return replace(question, relevant=relative(question.relevant), also_ok=relative(question.also_ok))
