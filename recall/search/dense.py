"""Ranking by embedding: every row against the question, a document scores by its best chunk.

The cost is one pass over the vectors (4 bytes x rows x dimensions), so it is bound by the memory bus; what follows
works on one number per row or document.
"""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]


def rank(
    vectors: Floats,
    row_documents: npt.NDArray[np.int32],
    query: Floats,
    allowed: npt.NDArray[np.bool_] | None,
    limit: int,
) -> tuple[npt.NDArray[np.int64], Floats]:
    """The `limit` best documents for one question: their numbers and scores, best first.

    `vectors` is float32 [rows, d], `query` float32 [d], both of length 1, so that the score is the cosine.
    `row_documents` int32 [rows] gives each row's document and never decreases: the rows of a document lie side by
    side. `allowed` bool [documents] keeps the others out before anything is ranked; None allows all.
    """
    return top(*score(vectors, row_documents, query), allowed, limit)


def score(vectors: Floats, row_documents: npt.NDArray[np.int32], query: Floats) -> tuple[npt.NDArray[np.int64], Floats]:
    """The numbers of all documents that have rows, ascending, and the score of each one's best row."""
    if not len(row_documents):  # reduceat refuses an empty index
        return np.empty(0, np.int64), np.empty(0, np.float32)
    starts = np.append(0, np.flatnonzero(row_documents[1:] != row_documents[:-1]) + 1)
    return row_documents[starts].astype(np.int64), np.maximum.reduceat(vectors @ query, starts)


def top(
    documents: npt.NDArray[np.int64], scores: Floats, allowed: npt.NDArray[np.bool_] | None, limit: int
) -> tuple[npt.NDArray[np.int64], Floats]:
    """The `limit` best of the scored documents that are allowed, best first; equals stand in order of number."""
    if allowed is not None:
        within = allowed[documents]
        documents, scores = documents[within], scores[within]
    if limit < len(scores):
        # Every document that equals the last place takes part in the sort, else chance would pick among equals.
        last = np.partition(scores, -limit)[-limit] if limit > 0 else np.float32(np.inf)
        within = scores >= last
        documents, scores = documents[within], scores[within]
    order = np.lexsort((documents, -scores))[:limit]
    return documents[order], scores[order]
