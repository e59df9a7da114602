"""The work of one run: look over the sources, read what changed, and write it once it has its vectors."""

import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from recall.core.errors import MaskingError, RecallError, SourceError
from recall.core.types import TEAM, FoundFile, Project, Skipped
from recall.index.embedding import Embedding, Stopped
from recall.index.plan import Plan, plan, seconds_left, trusted_mtime
from recall.index.reading import Reading, prepare
from recall.index.sources import GrowingSource, Source
from recall.sources.conversations import Ending, Step
from recall.sources.memory import Scan
from recall.store.entries import Entry, Finish, Outcome
from recall.store.writer import Writer

#: Chunks that are embedded together: enough to fill a batch of a GPU, and to sort them by length.
WINDOW = 64


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is: files that had to be read, and chunks that had to be embedded, which is what takes the time.

    `chunks_total` is known once every file has been read; `seconds_left` is None before.
    """

    done: int
    total: int
    chunks_done: int
    chunks_total: int
    seconds: float
    seconds_left: float | None


@dataclass(frozen=True, slots=True)
class Report:
    """What a run did, in files; `complete` is False when it was stopped. `skipped` is in order of paths."""

    scanned: int
    added: int
    changed: int
    removed: int
    unchanged: int
    chunks_embedded: int
    skipped: list[Skipped]
    seconds: float
    complete: bool


@dataclass(frozen=True, slots=True)
class _Task:
    """A file that has to be read. `mtime_ns` is what may be stored as its time."""

    file: FoundFile
    source: Source | GrowingSource
    projects: Mapping[str, Project]
    mtime_ns: int | None
    is_new: bool


@dataclass(slots=True)
class _Open:
    """A file in work: what came of its steps so far. `failed`: a record could not be embedded."""

    task: _Task
    outcomes: set[Outcome] = field(default_factory=set)
    begun: bool = False
    failed: bool = False


@dataclass(frozen=True, slots=True)
class _Part:
    """One step of reading an open file, ready to be written once its chunks have vectors."""

    open: _Open
    step: Step
    state: str | None
    reading: Reading | None


class Work:
    """The steps of one run and its counts."""

    def __init__(
        self,
        writer: Writer,
        embedding: Embedding,
        progress: Callable[[Progress], None],
    ) -> None:
        self._writer = writer
        self._embedding = embedding
        self._progress = progress
        self._started = time.monotonic()
        self._skipped: dict[str, str] = {}
        self._taken: set[str] = set()  # paths that a source has offered
        self._outcomes = {"added": 0, "changed": 0, "unchanged": 0}
        self._opened: list[_Open] = []
        self._scanned = self._removed = 0

    def over(self, sources: Sequence[Source | GrowingSource]) -> Report:
        # All that is gone goes first: a file that changed its kind is then new under the other one.
        looks = [self._look_over(source) for source in sources]
        tasks = [task for look in looks for task in self._enlist(*look)]
        try:
            self._work(tasks)
            complete = True
        except Stopped:
            complete = False
        for opened in self._opened:
            self._count(opened)
        skipped = [Skipped(path, reason) for path, reason in sorted(self._skipped.items())]
        if complete:
            self._writer.set_skipped(skipped)
            self._writer.tidy()
        return Report(
            scanned=self._scanned,
            added=self._outcomes["added"],
            changed=self._outcomes["changed"],
            removed=self._removed,
            unchanged=self._outcomes["unchanged"],
            chunks_embedded=self._embedding.count,
            skipped=skipped,
            seconds=time.monotonic() - self._started,
            complete=complete,
        )

    def _look_over(self, source: Source | GrowingSource) -> tuple[Source | GrowingSource, Scan, Plan, int]:
        """Scan one source and take out what is gone. A file that two sources offer is the first one's."""
        scanned_ns = time.time_ns()
        scan = source.scan()
        self._skipped.update((item.path, item.reason) for item in scan.skipped)
        files = [file for file in scan.files if file.path not in self._taken]
        self._taken.update(file.path for file in files)
        stored = {
            path: known
            for path, known in self._writer.stored(source.kind).items()
            if path.startswith(TEAM) == (source.embedded is not None)
        }
        decided = plan(stored, files, [item.path for item in scan.skipped])
        self._removed += self._writer.remove(
            decided.removed, now=scanned_ns // 1_000_000_000, keep_days=source.keep_days
        )
        self._scanned += len(files)
        self._outcomes["unchanged"] += len(decided.unchanged)
        return source, scan, decided, scanned_ns

    def _enlist(self, source: Source | GrowingSource, scan: Scan, decided: Plan, scanned_ns: int) -> list[_Task]:
        """Note what is new, and return what has to be read, the latest changes first."""
        # Records that belong to all projects stand under a key that no project has.
        shared = {file.project: Project(file.project, file.project) for file in scan.files}
        projects = {**shared, **scan.projects.by_key}
        self._writer.enlist(decided.new, projects)
        new = {file.path for file in decided.new}
        return [
            _Task(file, source, projects, trusted_mtime(file.mtime_ns, scanned_ns), file.path in new)
            for file in sorted(decided.new + decided.maybe_changed, key=lambda file: -file.mtime_ns)
        ]

    def _work(self, tasks: Sequence[_Task]) -> None:
        """Read all files and write what needs no embedding, then embed the others.

        All are read first, so that the remaining time can be told from the chunks there are. Those with something to
        embed are read again when it is their turn: their texts together could be larger than the memory.
        """
        waiting: list[_Task] = []
        lacking: set[bytes] = set()
        for task in tasks:
            # A file of one record is not read again where nothing of it is missing.
            read = list(self._parts(task)) if isinstance(task.source, Source) else None
            parts = self._parts(task) if read is None else read
            missing = {digest for part in parts for digest in self._missing(part)}
            if missing:
                waiting.append(task)
                lacking |= missing
            else:
                for part in self._parts(task) if read is None else read:
                    self._write(part, {})
        done, total = len(tasks) - len(waiting), len(tasks)
        began, before = time.monotonic(), self._embedding.count

        def tell() -> None:
            now, chunks = time.monotonic(), min(self._embedding.count - before, len(lacking))
            left = seconds_left(now - began, chunks, len(lacking))
            self._progress(Progress(done, total, chunks, len(lacking), now - self._started, left))

        tell()
        window: list[_Part] = []
        texts: dict[bytes, str] = {}
        for task in waiting:
            for part in self._parts(task):
                window.append(part)
                texts |= {digest: part.reading.texts[digest] for digest in self._missing(part) if part.reading}
                if len(texts) >= WINDOW:
                    self._embed(window, texts, tell)
                    window, texts = [], {}
            done += 1
        self._embed(window, texts, tell)
        tell()

    def _parts(self, task: _Task) -> Iterator[_Part]:
        """The steps of reading a file and what is to be embedded in each; what fails is a line under `skipped`."""
        path, opened = task.file.path, _Open(task)
        try:
            for step in task.source.follow(task.file, self._writer.state(path)):
                if step.document is None and step.ending is None:
                    self._embedding.pause()  # much was read for nothing, and there may be more
                self._embedding.check()
                reading = None
                if step.document is not None:
                    try:
                        reading = prepare(step.document)
                    except MaskingError as error:
                        self._give_up(task, str(error))
                if reading is not None and task.source.embedded:
                    load = partial(task.source.embedded, path, self._embedding.identity)
                    self._embedding.take_over(load, reading.needed)
                yield _Part(opened, step, step.state(), reading)
        except SourceError as error:
            self._give_up(task, str(error))
        except (RecallError, Stopped):
            raise
        except Exception as error:  # whatever one file does to its reader must not hide the others
            self._give_up(task, f"cannot be read ({type(error).__name__})")

    def _missing(self, part: _Part) -> list[bytes]:
        return self._writer.missing(part.reading.needed) if part.reading else []

    def _embed(self, window: Sequence[_Part], texts: Mapping[bytes, str], embedded: Callable[[], None]) -> None:
        """Embed the texts of a window and write its parts in order, each as soon as it has its vectors."""
        waiting = deque(window)

        def write_on() -> None:
            while waiting and not self._missing(waiting[0]):
                self._write(waiting.popleft(), {})
            embedded()

        failed: Mapping[bytes, str] = {}
        try:
            failed = self._embedding.store(texts, write_on)
        except Stopped:
            for part in waiting:
                self._write(part, {})
            raise
        for part in waiting:
            self._write(part, failed)

    def _write(self, part: _Part, failed: Mapping[bytes, str]) -> None:
        """Write one step of a file, if its chunks have vectors; `failed` says why some have none.

        Behind a record that fails nothing is remembered of what a growing file holds, so that the next run meets it
        again.
        """
        opened, step, reading = part.open, part.step, part.reading
        task = opened.task
        if not opened.begun:
            opened.begun = True
            self._opened.append(opened)
            if step.anew:
                self._writer.clear(task.file.path)
        lacking = self._missing(part)
        self._skipped.update((task.file.path, failed[digest]) for digest in lacking if digest in failed)
        entry = None
        if reading is not None and not lacking:
            project = task.projects.get(reading.document.project) or _unknown(reading.document.project)
            entry = Entry(reading.document, project, reading.digests, reading.masked, reading.headline, reading.terms)
        opened.failed = opened.failed or (step.document is not None and entry is None)
        if opened.failed and isinstance(task.source, Source):
            return
        opened.outcomes.add(
            self._writer.put(
                task.file,
                entry,
                state=None if opened.failed else part.state,
                finish=_finish(task, step.ending, None if opened.failed else task.mtime_ns) if step.ending else None,
            )
        )

    def _count(self, opened: _Open) -> None:
        """Count what became of a file."""
        outcomes = opened.outcomes
        if outcomes == {"added"} or (opened.task.is_new and "added" in outcomes):
            self._outcomes["added"] += 1
        elif outcomes:
            self._outcomes["unchanged" if outcomes == {"unchanged"} else "changed"] += 1

    def _give_up(self, task: _Task, reason: str) -> None:
        """Leave a file out. What is known of a growing one stays: only its new records are missing."""
        self._skipped[task.file.path] = reason
        if isinstance(task.source, Source):
            self._writer.clear(task.file.path)


def _finish(task: _Task, ending: Ending, mtime_ns: int | None) -> Finish:
    """What is noted of a file whose last step this is."""
    return Finish(
        project=task.projects[task.file.project],
        mtime_ns=mtime_ns,
        title=ending.title,
        left_out=ending.left_out,
        damaged_lines=ending.damaged_lines,
        masked=ending.masked,
    )


def _unknown(key: str) -> Project:
    """A project that only a session knows, by the folder that it ran in."""
    return Project(key, Path(key).name or key)
