"""From a question's embedding to an answer: an immutable snapshot of the index, a search on it, and the hook's line."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from recall.core.types import SHARED, Hit, Kind, Project, Tier
from recall.embed.manifest import Gate
from recall.search import dense, gate, headlines
from recall.search.gate import Reason
from recall.search.headlines import Language

KINDS: tuple[Kind, ...] = ("memory", "knowledge", "conversation")
#: Largest size of the printed line in bytes, by tier.
BUDGETS: dict[Tier, int] = {"none": 0, "some": 1024, "strong": 2048}


class Record(Protocol):
    """What search needs to know of a document."""

    @property
    def kind(self) -> Kind: ...
    @property
    def path(self) -> str: ...
    @property
    def project(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def date(self) -> str | None: ...


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """The index at one moment. Nothing in it changes, so that questions need no lock; made by `take_snapshot`.

    `vectors` is float32 [rows, d], each of length 1; `row_documents` int32 [rows], never decreasing, points into
    `documents`. `project_keys` numbers the projects, `document_projects` int32 and `is_kind` bool say for every
    document where it belongs. `generation` is the store's count of changes. `language` is the person's.
    """

    vectors: dense.Floats
    row_documents: npt.NDArray[np.int32]
    documents: Sequence[Record]
    projects: Sequence[Project]
    generation: int
    language: Language
    project_keys: Mapping[str, int]
    document_projects: npt.NDArray[np.int32]
    is_kind: Mapping[Kind, npt.NDArray[np.bool_]]

    def scope(self, projects: Collection[str] | None, kinds: Collection[Kind]) -> npt.NDArray[np.bool_]:
        """Which documents take part, bool [documents]; `projects` None means all, shared records always do."""
        allowed = np.zeros(len(self.documents), np.bool_)
        for kind in kinds:
            allowed |= self.is_kind[kind]
        if projects is not None:
            numbers = [self.project_keys[key] for key in {*projects, SHARED} if key in self.project_keys]
            allowed &= np.isin(self.document_projects, numbers)
        return allowed


@dataclass(frozen=True, slots=True)
class Result:
    """What was found for one question: the gate's verdict, the ranked hits, and the notes and rules it judged by."""

    tier: Tier
    gap: float
    top: float
    reason: Reason
    hits: tuple[Hit, ...]
    candidates: tuple[Hit, ...]


def take_snapshot(
    vectors: dense.Floats,
    row_documents: npt.NDArray[np.int32],
    documents: Sequence[Record],
    projects: Sequence[Project],
    generation: int,
) -> Snapshot:
    """Make a snapshot of the store's arrays, with all that can be known before the first question."""
    keys = {key: number for number, key in enumerate(dict.fromkeys(document.project for document in documents))}
    kinds = np.array([document.kind for document in documents], dtype="U12")
    return Snapshot(
        vectors=vectors,
        row_documents=row_documents,
        documents=documents,
        projects=projects,
        generation=generation,
        language=headlines.language_of(f"{document.name} {document.description}" for document in documents),
        project_keys=keys,
        document_projects=np.array([keys[document.project] for document in documents], dtype=np.int32),
        is_kind={kind: kinds == kind for kind in KINDS},
    )


def search(
    snapshot: Snapshot,
    query: dense.Floats,
    thresholds: Gate,
    *,
    projects: Collection[str] | None,
    kinds: Collection[Kind] = KINDS,
    limit: int,
) -> Result:
    """Rank the documents in scope against one question's embedding (float32 [d], length 1) and judge the scores.

    `projects` None searches all projects; shared records are always in scope. `hits` holds the `limit` best of all
    kinds, `candidates` the best notes and rules.
    """
    documents, scores = dense.score(snapshot.vectors, snapshot.row_documents, query)

    def best(of: Collection[Kind], count: int) -> tuple[Hit, ...]:
        ranked = dense.top(documents, scores, snapshot.scope(projects, of), count)
        return tuple(
            _hit(rank, float(score), snapshot.documents[document])
            for rank, (document, score) in enumerate(zip(*ranked, strict=True), start=1)
        )

    candidates = best([kind for kind in kinds if kind != "conversation"], gate.CANDIDATES)
    verdict = gate.judge([hit.score for hit in candidates], thresholds)
    return Result(verdict.tier, verdict.gap, verdict.top, verdict.reason, best(kinds, limit), candidates)


def context(
    result: Result,
    thresholds: Gate,
    language: Language,
    current_projects: Collection[str],
    event: str = "UserPromptSubmit",
) -> headlines.Printed | None:
    """What the hook prints for a result; None where nothing is handed over."""
    chosen = gate.select(result.candidates, result.tier, thresholds, current_projects)
    return headlines.render(chosen, language, BUDGETS[result.tier], event)


def _hit(rank: int, score: float, record: Record) -> Hit:
    return Hit(
        rank=rank,
        score=score,
        kind=record.kind,
        name=record.name,
        description=record.description,
        path=record.path,
        project=record.project,
        date=record.date,
    )
