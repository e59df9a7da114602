"""The index: whole, of a format that this program knows, up to date, and complete under the model that is wanted."""

import contextlib
import os
import re
import sqlite3
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from recall.core.errors import RecallError, StoreDamaged, StoreError, StoreTooNew
from recall.daemon.journal import AHEAD_SECONDS, local_time
from recall.doctor.case import STATUS_SECONDS, Case, Finding
from recall.doctor.journals import ANSWERED, LATE, outcomes
from recall.doctor.model import is_usable
from recall.embed.catalog import find_model
from recall.sources.memory import scan
from recall.store.connection import open_reader
from recall.store.guard import translated
from recall.store.reader import Reader
from recall.store.repair import damaged_files, set_aside
from recall.text.clean import one_line
from recall.wire.lock import HeldLock
from recall.wire.paths import StatePaths
from recall.wire.spawn import own_command
from recall.wire.transport import Refused, ask

#: Messages that were answered so long (seconds) after the last look at the notes show that looking fails.
DAY_SECONDS = 86_400.0
#: An index that nobody has looked at for so many days is said to be old.
OLD_DAYS = 30
#: Seconds that a run of `recall index` gets: a first one of thousands of notes takes some minutes.
INDEX_SECONDS = 3600.0
_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
#: Reasons for skipping that are shown.
REASONS = 3


def index(case: Case) -> Iterator[Finding]:
    """Whether the file is there, whole, and of a format that this program knows."""
    path = Path(case.paths.index)
    if not os.path.lexists(path):
        fix = partial(bring_up_to_date, case)
        yield Finding("index", "problem", "missing", "nothing has been indexed yet", "run `recall index`", fix)
    elif not path.is_file():
        found = f"{path}: expected a file, found something else"
        yield Finding("index", "problem", "no-file", found, "move it away, then run `recall index`")
    else:
        yield _file(case, path)
    for aside in damaged_files(path):
        found = f"a damaged index was set aside as {aside}"
        yield Finding("index", "note", "set-aside", found, "delete it when you like; it holds names of notes")


def _file(case: Case, path: Path) -> Finding:
    facts: dict[str, int | float | str] = {"mb": path.stat().st_size // 10**6}
    if not path.stat().st_size:
        fix = partial(bring_up_to_date, case)
        return Finding("index", "problem", "missing", f"{path} is empty", "run `recall index`", fix, facts)
    try:
        checked = quick_check(path)
    except StoreTooNew as error:
        return Finding("index", "problem", "too-new", str(error), "update recall", None, facts)
    except StoreDamaged:
        fix = partial(rebuild, case)
        advice = "`recall index` sets it aside and builds a new one"
        return Finding("index", "problem", "damaged", f"{path} is damaged", advice, fix, facts)
    except StoreError as error:
        return Finding("index", "problem", "unusable", str(error), "mend that, then try again", None, facts)
    if not checked:
        fix = partial(bring_up_to_date, case)
        found = "the index has an older format, which the next run brings up to date"
        return Finding("index", "note", "older-format", found, "run `recall index`", fix, facts)
    return Finding("index", "ok", "ok", f"whole, {path.stat().st_size / 1e6:.1f} MB", facts=facts)


def quick_check(path: Path) -> bool:
    """Read every page; False for an older format, which is not looked at. Raises StoreError."""
    connection = open_reader(path)
    if connection is None:
        return False
    with translated(path), contextlib.closing(connection):
        (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if verdict != "ok":
        raise StoreDamaged(f"the index {path} is damaged")
    return True


@dataclass(frozen=True, slots=True)
class Content:
    """What the index holds: `documents`, files that are `pending`, texts (of `texts`) that are `waiting` for a vector
    of the model that is wanted; and how many `notes` lie in the Claude folders. Times in seconds since 1970, 0 for
    never: when the notes were `looked` over last, and when a message was `asked` last."""

    documents: int
    pending: int
    waiting: int
    texts: int
    notes: int
    looked: float
    asked: float


def records(case: Case) -> Iterator[Finding]:
    """Whether the index holds what the person has written."""
    path = Path(case.paths.index)
    try:
        if not path.is_file() or not quick_check(path):
            raise StoreError("not there")
        content = _content(case, path)
    except StoreError:
        yield Finding("records", "ok", "none", "no index to look into")
        return
    says = case.serve.says or {}
    at_work = says.get("state") == "indexing" or bool(says.get("coming_model")) or _is_held(case.paths.index_lock)
    for finding in judge_content(content, case.now, at_work=at_work):
        if finding.code in ("empty", "pending", "waiting", "unattended", "old"):
            yield Finding(
                finding.name, finding.state, finding.code, finding.found, "run `recall index`",
                partial(bring_up_to_date, case), finding.facts,
            )  # fmt: skip
        else:
            yield finding


def _content(case: Case, path: Path) -> Content:
    # What waits for a model that cannot be used is no fault of the index.
    identity = find_model(case.config["model"], Path(case.paths.models)).identity if is_usable(case) else ""
    reader = Reader(path)
    try:
        summary = reader.summary(identity)
        waiting, texts = reader.missing_vectors(identity) if identity else (0, 0)
    finally:
        reader.close()
    connection = open_reader(path)
    documents = 0
    if connection is not None:
        with translated(path), contextlib.closing(connection):
            (documents,) = connection.execute("SELECT count(*) FROM document").fetchone()
    latest = local_time(case.now + AHEAD_SECONDS)
    last = max((one.time for one in outcomes(case) if one.code in (ANSWERED, LATE) and one.time <= latest), default="")
    lock = Path(case.paths.index_lock)
    return Content(
        documents=int(documents),
        pending=summary.pending if identity else 0,
        waiting=waiting,
        texts=texts,
        notes=len(scan(case.claude).files),
        looked=min(lock.stat().st_mtime, case.now) if lock.exists() else 0.0,
        asked=_seconds(last),
    )


def judge_content(content: Content, now: float, *, at_work: bool) -> list[Finding]:
    """The findings about what the index holds; `at_work`: a run is under way. A pure decision."""
    facts: dict[str, int | float | str] = {
        "documents": content.documents, "pending": content.pending, "waiting": content.waiting,
        "texts": content.texts, "notes": content.notes,
    }  # fmt: skip
    age = (now - content.looked) / DAY_SECONDS
    figures = f"{content.documents} records, looked over {_ago(now - content.looked)}"
    if at_work:
        return [Finding("records", "ok", "indexing", f"{figures}; it is being brought up to date", facts=facts)]
    if not content.documents and content.notes:
        words = f"the index is empty, although there are {content.notes} notes"
        return [Finding("records", "problem", "empty", words, facts=facts)]
    if content.asked - content.looked > DAY_SECONDS:
        days = (content.asked - content.looked) / DAY_SECONDS
        words = f"messages were answered up to {days:.0f} days after the notes were looked over last"
        return [Finding("records", "problem", "unattended", words, facts=facts)]
    found = []
    if content.waiting and content.waiting < content.texts:
        words = f"{content.waiting} of {content.texts} texts wait for vectors of the model that is wanted"
        found.append(Finding("records", "problem", "waiting", words, facts=facts))
    elif content.waiting:
        words = "the whole index is of another model than the one that is wanted"
        found.append(Finding("records", "problem", "waiting", words, facts=facts))
    elif content.pending:
        words = f"{content.pending} files wait to be read"
        found.append(Finding("records", "note", "pending", words, facts=facts))
    if age > OLD_DAYS:
        found.append(Finding("records", "note", "old", figures, facts=facts))
    return found or [Finding("records", "ok", "ok", figures, facts=facts)]


def _ago(seconds: float) -> str:
    for size, unit in ((DAY_SECONDS, "days"), (3600.0, "hours"), (60.0, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit} ago"
    return "just now"


def _seconds(local: str) -> float:
    """Seconds since 1970 of a journal's time, 0 for none."""
    with contextlib.suppress(ValueError, OverflowError):
        return time.mktime(time.strptime(local, "%Y-%m-%dT%H:%M:%S"))
    return 0.0


def skipped(case: Case) -> Iterator[Finding]:
    """What is not in the index, and the most frequent reasons."""
    reader = Reader(Path(case.paths.index))
    try:
        summary = reader.summary("") if Path(case.paths.index).is_file() else None
    except (StoreError, sqlite3.Error):
        summary = None  # the check of the index says so
    finally:
        reader.close()
    if summary is None or not summary.skipped:
        yield Finding("skipped", "ok", "ok", "every file could be read")
        return
    reasons = Counter(one_line(item.reason) for item in summary.skipped).most_common(REASONS)
    found = f"{len(summary.skipped)} files are left out: " + "; ".join(f"{reason} ({n})" for reason, n in reasons)
    yield Finding(
        "skipped", "note", "skipped", found, "`recall status` lists them", None, {"files": len(summary.skipped)}
    )


def rebuild(case: Case) -> str:
    """Set a damaged index aside and build a new one. Raises RecallError."""
    path = Path(case.paths.index)
    lock = HeldLock.wait(case.paths.index_lock, 10.0)
    if lock is None:
        raise RecallError("a run is under way; try again when it has ended")
    with lock:
        try:
            aside = f"set the damaged one aside as {set_aside(path)}" if not _is_whole(path) else "it is whole by now"
        except FileNotFoundError:
            aside = "it is gone"
    return f"{aside}; {bring_up_to_date(case)}"


def _answers(paths: StatePaths) -> bool:
    try:
        ask(paths, "status", b"{}", timeout=STATUS_SECONDS)
    except (OSError, Refused):
        return False
    return True


def _is_held(lock: str) -> bool:
    """Whether somebody has a lock; not where it is no file, which is told by itself."""
    try:
        return HeldLock.is_held(lock)
    except OSError:
        return False


def _is_whole(path: Path) -> bool:
    try:
        return quick_check(path)
    except StoreDamaged:
        return False


def bring_up_to_date(case: Case) -> str:
    """Run `recall index`, which takes its time. Raises RecallError."""
    if _is_held(case.paths.daemon_lock) and not _answers(case.paths):  # it would be asked to do it, and waited for
        raise RecallError("the daemon that should do it does not answer; end it first")
    words = [*own_command(), "index", "--home", case.paths.home]
    try:
        done = subprocess.run(
            words, stdin=subprocess.DEVNULL, capture_output=True, timeout=INDEX_SECONDS, check=False,
            env=dict(case.environment),
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise RecallError(f"`recall index` did not end within {INDEX_SECONDS / 60:.0f} minutes") from None
    if done.returncode != 0:
        raise RecallError(last_word(done.stderr.decode("utf-8", "replace")) or f"exit code {done.returncode}")
    said = done.stdout.decode("utf-8", "replace").splitlines()
    return f"indexed: {said[0]}" if said else "indexed"


def last_word(printed: str) -> str:
    """What a command of ours said at its end, as one line; libraries print above it, in colours."""
    lines = [line for line in map(one_line, _COLOUR.sub("", printed).splitlines()) if line]
    own = [line.removeprefix("recall: ") for line in lines if line.startswith("recall: ")]
    return next(reversed(own or lines), "")
