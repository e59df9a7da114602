"""Pieces: one model's rows as they come from the index, before it is known which documents can be shown."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from recall.core.types import BACKGROUND
from recall.store.entries import HEADLINE, STORED_FLOAT
from recall.store.guard import damaged

#: Vectors are fetched so many at a time: 6 MB of 384 dimensions, so that loading needs little more than the result.
_BATCH = 4096


@dataclass(slots=True, eq=False)
class Pieces:
    """One model's rows as arrays of one length; `incomplete`: documents that lack at least one."""

    documents: npt.NDArray[np.int64]
    ids: npt.NDArray[np.int64]
    is_headline: npt.NDArray[np.bool_]
    vectors: npt.NDArray[np.float32]
    backgrounds: npt.NDArray[np.float32]
    incomplete: set[int]

    def only(self, kept: slice | npt.NDArray[np.bool_]) -> "Pieces":
        return Pieces(
            self.documents[kept],
            self.ids[kept],
            self.is_headline[kept],
            self.vectors[kept],
            self.backgrounds[kept],
            self.incomplete,
        )


def load_pieces(connection: sqlite3.Connection, model: str, path: Path) -> Pieces:
    """The rows of one model, in order of document and ordinal, where there is one. Raises StoreDamaged."""
    known = connection.execute("SELECT id, dimension FROM model WHERE identity = ?", (model,)).fetchone()
    model_id, dimension = known or (None, 0)
    most = connection.execute("SELECT count(*) FROM chunk").fetchone()[0]
    pieces = Pieces(
        documents=np.empty(most, np.int64),
        ids=np.empty(most, np.int64),
        is_headline=np.empty(most, np.bool_),
        vectors=np.empty((most, dimension), np.float32),
        backgrounds=np.empty((most, BACKGROUND), np.float32),
        incomplete=set(),
    )
    cursor = connection.execute(
        """SELECT chunk.document_id, embedding.id, chunk.ordinal, embedding.vector, embedding.background
        FROM chunk LEFT JOIN embedding ON embedding.model_id = ? AND embedding.digest = chunk.digest
            AND embedding.background IS NOT NULL
        ORDER BY chunk.document_id, chunk.ordinal""",
        (model_id,),
    )
    filled = 0
    while batch := cursor.fetchmany(_BATCH):
        found = [row for row in batch if row[1] is not None]
        pieces.incomplete.update(document for document, id_, *_ in batch if id_ is None)
        part = slice(filled, filled + len(found))
        pieces.vectors[part] = _floats(path, [row[3] for row in found], dimension)
        pieces.backgrounds[part] = _floats(path, [row[4] for row in found], BACKGROUND)
        pieces.documents[part] = [row[0] for row in found]
        pieces.ids[part] = [row[1] for row in found]
        pieces.is_headline[part] = [row[2] == HEADLINE for row in found]
        filled = part.stop
    return pieces.only(slice(filled))


def _floats(path: Path, blobs: Sequence[bytes], width: int) -> npt.NDArray[np.float32]:
    """float32 [blobs, width]. Raises StoreDamaged where they do not hold so many."""
    data = b"".join(blobs)
    if len(data) != len(blobs) * width * STORED_FLOAT.itemsize:
        raise damaged(path)
    return np.frombuffer(data, STORED_FLOAT).reshape(len(blobs), width)
