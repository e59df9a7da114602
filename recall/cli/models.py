"""`recall models`: which embedding models there are, and what people do with them. Only `add` downloads anything."""

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from recall.cli.ask import require
from recall.cli.progress import LINE_SECONDS, ProgressLine
from recall.core.config import load_config
from recall.core.errors import ModelError, RecallError
from recall.text.clean import ELLIPSIS, one_line
from recall.wire.paths import StatePaths, state_home

if TYPE_CHECKING:
    from recall.embed.embedder import Embedder
    from recall.embed.manifest import Manifest
    from recall.models.install import Plan
    from recall.models.listing import Entry
    from recall.models.speeds import Speed

HELP = "list the embedding models; add, use, remove or verify one"

#: Columns of the list; licences and languages are cut to fit.
WIDTH, LONGEST_LICENCE = 120, 26


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print the list as JSON")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB")

    def verb(name: str, text: str) -> argparse.ArgumentParser:
        chosen = verbs.add_parser(name, help=text, description=text)
        chosen.add_argument("--home", metavar="DIR", default=argparse.SUPPRESS, help="state folder")
        return chosen

    listing = verb("list", "list the known and the installed models (also without a VERB)")
    listing.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help="print the list as JSON")
    add = verb("add", "download or copy a model and check it; what is interrupted goes on with the next add")
    add.add_argument("name", metavar="NAME")
    add.add_argument("--from", dest="source", metavar="hub|FOLDER|URL", help="where it comes from")
    add.add_argument("--variant", action="append", default=[], metavar="V", help="a precision; may be repeated")
    add.add_argument("--yes", action="store_true", help="download without being asked")
    add.add_argument("--accept-terms", action="store_true", help="you have read and accept the model's terms")
    use = verb("use", "embed and search with this model from now on")
    use.add_argument("name", metavar="NAME")
    for command in (add, use):
        command.add_argument("--no-measure", action="store_true", help="do not measure the model's speed")
    remove = verb("remove", "delete a model and its vectors")
    remove.add_argument("name", metavar="NAME")
    remove.add_argument("--yes", action="store_true", help="delete without being asked")
    check = verb("verify", "read all files of the installed models and compare their checksums")
    check.add_argument("name", metavar="NAME", nargs="?")


def run(arguments: argparse.Namespace) -> int:
    verbs: dict[str | None, Callable[[argparse.Namespace, StatePaths], int]] = {
        None: _list,
        "list": _list,
        "add": _add,
        "use": _use,
        "remove": _remove,
        "verify": _verify,
    }
    return verbs[arguments.verb](arguments, StatePaths(state_home(arguments.home)))


class ByteLine(ProgressLine):
    """How much of a download is there: a bar on a terminal, elsewhere a line each ten seconds."""

    def __enter__(self) -> "ByteLine":
        return self

    def show(self, done: int, total: int, seconds_left: float | None = None) -> None:
        """`done` of `total` bytes."""
        if sys.stderr.isatty() and self._bar is None:
            from tqdm import tqdm

            self._bar = tqdm(total=total, unit="B", unit_scale=True, file=sys.stderr, leave=False)
        super().show(done, total, seconds_left)

    def _line(self, done: int, total: int, seconds_left: float | None) -> None:
        if time.monotonic() - self._last_line >= LINE_SECONDS:
            self._last_line = time.monotonic()
            print(f"{done / 1e6:.0f} of {total / 1e6:.0f} MB", file=sys.stderr, flush=True)


def _list(arguments: argparse.Namespace, paths: StatePaths) -> int:
    from recall.models.listing import entries

    found = list(entries(paths, _in_use(paths)))
    if arguments.json:
        print(json.dumps([entry.json() for entry in found], ensure_ascii=False, indent=1))
        return 0
    rows: list[tuple[str, ...]] = [
        ("", "MODEL", "INSTALLED", "MB", "GATE", "A QUESTION", "CHUNKS/S", "LICENCE", "LANGUAGES")
    ]
    rows += [_row(entry) for entry in found if not entry.problem]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    room = max(WIDTH - sum(width + 2 for width in widths[:-1]), len(rows[0][-1]))
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row[:-1], widths, strict=False)]
        print("  ".join([*cells, _cut(row[-1], room)]).rstrip())
    for entry in found:
        if entry.problem:
            print(f"{'*' if entry.in_use else ' '}  {entry.name}: {entry.problem}")
    print("* is in use; `recall models add NAME` brings one, `recall models use NAME` takes it into use")
    for entry in found:
        if entry.interrupted:
            came = f"{entry.name} is interrupted, {entry.arrived / 1e6:.0f} MB of it lie here"
            print(f"{came}: the same `recall models add` goes on, `recall models remove {entry.name}` deletes them")
    return 0


def _row(entry: "Entry") -> tuple[str, ...]:
    missing = "interrupted" if entry.interrupted else "not installed"
    open_terms = " (to be accepted)" if entry.terms and not entry.installed else ""
    return (
        "*" if entry.in_use else "",
        entry.name,
        ", ".join(entry.installed) or missing,
        f"{entry.bytes / 1e6:.0f}" if entry.bytes else "?",
        "measured" if entry.gate_measured else "-",
        f"{entry.speed.query_ms_p50:.0f} ms" if entry.speed else "-",
        f"{entry.speed.chunks_per_second:.1f}" if entry.speed else "-",
        _cut(entry.licence, LONGEST_LICENCE - len(open_terms)) + open_terms,
        entry.languages,
    )


def _cut(text: str, columns: int) -> str:
    return text if len(text) <= columns else text[: columns - 1].rstrip() + ELLIPSIS


def _add(arguments: argparse.Namespace, paths: StatePaths) -> int:
    from recall.models.install import install, plan_install

    plan = plan_install(arguments.name, arguments.source, paths, arguments.variant)
    print(describe(plan))
    if plan.is_done:
        print(f"{plan.name} is installed, and all of its files are whole")
        return 0
    if plan.terms and not arguments.accept_terms:
        require(f"Have you read {plan.terms}, and do you accept these terms?", "--accept-terms")
    if not arguments.yes:
        require(f"Fetch {plan.fetch_bytes / 1e6:.0f} MB from {plan.words}?", "--yes")
    try:
        with ByteLine() as line:
            manifest = install(plan, line.show)
    except KeyboardInterrupt:
        print(f"recall: what has come stays; `{plan.again}` goes on from there", file=sys.stderr)
        raise
    print(f"installed {plan.name} ({', '.join(plan.variants)}) in {plan.models / plan.name}")
    if not arguments.no_measure:
        print(f"measured here: {measured(loaded(manifest, paths), paths).words()}")
    if plan.name != _in_use(paths):
        print(f"`recall models use {plan.name}` takes it into use")
    return 0


def describe(plan: "Plan") -> str:
    """What adding the model means: for `add`, and for setup before it asks."""
    lines = [
        f"{plan.name}: {', '.join(plan.variants)}, {plan.total_bytes / 1e6:.0f} MB, "
        f"{one_line(plan.manifest.languages)}",
        f"licence: {plan.licence}" + (f"; its terms, which you have to accept: {plan.terms}" if plan.terms else ""),
        f"source: {plan.words}",
        f"to fetch: {plan.fetch_bytes / 1e6:.0f} MB; free on the disk: {plan.free_bytes / 1e6:.0f} MB",
    ]
    return "\n".join(lines)


def loaded(manifest: "Manifest", paths: StatePaths) -> "Embedder":
    """The model as the daemon would load it, tried out. Raises ModelError."""
    from recall.models import trial

    return trial.loaded(manifest, load_config(Path(paths.config))["device"], Path(paths.home))


def measured(embedder: "Embedder", paths: StatePaths) -> "Speed":
    """Measure a model, and keep what was found where the disk takes it."""
    from recall.models.speeds import measure, save_speed

    speed = measure(embedder)
    try:
        save_speed(paths, embedder.identity, speed)
    except RecallError as error:
        print(f"recall: the measured speed is not kept: {error}", file=sys.stderr)
    return speed


def _use(arguments: argparse.Namespace, paths: StatePaths) -> int:
    from recall.embed.catalog import find_model, known_models
    from recall.models.cost import words_of_cost
    from recall.models.speeds import load_speeds
    from recall.setup.configfile import ensure_config, set_value

    known = dict(known_models(Path(paths.models))).get(arguments.name)
    if known is not None and not isinstance(known, ModelError) and not known.installed:
        raise ModelError(f"{arguments.name} is not on this machine; `recall models add {arguments.name}` brings it.")
    manifest = find_model(arguments.name, Path(paths.models))
    before = _in_use(paths)
    if manifest.name == before:
        print(f"{manifest.name} is in use already")
        return 0
    embedder = loaded(manifest, paths)  # whatever happened to its files, a model that cannot run is not taken
    speed = load_speeds(paths).get(manifest.identity)
    if speed is None and not arguments.no_measure:
        speed = measured(embedder, paths)
        print(f"measured here: {speed.words()}")
    print(words_of_cost(manifest, _answering(paths) or before, paths, speed))
    home = Path(paths.home)
    if not Path(paths.config).exists():
        ensure_config(home, Path(os.environ.get("CLAUDE_CONFIG_DIR") or "~/.claude").expanduser())
    set_value(home, "model", manifest.name)
    _answering(paths)  # a daemon that is asked sees the change at once
    print(f"set model to {manifest.name} in {paths.config}; a running daemon follows by itself, `recall index` waits")
    return 0


def _remove(arguments: argparse.Namespace, paths: StatePaths) -> int:
    from recall.embed.manifest import BUNDLED
    from recall.models.remove import check_removable, remove

    in_use = _in_use(paths)
    folders = check_removable(arguments.name, in_use, paths)
    if arguments.name != BUNDLED and _answering(paths) == arguments.name:
        raise ModelError(
            f"{arguments.name} still answers, until the index is complete under {in_use}; `recall index` waits for that"
        )
    if not arguments.yes:
        places = " and ".join([*(str(folder) for folder in folders), f"all vectors of {arguments.name} in the index"])
        require(f"Delete {places}?", "--yes")
    gone = remove(arguments.name, in_use, paths)
    print(f"removed {arguments.name}: {gone.bytes / 1e6:.0f} MB of files and {gone.vectors} vectors of the index")
    for note in gone.notes:
        print(f"recall: {note}", file=sys.stderr)
    if arguments.name == BUNDLED:
        print(f"the {BUNDLED} that comes with recall stays, and counts from now on")
    return 0


def _verify(arguments: argparse.Namespace, paths: StatePaths) -> int:
    from recall.models.listing import verify

    code = 0
    for name, wrong in verify(paths, arguments.name):
        print(f"{name}: {wrong or 'ok'}", flush=True)
        code = 1 if wrong else code
    return code


def _answering(paths: StatePaths) -> str | None:
    """The model that a running daemon answers with, None where none runs."""
    from recall.cli.client import call
    from recall.core.errors import DaemonError

    try:
        status = call(paths, "status", timeout=2.0)
    except DaemonError:
        return None
    return str(status["model"]) if status and status["model"] else None


def _in_use(paths: StatePaths) -> str:
    return str(load_config(Path(paths.config))["model"])
