"""From a question's embedding to an answer: an immutable snapshot of the index, a search on it, and the hook's line."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from recall.core.types import KINDS, SHARED, AnyRecord, Hit, Kind, Project, Tier
from recall.embed.manifest import Gate
from recall.search import dense, gate, groups, headlines
from recall.search.gate import Reason
from recall.search.headlines import Language
from recall.search.select import Asker, select_conversations, select_notes
from recall.sources.succession import resolve
from recall.text.masking import mask

#: Exchanges that are ranked: a session may hold many of the best, and eleven sessions are judged.
CONVERSATION_CANDIDATES = 5 * gate.CANDIDATES
#: Largest size of the printed line in bytes, by tier.
BUDGETS: dict[Tier, int] = {"none": 0, "some": 1024, "strong": 2048}


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """The index at one moment. Nothing in it changes, so that questions need no lock; made by `take_snapshot`.

    `vectors` is float32 [rows, d], each of length 1; `row_documents` int32 [rows], never decreasing, points into
    `documents`. `project_keys` numbers the projects, `document_projects` int32 and `is_kind` bool say for every
    document where it belongs. `generation` is the store's count of changes. `language` is the person's.
    """

    vectors: dense.Floats
    row_documents: npt.NDArray[np.int32]
    documents: Sequence[AnyRecord]
    projects: Sequence[Project]
    generation: int
    language: Language
    project_keys: Mapping[str, int]
    document_projects: npt.NDArray[np.int32]
    is_kind: Mapping[Kind, npt.NDArray[np.bool_]]
    of_session: Mapping[str, Sequence[int]]
    versions: groups.Versions

    def scope(
        self, projects: Collection[str] | None, kinds: Collection[Kind], session: str | None = None
    ) -> npt.NDArray[np.bool_]:
        """Which documents take part, bool [documents]; `projects` None means all, shared records always do.

        What was said in `session` never takes part.
        """
        allowed = np.zeros(len(self.documents), np.bool_)
        for kind in kinds:
            allowed |= self.is_kind[kind]
        if projects is not None:
            numbers = [self.project_keys[key] for key in {*projects, SHARED} if key in self.project_keys]
            allowed &= np.isin(self.document_projects, numbers)
        if session is not None:
            allowed[list(self.of_session.get(session, ()))] = False
        return allowed


@dataclass(frozen=True, slots=True)
class Result:
    """What was found for one question: the gate's verdict, the ranked hits, the notes and rules it judged by, and the
    conversations, one exchange a hit."""

    tier: Tier = "none"
    gap: float = 0.0
    top: float = 0.0
    reason: Reason = "no records"
    hits: tuple[Hit, ...] = ()
    candidates: tuple[Hit, ...] = ()
    conversations: tuple[Hit, ...] = ()


def take_snapshot(
    vectors: dense.Floats,
    row_documents: npt.NDArray[np.int32],
    documents: Sequence[AnyRecord],
    projects: Sequence[Project],
    generation: int,
) -> Snapshot:
    """Make a snapshot of the store's arrays, with all that can be known before the first question."""
    documents = _with_successors(documents)
    keys = {key: number for number, key in enumerate(dict.fromkeys(document.project for document in documents))}
    of_session: dict[str, list[int]] = {}
    for number, document in enumerate(documents):
        for session in document.sessions:
            of_session.setdefault(session, []).append(number)
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
        of_session=of_session,
        versions=groups.versions_by_group(documents),
    )


def _with_successors(records: Sequence[AnyRecord]) -> list[AnyRecord]:
    """The records with what stands in the place of each today; they themselves hold only what their file says."""
    found = resolve(record for record in records if record.kind == "knowledge")
    return [
        replace(record, successor=found[record.path].successor, successor_path=found[record.path].path)  # type: ignore[type-var]
        if record.path in found
        else record
        for record in records
    ]


def search(
    snapshot: Snapshot,
    query: dense.Floats,
    thresholds: Gate,
    *,
    projects: Collection[str] | None,
    kinds: Collection[Kind] = KINDS,
    limit: int,
    language: str | None = None,
    session: str | None = None,
) -> Result:
    """Rank the documents in scope against one question's embedding (float32 [d], length 1) and judge the scores.

    `projects` None searches all projects; shared records are always in scope. `language` is the question's: of a
    record in several languages that version is taken. `session` is the asker's, whose own exchanges are left out.
    `hits` holds the `limit` best of all kinds, `candidates` the best notes and rules.
    """
    documents, scores = dense.score(snapshot.vectors, snapshot.row_documents, query)

    def best(of: Collection[Kind], count: int) -> tuple[Hit, ...]:
        # Language versions fall together and what was replaced moves behind: more are ranked than are asked for.
        ranked = dense.top(documents, scores, snapshot.scope(projects, of, session), 3 * count)
        hits = [
            _hit(rank, float(score), snapshot.documents[document])
            for rank, (document, score) in enumerate(zip(*ranked, strict=True), start=1)
        ]
        standing = groups.succeed(hits, snapshot.versions)
        return tuple(groups.prefer_language(standing, language, snapshot.versions)[:count])

    candidates = best([kind for kind in kinds if kind != "conversation"], gate.CANDIDATES)
    conversations = best([kind for kind in kinds if kind == "conversation"], CONVERSATION_CANDIDATES)
    verdict = gate.judge([hit.score for hit in candidates], thresholds)
    hits = best(kinds, limit)
    return Result(verdict.tier, verdict.gap, verdict.top, verdict.reason, hits, candidates, conversations)


def hand_over(
    result: Result, thresholds: Gate, language: Language, asker: Asker, event: str = "UserPromptSubmit"
) -> headlines.Printed | None:
    """What the hook prints for a result; None where nothing is handed over.

    Every headline passes the masker here once more: the index may be older than a rule.
    """
    chosen = select_notes(result.candidates, result.tier, thresholds, asker)
    chosen += select_conversations(result.conversations, result.tier, thresholds, asker)
    return headlines.render([_masked(hit) for hit in chosen], language, BUDGETS[result.tier], event)


def _masked(hit: Hit) -> Hit:
    return replace(hit, name=mask(hit.name).text, description=mask(hit.description).text)


def _hit(rank: int, score: float, record: AnyRecord) -> Hit:
    return Hit(
        rank=rank,
        score=score,
        kind=record.kind,
        name=record.name,
        description=record.description,
        path=record.path,
        project=record.project,
        date=record.date,
        session=record.session,
        language=record.language,
        group=record.group,
        successor=record.successor,
        successor_path=record.successor_path,
    )
