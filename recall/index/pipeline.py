"""One run that brings the index up to date: scan, compare, read, cut, embed, write.

Each document is written as soon as its chunks are embedded, in a transaction of its own. An end at any moment, even
by kill -9, loses the work on one document at most: the next run compares again and goes on.
"""

import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt

from recall.core.errors import RecallError, SourceError, StoreBusy, StoreDamaged, StoreError
from recall.core.types import Document, FoundFile, Kind, Project, Skipped
from recall.index.plan import plan, seconds_left, trusted_mtime
from recall.sources.memory import Scan
from recall.store.repair import set_aside
from recall.store.writer import Vector, Writer
from recall.text.chunks import cut
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
class Source:
    """Where the records of one kind come from. `scan` is called under the lock; `read` raises SourceError."""

    kind: Kind
    scan: Callable[[], Scan]
    read: Callable[[FoundFile], Document]


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
    sources: Sequence[Source],
    embedder: PassageEmbedder,
    *,
    progress: Callable[[Progress], None] = lambda _: None,
    pause: Callable[[], None] = lambda: None,
    stop: Callable[[], bool] = lambda: False,
) -> Report:
    """Bring the index in the state folder up to date. A damaged one is set aside and built anew.

    `pause` is called before each chunk (40 to 100 ms of work) and may block, so that a question goes first; when
    `stop` says so, the run ends after the chunk in hand. Raises StoreBusy when another run is under way, other
    StoreErrors when the file or the disk fails (what was written stays good), and ModelError as the embedder raises
    it. Everything else becomes a line in `skipped`.
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
    read: Callable[[FoundFile], Document]
    project: Project
    mtime_ns: int | None


@dataclass(frozen=True, slots=True)
class _Reading:
    """A document with its chunks by their digests, in order of the text."""

    document: Document
    digests: list[bytes]
    texts: Mapping[bytes, str]


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
        self._outcomes = {"added": 0, "changed": 0, "unchanged": 0}
        self._scanned = self._removed = self._embedded = 0

    def over(self, sources: Sequence[Source]) -> Report:
        tasks = [task for source in sources for task in self._look_over(source)]
        complete = self._work(tasks)
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

    def _look_over(self, source: Source) -> list[_Task]:
        """Scan one source, take out what is gone, and return what has to be read, the latest changes first."""
        scanned_ns = time.time_ns()
        scan = source.scan()
        self._skipped.update((item.path, item.reason) for item in scan.skipped)
        decided = plan(self._writer.stored(source.kind), scan.files, [item.path for item in scan.skipped])
        # Records that belong to all projects stand under a key that no project has.
        shared = {file.project: Project(file.project, file.project) for file in scan.files}
        projects = {**shared, **scan.projects.by_key}
        self._writer.remove(decided.removed)
        self._writer.enlist(decided.new, projects)
        self._removed += len(decided.removed)
        self._scanned += len(decided.new) + len(decided.maybe_changed) + len(decided.unchanged)
        self._outcomes["unchanged"] += len(decided.unchanged)
        return [
            _Task(file, source.read, projects[file.project], trusted_mtime(file.mtime_ns, scanned_ns))
            for file in sorted(decided.new + decided.maybe_changed, key=lambda file: -file.mtime_ns)
        ]

    def _work(self, tasks: Sequence[_Task]) -> bool:
        """Read all files and write what needs no embedding, then embed the others; False when stopped.

        All are read first, so that the remaining time can be told from the chunks there are. Those with something to
        embed are read again when it is their turn: their texts together could be larger than the memory.
        """
        waiting: list[tuple[_Task, int]] = []
        counted: set[bytes] = set()
        for task in tasks:
            if self._stop():
                return False
            reading = self._read(task)
            if reading is None:
                continue
            missing = self._writer.missing(reading.digests)
            if missing:
                waiting.append((task, len(set(missing) - counted)))
                counted.update(missing)
            else:
                self._put(task, reading, {})
        began, chunks_done, done = time.monotonic(), 0, len(tasks) - len(waiting)

        def tell(chunks: int) -> None:
            now = time.monotonic()
            left = seconds_left(now - began, chunks, len(counted))
            self._progress(Progress(done, len(tasks), chunks, len(counted), now - self._started, left))

        tell(0)
        for task, chunks in waiting:
            reading = self._read(task)
            if reading is not None:
                vectors: dict[bytes, Vector] = {}
                for digest in self._writer.missing(reading.digests):
                    self._pause()
                    if self._stop():
                        return False
                    vector = self._embed(task.file.path, reading.texts[digest])
                    if vector is None:
                        break
                    vectors[digest] = vector
                    tell(chunks_done + min(len(vectors), chunks))
                else:
                    self._put(task, reading, vectors)
            done += 1
            chunks_done += chunks
            tell(chunks_done)
        return True

    def _read(self, task: _Task) -> _Reading | None:
        """The document and its chunks; None, with a line under `skipped`, for a file that cannot be read."""
        try:
            document = task.read(task.file)
            chunks = cut(document.name, document.description, document.body)
        except SourceError as error:
            reason = str(error)
        except Exception as error:  # whatever one file does to its reader must not hide the others
            reason = f"cannot be read ({type(error).__name__})"
        else:
            digests = [hashlib.sha256(chunk.encode()).digest() for chunk in chunks]
            return _Reading(document, digests, dict(zip(digests, chunks, strict=True)))
        self._skipped[task.file.path] = reason
        self._writer.clear(task.file.path)
        return None

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

    def _put(self, task: _Task, reading: _Reading, vectors: Mapping[bytes, Vector]) -> None:
        outcome = self._writer.put(
            task.file,
            reading.document,
            project=task.project,
            digests=reading.digests,
            vectors=vectors,
            mtime_ns=task.mtime_ns,
        )
        self._outcomes[outcome] += 1
