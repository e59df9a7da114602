"""One run that brings the index up to date: scan, compare, read, mask, cut, embed, write.

Vectors are stored batch by batch, and each document as soon as it has all of its own, in a transaction of its own. An
end at any moment, even by kill -9, loses the work on one batch at most: the next run compares again and goes on.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from recall.core.errors import StoreBusy, StoreDamaged, StoreError
from recall.index.embedding import Embedding, PassageEmbedder
from recall.index.reading import RECIPE
from recall.index.sources import GrowingSource, Source
from recall.index.work import Progress, Report, Work
from recall.late.late import Late
from recall.store.kept import drop_old
from recall.store.repair import set_aside
from recall.store.writer import Writer
from recall.wire.lock import HeldLock
from recall.wire.paths import StatePaths


def run(
    paths: StatePaths,
    sources: Sequence[Source | GrowingSource],
    embedder: PassageEmbedder,
    late: Late,
    *,
    progress: Callable[[Progress], None] = lambda _: None,
    pause: Callable[[], None] = lambda: None,
    stop: Callable[[], bool] = lambda: False,
) -> Report:
    """Bring the index in the state folder up to date. A damaged one is set aside and built anew.

    `pause` is called before each batch (on a CPU mostly one chunk) and within long files, and may block, so that a
    question goes first; when `stop` says so, the run ends after the batch in hand. Raises StoreBusy when another run is
    under way, other StoreErrors when the file or the disk fails (what was written stays good), and ModelError as the
    embedder raises it. Everything else becomes a line in `skipped`.
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
            embedding = Embedding(writer, embedder, late, pause, stop)
            report = Work(writer, embedding, progress).over(sources)
        if report.complete:
            drop_old(path)
        return report

    with lock:
        try:
            return attempt()
        except StoreDamaged:
            set_aside(path)
        return attempt()
