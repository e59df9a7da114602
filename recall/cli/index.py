"""`recall index`: brings the index up to date, through the daemon where one runs, else in this process."""

import argparse
import json
import os
import threading
import time
from concurrent.futures import Future, wait
from dataclasses import asdict
from pathlib import Path
from typing import Any

from recall.cli.client import call, mute
from recall.cli.progress import ProgressLine
from recall.core.errors import DaemonError, DaemonMute, DaemonUnreachable, RecallError, StoreBusy, system_error
from recall.core.log import append, place_of
from recall.wire.lock import HeldLock
from recall.wire.paths import StatePaths, make_private_folder, state_home

HELP = "bring the index up to date (for cron too)"

#: Seconds between two looks at a daemon's progress.
POLL_SECONDS = 0.5
#: A full index of thousands of notes takes minutes; a daemon that says nothing for a day is gone.
INDEX_SECONDS = 86_400.0
#: A daemon tells how far it is from memory, also while it works: one that tells nothing for so many seconds hangs.
SILENT_SECONDS = 15.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    ways = parser.add_mutually_exclusive_group()
    ways.add_argument("--json", action="store_true", help="print one JSON object")
    ways.add_argument(
        "--log", action="store_true", help="print nothing: add one line, done or failed, to index.log (for schedules)"
    )


def run(arguments: argparse.Namespace) -> int:
    paths = StatePaths(state_home(arguments.home))
    if arguments.log:
        return _logged(paths)
    report = index(paths)
    if arguments.json:
        print(json.dumps(report, ensure_ascii=False, indent=1))
    else:
        print(summary(report))
    return 0


def index(paths: StatePaths, *, silent: bool = False) -> dict[str, Any]:
    """Run it and return the report (DESIGN.md, section 5), or `{"already_running": True}`. `silent`: no progress."""
    with ProgressLine(silent=silent) as line:
        if HeldLock.is_held(paths.daemon_lock):
            try:
                return _by_daemon(paths, line)
            except DaemonUnreachable:
                pass  # it was just ending
        return _here(paths, line)


def summary(report: dict[str, Any]) -> str:
    """The report in words."""
    if report.get("already_running"):
        return "another run is under way; it does the same work"
    counts = ", ".join(f"{report[name]} {name}" for name in ("added", "changed", "removed", "unchanged"))
    text = (
        f"{report['scanned']} files: {counts}; {report['chunks_embedded']} chunks embedded, {report['seconds']:.1f} s"
    )
    if not report["complete"]:
        text += "\nstopped before the end; the next run goes on from here"
    if report["skipped"]:
        text += f"\n{len(report['skipped'])} files skipped; `recall status` lists them with the reasons"
    return text


def _logged(paths: StatePaths) -> int:
    """Run it and write what became of it into index.log. What is printed for all that is what cannot stand there."""
    if not Path(paths.home).is_dir():  # to make it anew would bring back what somebody deleted
        raise RecallError(
            f"expected the state folder {paths.home}, found none; `recall schedule --remove --home {paths.home}` "
            "ends these runs, `recall setup` makes it again"
        )
    code = 1
    try:
        said = f"done: {summary(index(paths, silent=True))}"
        code = 0
    except RecallError as error:
        said, code = f"failed: {error}", error.exit_code
    except OSError as error:
        said = f"failed: {system_error(error)}"
    except Exception as error:  # a traceback would be mailed at every run, and may quote a note
        said = f"failed: {type(error).__name__} at {place_of(error)}"
    line = f"{time.strftime('%Y-%m-%dT%H:%M:%S')} {'; '.join(said.splitlines())}"
    append(Path(paths.index_log), line.encode("utf-8", "surrogateescape"))
    return code


def _by_daemon(paths: StatePaths, line: ProgressLine) -> dict[str, Any]:
    """Have the daemon do it, and watch how far it is. Raises DaemonMute when it says nothing for SILENT_SECONDS."""
    answer: Future[dict[str, Any]] = Future()

    def ask() -> None:
        try:
            answer.set_result(call(paths, "index", timeout=INDEX_SECONDS))
        except BaseException as error:
            answer.set_exception(error)

    threading.Thread(target=ask, daemon=True).start()  # one that waits for a daemon that hangs must not keep us here
    heard = time.monotonic()
    while not wait([answer], POLL_SECONDS).done:
        try:
            progress = (call(paths, "status", timeout=2.0) or {}).get("progress")
        except DaemonMute:
            if time.monotonic() - heard > SILENT_SECONDS:
                raise DaemonMute(mute(paths, SILENT_SECONDS)) from None
            continue
        except DaemonError:
            continue
        heard = time.monotonic()
        if progress:
            line.show(progress["chunks_done"], progress["chunks_total"], progress["seconds_left"])
    return answer.result()


def _here(paths: StatePaths, line: ProgressLine) -> dict[str, Any]:
    """Do it in this process. Imports of seconds' weight happen here, not when the daemon does the work."""
    from recall.core.config import load_config
    from recall.embed.catalog import find_model
    from recall.embed.embedder import Embedder
    from recall.index.pipeline import run as run_pipeline
    from recall.index.sources import configured_sources, team_sources
    from recall.late.late import Late
    from recall.sources.projects import discover

    make_private_folder(paths.home)
    config = load_config(Path(paths.config))
    if HeldLock.is_held(paths.index_lock):
        return {"already_running": True}  # before a model is loaded for nothing
    folders = config.claude_folders(os.environ)
    embedder = Embedder(
        find_model(config["model"], Path(paths.models)), device=config["device"], state=Path(paths.home)
    )
    try:
        report = run_pipeline(
            paths,
            [*configured_sources(folders, discover(folders), config), *team_sources(paths)],
            embedder,
            Late(embedder, Path(paths.everyday)),
            progress=lambda p: line.show(p.chunks_done, p.chunks_total, p.seconds_left),
        )
    except StoreBusy:
        return {"already_running": True}
    return asdict(report)
