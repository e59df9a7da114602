"""Entries: the values that the writer of the index takes and gives."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from recall.core.types import Document, Project

Vector = npt.NDArray[np.float32]
Outcome = Literal["added", "changed", "unchanged"]

#: The ordinal of the piece that holds a document's headline alone.
HEADLINE = -1
#: Type of a stored vector, on every machine: 4-byte floats, little-endian.
STORED_FLOAT = np.dtype("<f4")


@dataclass(frozen=True, slots=True)
class Stored:
    """What the index knows of a file. `complete`: it was read, and its documents have all vectors of the model.

    Of a file that is gone nothing is complete: it is read when it comes back.
    """

    project: str  # Project.key
    size: int  # bytes
    mtime_ns: int | None  # None: to be looked at again
    complete: bool


@dataclass(frozen=True, slots=True)
class Entry:
    """A document with what stands for it in the search.

    `digests` are the SHA-256 of its chunks in order, `headline` that of the piece with its headline alone, where it has
    one; `masked` counts what was masked in it, by kind. `terms` are the fingerprints of the words of its text.
    """

    document: Document
    project: Project
    digests: Sequence[bytes]
    masked: Mapping[str, int] = field(default_factory=dict)
    headline: bytes | None = None
    terms: bytes = b""

    @property
    def pieces(self) -> list[tuple[int, bytes]]:
        """Ordinal and digest of each piece, as they are stored."""
        headline = [] if self.headline is None else [(HEADLINE, self.headline)]
        return headline + list(enumerate(self.digests))


@dataclass(frozen=True, slots=True, eq=False)
class Embedded:
    """What a model made of a text: `vector` float32 [dimension] of length 1, `sketch` its packed token vectors, empty
    where it has none, `background` float32 [any] its scores over the bank of everyday messages."""

    vector: Vector
    sketch: bytes
    background: Vector


@dataclass(frozen=True, slots=True)
class Finish:
    """What is noted of a file that was read to its end; `project` is its own.

    `mtime_ns` None lets the next scan look at it again. A `title`, in which `masked` counts what was masked, is the
    name of all its documents, "" if they cannot be shown; None leaves each its own. `left_out` says why there are none.
    """

    project: Project
    mtime_ns: int | None
    title: str | None = None
    left_out: str | None = None
    damaged_lines: int = 0
    masked: Mapping[str, int] = field(default_factory=dict)
