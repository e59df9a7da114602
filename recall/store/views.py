"""Views: what the reader of the index gives."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from recall.core.types import BACKGROUND, Kind, Project, Skipped


@dataclass(frozen=True, slots=True)
class Record:
    """A document as the index holds it: its headline. A transcript that a conversation stood in may be gone.

    `sessions` are all that hold the exchange: its own, and those that were forked from it or resume it.
    """

    kind: Kind
    path: str
    project: str  # Project.key
    name: str
    description: str
    date: str | None  # ISO 8601 day
    session: str | None
    language: str | None
    group: str | None
    successor: str | None
    successor_path: str | None
    origin: str | None  # the machine of the team that it came from; None: the person's own
    person: str | None
    sessions: frozenset[str]


@dataclass(frozen=True, slots=True, eq=False)
class Postings:
    """Which documents hold a term: `terms` uint32 [any] in ascending order, fingerprints, and beside each a document's
    place, int32 [any]. And which terms a document holds: uint32 [any], those of document n from `starts[n]` on."""

    terms: npt.NDArray[np.uint32]
    documents: npt.NDArray[np.int32]
    by_document: npt.NDArray[np.uint32]
    starts: npt.NDArray[np.int64]

    @classmethod
    def of(cls, terms: Sequence[bytes]) -> "Postings":
        """Those of documents in order, from the fingerprints of each as they are stored."""
        numbers = np.frombuffer(b"".join(terms), "<u4").astype(np.uint32)
        counts = np.array([len(of_one) // 4 for of_one in terms], np.int64)
        owners = np.repeat(np.arange(len(terms), dtype=np.int32), counts)
        order = np.argsort(numbers, kind="stable")
        return cls(numbers[order], owners[order], numbers, np.append(0, np.cumsum(counts)))

    def terms_of(self, document: int) -> frozenset[int]:
        """The terms of the document at a place."""
        return frozenset(self.by_document[self.starts[document] : self.starts[document + 1]].tolist())


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """One model's share of the index at one moment, whole documents only.

    `vectors` is float32 [rows, dimension], C-contiguous, each of length 1; [0, 0] where the model has none.
    `row_documents` int32 [rows] points into `documents` and never decreases: a document's rows lie side by side.
    `row_ids` int64 [rows] are what the reader gives their sketches by; `is_headline` bool [rows] marks those that hold
    a headline alone; `backgrounds` float32 [rows, BACKGROUND]. `postings` are of the words of `documents`. `generation`
    counts changes since the index was made.
    """

    vectors: npt.NDArray[np.float32]
    row_documents: npt.NDArray[np.int32]
    row_ids: npt.NDArray[np.int64]
    is_headline: npt.NDArray[np.bool_]
    backgrounds: npt.NDArray[np.float32]
    postings: Postings
    documents: list[Record]
    projects: list[Project]
    generation: int

    @classmethod
    def none(cls) -> "Rows":
        """The rows of an index that is not there."""
        return cls(
            vectors=np.empty((0, 0), np.float32),
            row_documents=np.empty(0, np.int32),
            row_ids=np.empty(0, np.int64),
            is_headline=np.empty(0, np.bool_),
            backgrounds=np.empty((0, BACKGROUND), np.float32),
            postings=Postings.of([]),
            documents=[],
            projects=[],
            generation=0,
        )


@dataclass(frozen=True, slots=True)
class Share:
    """What one project has in the index of one kind."""

    project: Project
    kind: Kind
    documents: int
    rows: int


@dataclass(frozen=True, slots=True)
class Summary:
    """Figures for `status` under one model.

    `pending` counts the files that wait to be read or embedded, `left_out` the sessions without records by the reason,
    `damaged_lines` the lines of transcripts that could not be read, `masked` what was masked, by kind. `bytes` is the
    size of the index on the disk. `damaged` is where a damaged index was set aside, as long as it lies there.
    """

    shares: list[Share] = field(default_factory=list)
    pending: int = 0
    skipped: list[Skipped] = field(default_factory=list)
    left_out: Mapping[str, int] = field(default_factory=dict)
    damaged_lines: int = 0
    masked: Mapping[str, int] = field(default_factory=dict)
    generation: int = 0
    bytes: int = 0
    damaged: Path | None = None

    @property
    def documents(self) -> dict[Kind, int]:
        """The number of documents by kind."""
        return _total((share.kind, share.documents) for share in self.shares)

    @property
    def rows(self) -> dict[Kind, int]:
        """The number of their chunks by kind."""
        return _total((share.kind, share.rows) for share in self.shares)


def _total(counts: Iterable[tuple[Kind, int]]) -> dict[Kind, int]:
    total: Counter[Kind] = Counter()
    for kind, count in counts:
        total[kind] += count
    return dict(total)
