"""`recall eval`: whether the right note is found and silence kept, on questions about the person's own notes."""

import argparse
import json
import shlex
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from recall.cli.answering import Answers, answers, own_records
from recall.core.atomic import replace_bytes
from recall.core.errors import RecallError, UsageError
from recall.text.clean import one_line
from recall.wire.paths import StatePaths, state_home

HELP = "measure on your own notes what is found and when it is silent; tune the gate"

#: Questions, and messages that no note answers, unless others are asked for.
USUAL = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)

    def verb(name: str, text: str, description: str = "") -> argparse.ArgumentParser:
        chosen = verbs.add_parser(name, help=text, description=description or text)
        chosen.add_argument("--home", metavar="DIR", default=argparse.SUPPRESS, help="state folder")
        chosen.add_argument("--json", action="store_true", help="print one JSON object")
        return chosen

    make = verb(
        "make",
        "write the instruction by which an AI without context makes questions about your notes, or check its file",
        "Writes an instruction to hand to an AI that knows nothing of you: it reads some of your notes and writes "
        "questions that share no words with them, and messages that no note answers. --check looks over its file.",
    )
    make.add_argument("--project", metavar="NAME", help="about this project's notes instead of the current folder's")
    make.add_argument("--out", metavar="FILE", help="write the instruction there (default: print it)")
    make.add_argument("--questions", type=_number, default=USUAL, metavar="N", help=f"questions (default {USUAL})")
    make.add_argument(
        "--unrelated", type=_number, default=USUAL, metavar="N", help=f"messages without answer (default {USUAL})"
    )
    make.add_argument("--seed", type=int, default=0, help="another number chooses other notes")
    make.add_argument("--check", metavar="FILE", help="name everything that is wrong with a file that came back")
    measure = verb(
        "run",
        "ask every message of the files and show what is found, beside grep, BM25 and the plain method",
        "A file holds one JSON object a line: id, query, lang, relevant (files: absolute, or the end of the path), "
        "and optionally also_ok, note_lang, hard. Nothing of it is kept.",
    )
    tune = verb("tune", "propose thresholds for the gate from the files, and show what they do on other messages")
    for command in (measure, tune):
        command.add_argument("files", metavar="FILE", nargs="*", help="questions; `recall eval make` asks for them")
        command.add_argument("--html", metavar="OUT", help="write a page with pictures there")
        command.add_argument(
            "--corpus", metavar="FOLDER", help="notes of this folder, in memory; by default with its queries.jsonl"
        )
    tune.add_argument("--write", action="store_true", help="keep the thresholds if they do better")


def run(arguments: argparse.Namespace) -> int:
    verbs: dict[str, Callable[[argparse.Namespace, StatePaths], int]] = {"make": _make, "run": _run, "tune": _tune}
    return verbs[arguments.verb](arguments, StatePaths(state_home(arguments.home)))


def _make(arguments: argparse.Namespace, paths: StatePaths) -> int:
    from recall.evals.check import check_file
    from recall.evals.instruction import Order, choose_notes, write_instruction

    order = Order(arguments.questions, arguments.unrelated)
    records = own_records(paths, arguments.project)
    if arguments.check:
        return _tell(check_file(Path(arguments.check), records, order), as_json=arguments.json)
    notes = choose_notes(records, order.questions, arguments.seed)
    text = write_instruction(notes, order, _check_command(arguments, len(notes)))
    if arguments.out:
        _write(Path(arguments.out), text)
    if arguments.json:
        chosen = [note.path for note in notes]
        print(json.dumps({"notes": chosen, "out": arguments.out, "instruction": text}, indent=1, ensure_ascii=False))
    elif arguments.out:
        print(f"{arguments.out}: an instruction on {len(notes)} notes; hand it to an AI that can read these files")
    else:
        print(text, end="")
    return 0


def _tell(problems: list[str], *, as_json: bool) -> int:
    if as_json:
        print(json.dumps({"problems": problems}, indent=1, ensure_ascii=False))
    else:
        print(*(problems or ["nothing is wrong with it; `recall eval run` takes it"]), sep="\n")
    return 1 if problems else 0


def _check_command(arguments: argparse.Namespace, notes: int) -> str:
    words = ["recall", "eval", "make", "--check", "questions.jsonl"]
    words += ["--project", arguments.project] if arguments.project else []
    words += ["--questions", str(notes)] if notes != USUAL else []
    words += ["--unrelated", str(arguments.unrelated)] if arguments.unrelated != USUAL else []
    return shlex.join(words)


def _run(arguments: argparse.Namespace, paths: StatePaths) -> int:
    from recall.evals.picture import run_page
    from recall.evals.summary import figures, lines

    found = _answers(arguments, paths)
    if arguments.html:
        _write_page(arguments.html, run_page(found.answered, found.rule, found.thresholds, found.about))
    if arguments.json:
        about = {
            "model": found.model,
            "gate": found.rule,
            "thresholds": dict(found.thresholds),
            "project": found.where,
            "records": found.records,
            "problems": list(found.problems),
        }
        print(json.dumps(about | figures(found.answered), indent=1, ensure_ascii=False))
    else:
        print(found.about, "", *lines(found.answered), sep="\n")
    return 0


def _tune(arguments: argparse.Namespace, paths: StatePaths) -> int:
    from recall.embed.gates import write_gates
    from recall.evals.picture import EFFECT_HEAD, HONEST, advice, effect_rows, tune_page
    from recall.evals.summary import table
    from recall.evals.tune import case_of, propose

    if arguments.write and arguments.corpus:
        raise UsageError("--write keeps thresholds that were found on your own notes; leave --corpus out")
    found = _answers(arguments, paths)
    proposal = propose([case_of(one) for one in found.answered], found.rule, found.thresholds)
    if arguments.html:
        _write_page(arguments.html, tune_page(proposal, found.about))
    if arguments.json:
        values = {name: getattr(proposal, name) for name in ("rule", "is_better")}
        values |= {name: dict(getattr(proposal, name)) for name in ("before", "after")}
        values |= {name: asdict(getattr(proposal, name)) for name in ("now", "fitted", "judged")}
        print(json.dumps({"model": found.model} | values, indent=1, ensure_ascii=False))
    else:
        rows = [[name, f"{proposal.before[name]:.4g}", f"{value:.4g}"] for name, value in proposal.after.items()]
        print(found.about, "", *table(["threshold", "today", "proposed"], rows), "", sep="\n")
        for title, cells in zip(
            EFFECT_HEAD[1:], zip(*(row[1:] for row in effect_rows(proposal)), strict=True), strict=True
        ):
            print(f"{title}: {cells[0]} today, {cells[1]} proposed, {cells[2]} judged")
        print(HONEST, "", advice(proposal), sep="\n")
    if arguments.html and not arguments.json:
        print(f"wrote {one_line(arguments.html)}")
    if arguments.write:
        if not proposal.is_better:
            raise RecallError("nothing was written, because the proposal does no better than today's thresholds")
        write_gates(Path(paths.gates), found.model, found.rule, proposal.after)
        if not arguments.json:
            print(f"written to {Path(paths.gates)}; delete it to go back")
    return 0


def _answers(arguments: argparse.Namespace, paths: StatePaths) -> Answers:
    from recall.pages.page import check_place

    if arguments.html:
        check_place(Path(arguments.html))
    return answers(arguments.files, arguments.corpus, paths)


def _write_page(path: str, html: str) -> None:
    from recall.pages.page import write_page

    write_page(Path(path), html)


def _write(path: Path, text: str) -> None:
    """Write a new file. Raises UsageError where there is one, which may be a note."""
    if path.exists():
        raise UsageError(f"{path}: expected the name of a new file, found one that is there; name another one")
    if not path.parent.is_dir():
        raise UsageError(f"{path}: expected a path in a folder that is there, found no folder {path.parent}; make it")
    replace_bytes(path, text.encode("utf-8"))


def _number(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 500:
        raise argparse.ArgumentTypeError(f"expected a whole number from 1 to 500, found {text!r}")
    return int(text)
