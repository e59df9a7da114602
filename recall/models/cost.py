"""What it costs to take another model into use: texts to embed, time, disk."""

from pathlib import Path

from recall.embed.manifest import Manifest
from recall.late import sketch, sparse
from recall.models.speeds import Speed
from recall.store.reader import Reader
from recall.wire.paths import StatePaths

#: Size of one number of a stored vector.
_FLOAT_BYTES = 4


def words_of_cost(manifest: Manifest, answering: str, paths: StatePaths, speed: Speed | None) -> str:
    """One sentence for people; the disk at most. `answering` is the model that answers meanwhile."""
    missing, total = missing_vectors(paths, manifest.identity)
    if not total:
        return "the index is empty, so there is nothing to embed again"
    if not missing:
        return f"all {total} chunks of the index have their vectors of {manifest.name} already: it costs nothing"
    most = missing * (manifest.dimension * _FLOAT_BYTES + sketch.LARGEST + sparse.LARGEST)  # bytes
    time = f"about {_minutes(missing / speed.chunks_per_second)}" if speed else "an unmeasured time"
    return (
        f"{missing} of {total} chunks of the index have to be embedded: {time} in the background and about "
        f"{most / 1e6:.1f} MB of disk. Until then {answering} answers; its vectors stay, "
        "so that going back costs nothing."
    )


def missing_vectors(paths: StatePaths, identity: str) -> tuple[int, int]:
    """How many texts of the index have no vector under a model, and how many there are. Raises StoreError."""
    reader = Reader(Path(paths.index))
    try:
        return reader.missing_vectors(identity)
    finally:
        reader.close()


def _minutes(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} minutes"
