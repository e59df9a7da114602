"""One run that brings the index up to date: scan, compare, read, mask, cut, embed, write.

Each document is written as soon as its chunks are embedded, in a transaction of its own. An end at any moment, even
by kill -9, loses the work on one document at most: the next run compares again and goes on.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt

from recall.core.errors import MaskingError, RecallError, SourceError, StoreBusy, StoreDamaged, StoreError
from recall.core.types import FoundFile, Project, Skipped
from recall.index.plan import Plan, plan, seconds_left, trusted_mtime
from recall.index.reading import RECIPE, Reading, prepare
from recall.index.sources import GrowingSource, Source
from recall.sources.conversations import Ending, Step
from recall.sources.memory import Scan
from recall.store.entries import Entry, Finish, Outcome, Vector
from recall.store.repair import set_aside
from recall.store.writer import Writer
from recall.wire.lock import HeldLock
from recall.wire.paths import StatePaths


class PassageEmbedder(Protocol):
    """What a run needs of a model: its name, the length of its vectors, and float32 [texts, dimension] of length 1."""

    @property
    def identity(self) -> str: ...
    @property
    def dimension(self) -> int: ...
    def embed_passages(self, texts: Sequence[str]) -> npt.NDArray[np.float32]: ...


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


def run(
    paths: StatePaths,
    sources: Sequence[Source | GrowingSource],
    embedder: PassageEmbedder,
    *,
    progress: Callable[[Progress], None] = lambda _: None,
    pause: Callable[[], None] = lambda: None,
    stop: Callable[[], bool] = lambda: False,
) -> Report:
    """Bring the index in the state folder up to date. A damaged one is set aside and built anew.

    `pause` is called before each chunk (40 to 100 ms of work) and within long files, and may block, so that a question
    goes first; when `stop` says so, the run ends after the chunk in hand. Raises StoreBusy when another run is under
    way, other StoreErrors when the file or the disk fails (what was written stays good), and ModelError as the embedder
    raises it. Everything else becomes a line in `skipped`.
    """
    path = Path(paths.index)
    try:
        lock = HeldLock.acquire(paths.index_lock)
    except OSError as error:
        raise StoreError(
            f"the state folder {paths.home} cannot be written ({error.strerror}); check that it exists and is yours"
        ) from error
    if lock is None:
        raise StoreBusy("another recall is bringing the index up to date at this moment; there is nothing left to do")

    def attempt() -> Report:
        with Writer(path, embedder.identity, embedder.dimension) as writer:
            writer.check()
            writer.apply_recipe(RECIPE)
            return _Run(writer, embedder, progress, pause, stop).over(sources)

    with lock:
        try:
            return attempt()
        except StoreDamaged:
            set_aside(path)
        return attempt()


@dataclass(frozen=True, slots=True)
class _Task:
    """A file that has to be read. `mtime_ns` is what may be stored as its time."""

    file: FoundFile
    source: Source | GrowingSource
    projects: Mapping[str, Project]
    mtime_ns: int | None
    is_new: bool


class _Stopped(Exception):
    """The run is to end."""


class _Run:
    """The counts of one run and its steps."""

    def __init__(
        self,
        writer: Writer,
        embedder: PassageEmbedder,
        progress: Callable[[Progress], None],
        pause: Callable[[], None],
        stop: Callable[[], bool],
    ) -> None:
        self._writer = writer
        self._embedder = embedder
        self._progress = progress
        self._pause = pause
        self._stop = stop
        self._started = time.monotonic()
        self._skipped: dict[str, str] = {}
        self._taken: set[str] = set()  # paths that a source has offered
        self._outcomes = {"added": 0, "changed": 0, "unchanged": 0}
        self._scanned = self._removed = self._embedded = 0

    def over(self, sources: Sequence[Source | GrowingSource]) -> Report:
        # All that is gone goes first: a file that changed its kind is then new under the other one.
        looks = [self._look_over(source) for source in sources]
        tasks = [task for look in looks for task in self._enlist(*look)]
        try:
            self._work(tasks)
            complete = True
        except _Stopped:
            complete = False
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
            chunks_embedded=self._embedded,
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
        decided = plan(self._writer.stored(source.kind), files, [item.path for item in scan.skipped])
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
        waiting: list[tuple[_Task, int]] = []
        counted: set[bytes] = set()
        for task in tasks:
            missing: set[bytes] = set()
            for _, reading in self._steps(task):
                missing.update(self._writer.missing(reading.digests) if reading else ())
            if missing:
                waiting.append((task, len(missing - counted)))
                counted |= missing
            else:
                self._write(task, lambda: None)
        began, chunks_done, done = time.monotonic(), 0, len(tasks) - len(waiting)

        def tell(chunks: int) -> None:
            now = time.monotonic()
            left = seconds_left(now - began, chunks, len(counted))
            self._progress(Progress(done, len(tasks), chunks, len(counted), now - self._started, left))

        tell(0)
        for task, chunks in waiting:
            before = self._embedded

            def one_more(done: int = chunks_done, chunks: int = chunks, before: int = before) -> None:
                tell(done + min(self._embedded - before, chunks))

            self._write(task, one_more)
            done += 1
            chunks_done += chunks
            tell(chunks_done)

    def _steps(self, task: _Task) -> Iterator[tuple[Step, Reading | None]]:
        """The steps of reading a file and what is to be embedded in each; what fails is a line under `skipped`."""
        path = task.file.path
        try:
            for step in task.source.follow(task.file, self._writer.state(path)):
                if step.document is None and step.ending is None:
                    self._pause()  # much was read for nothing, and there may be more
                if self._stop():
                    raise _Stopped
                reading = None
                if step.document is not None:
                    try:
                        reading = prepare(step.document)
                    except MaskingError as error:
                        self._give_up(task, str(error))
                yield step, reading
        except SourceError as error:
            self._give_up(task, str(error))
        except (RecallError, _Stopped):
            raise
        except Exception as error:  # whatever one file does to its reader must not hide the others
            self._give_up(task, f"cannot be read ({type(error).__name__})")

    def _write(self, task: _Task, embedded: Callable[[], None]) -> None:
        """Read a file step by step and write what came of each. `embedded` is called after each chunk.

        Behind a record that fails nothing is remembered of what a growing file holds, so that the next run meets it
        again.
        """
        outcomes: set[Outcome] = set()
        begun = failed = False
        for step, reading in self._steps(task):
            if step.anew and not begun:
                self._writer.clear(task.file.path)
            begun = True
            vectors = None if reading is None else self._vectors(task, reading, embedded)
            entry = None
            if reading is not None and vectors is not None:
                project = task.projects.get(reading.document.project) or _unknown(reading.document.project)
                entry = Entry(reading.document, project, reading.digests, vectors, reading.masked)
            failed = failed or (step.document is not None and entry is None)
            if failed and isinstance(task.source, Source):
                return
            outcomes.add(
                self._writer.put(
                    task.file,
                    entry,
                    state=None if failed else step.state(),
                    finish=_finish(task, step.ending, None if failed else task.mtime_ns) if step.ending else None,
                )
            )
        if outcomes == {"added"} or (task.is_new and "added" in outcomes):
            self._outcomes["added"] += 1
        elif outcomes:
            self._outcomes["unchanged" if outcomes == {"unchanged"} else "changed"] += 1

    def _vectors(self, task: _Task, reading: Reading, embedded: Callable[[], None]) -> dict[bytes, Vector] | None:
        """The vectors of the chunks that have none; None where the model fails on one."""
        vectors: dict[bytes, Vector] = {}
        for digest in self._writer.missing(reading.digests):
            self._pause()
            if self._stop():
                raise _Stopped
            vector = self._embed(task.file.path, reading.texts[digest])
            if vector is None:
                return None
            vectors[digest] = vector
            embedded()
        return vectors

    def _embed(self, path: str, text: str) -> Vector | None:
        """The vector of one chunk; None, with a line under `skipped`, where the model fails on it."""
        try:
            (vector,) = self._embedder.embed_passages([text])
            if vector.shape != (self._embedder.dimension,) or not np.isfinite(vector).all():
                raise ArithmeticError("not finite numbers, as many as the model has dimensions")
        except RecallError:
            raise
        except Exception as error:  # the message may quote the text, so only the class is named
            self._skipped[path] = f"could not be embedded ({type(error).__name__})"
            return None
        self._embedded += 1
        return np.asarray(vector, np.float32)

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
