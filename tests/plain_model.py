"""A model of two numbers without token vectors, for tests of ranking and gate alone: cosines are what a test says."""

from collections.abc import Sequence

import numpy as np

from recall.core.types import BACKGROUND, Document, Project
from recall.embed.encoder import Heads
from recall.evals.measure import as_record
from recall.late.late import Late
from recall.search.score import Source
from recall.search.snapshot import take_snapshot
from recall.store.views import Postings, Rows
from recall.text.words import fingerprints


class Plain:
    """Every everyday message lies across QUESTION."""

    identity = "plain@1"

    def heads(self, texts: Sequence[str], kind: str = "query") -> list[Heads]:
        return [Heads(np.array([0, 1], np.float32), np.empty((0, 2), np.float32), None) for _ in texts]


LATE = Late(Plain())
QUESTION = Heads(np.array([1, 0], np.float32), np.empty((0, 2), np.float32), None)


def source_of(documents: Sequence[Document], cosines: Sequence[float], project: Project) -> Source:
    """Documents of one chunk each with their cosines to QUESTION."""
    first = np.array(cosines, np.float32)
    rows = Rows(
        vectors=np.stack([first, np.sqrt(1 - first**2)], axis=1),
        row_documents=np.arange(len(documents), dtype=np.int32),
        row_ids=np.arange(len(documents)),
        is_headline=np.zeros(len(documents), np.bool_),
        backgrounds=np.zeros((len(documents), BACKGROUND), np.float32),
        postings=Postings.of([fingerprints(f"{d.name}\n{d.description}\n{d.body}") for d in documents]),
        documents=[as_record(document) for document in documents],
        projects=[project],
        generation=7,
    )
    return Source(take_snapshot(rows, LATE.bank), LATE, lambda _: {})
