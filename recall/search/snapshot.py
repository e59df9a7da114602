"""The index at one moment, with all that can be known of it before the first question."""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from recall.core.types import KINDS, SHARED, TEAM, AnyRecord, Kind, Project
from recall.late.everyday import GROUPS, Bank
from recall.search import groups, headlines
from recall.search.headlines import Language
from recall.sources.succession import Succession, resolve
from recall.store.views import Rows

Floats = npt.NDArray[np.float32]
Bools = npt.NDArray[np.bool_]

#: Documents whose best cosines are looked through at a time: 6 MB.
_TOGETHER = 8192


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """Nothing in it changes, so that questions need no lock; made by `take_snapshot`.

    `rows` are the store's, of whole documents. `cosines` float32 [rows, groups]: the mean cosine of each row to the
    messages of each group of the bank; `null` float16 [documents, messages]: each document's best cosine to each
    message. `cosine_deviation` and `late_deviation`: how much the scores of everyday messages on one row vary, the unit
    of a document's score. `project_keys` numbers the projects, `document_projects` int32 and `is_kind` bool say for
    every document where it belongs, `is_ours` bool whether it is of this machine.
    `language` is the person's.
    """

    rows: Rows
    documents: Sequence[AnyRecord]
    cosines: Floats
    null: npt.NDArray[np.float16]
    cosine_deviation: float
    late_deviation: float
    language: Language
    project_keys: Mapping[str, int]
    document_projects: npt.NDArray[np.int32]
    is_kind: Mapping[Kind, Bools]
    is_ours: Bools
    of_session: Mapping[str, Sequence[int]]
    versions: groups.Versions
    _chances: dict[bytes, tuple[float, float]] = field(default_factory=dict)

    def chance(self, allowed: Bools) -> tuple[float, float]:
        """What the best cosine of everyday messages to these documents is, one at least: mean and deviation.

        Remembered for the few choices of documents that questions make: over 100,000 it takes longer than a search.
        """
        key = hashlib.sha256(np.packbits(allowed).tobytes()).digest()
        if key not in self._chances:
            best = np.zeros(0, np.float32)
            for start in range(0, len(allowed), _TOGETHER):  # half floats are slow, and a copy of all would be large
                some = self.null[start : start + _TOGETHER][allowed[start : start + _TOGETHER]]
                if len(some):
                    highest = some.max(axis=0).astype(np.float32)
                    best = np.maximum(best, highest) if len(best) else highest
            self._chances[key] = (float(best.mean()), float(best.std())) if len(best) else (0.0, 0.0)
        return self._chances[key]

    @property
    def projects(self) -> Sequence[Project]:
        return self.rows.projects

    @property
    def generation(self) -> int:
        """The store's count of changes."""
        return self.rows.generation

    def scope(self, projects: Collection[str] | None, kinds: Collection[Kind], session: str | None = None) -> Bools:
        """Which documents take part, bool [documents]; `projects` None means all, shared records always do.

        Records of other machines of the team do too, whatever their project; but where the keys of such projects are
        among `projects`, only theirs do. What was said in `session` never takes part.
        """
        allowed = np.zeros(len(self.documents), np.bool_)
        for kind in kinds:
            allowed |= self.is_kind[kind]
        if projects is not None:
            numbers = [self.project_keys[key] for key in {*projects, SHARED} if key in self.project_keys]
            within = np.isin(self.document_projects, numbers)
            if not any(key.startswith(TEAM) for key in projects):
                within |= ~self.is_ours
            allowed &= within
        if session is not None:
            allowed[list(self.of_session.get(session, ()))] = False
        return allowed


def take_snapshot(rows: Rows, bank: Bank) -> Snapshot:
    """Make a snapshot of the store's rows under the model of `bank`."""
    documents = _with_successors(rows.documents)
    keys = {key: number for number, key in enumerate(dict.fromkeys(document.project for document in documents))}
    of_session: dict[str, list[int]] = {}
    for number, document in enumerate(documents):
        for session in document.sessions:
            of_session.setdefault(session, []).append(number)
    kinds = np.array([document.kind for document in documents], dtype="U12")
    cosines, null, deviation = _against(rows, bank)
    return Snapshot(
        rows=rows,
        documents=documents,
        cosines=cosines,
        null=null,
        cosine_deviation=deviation,
        late_deviation=_unit(np.sqrt(np.mean(rows.backgrounds[:, -1] ** 2)) if len(rows.backgrounds) else 0.0),
        language=headlines.language_of(
            f"{document.name} {document.description}" for document in documents if document.origin is None
        ),
        project_keys=keys,
        document_projects=np.array([keys[document.project] for document in documents], dtype=np.int32),
        is_kind={kind: kinds == kind for kind in KINDS},
        is_ours=np.array([document.origin is None for document in documents], np.bool_),
        of_session=of_session,
        versions=groups.versions_by_group(documents),
    )


def _against(rows: Rows, bank: Bank) -> tuple[Floats, npt.NDArray[np.float16], float]:
    """`cosines`, `null` and `cosine_deviation` of a snapshot."""
    if not len(rows.vectors):
        return np.zeros((0, len(GROUPS)), np.float32), np.zeros((0, len(bank.dense)), np.float16), 1.0
    scores = rows.vectors @ bank.dense.T
    starts = np.searchsorted(rows.row_documents, np.arange(len(rows.documents)))
    null = np.maximum.reduceat(scores, starts, axis=0).astype(np.float16)
    means = np.asarray(scores @ bank.members.T, np.float32)
    return means, null, _unit(np.sqrt(np.mean(scores.var(axis=1))))


def _unit(deviation: float) -> float:
    """A deviation to divide by."""
    return float(deviation) if deviation > 1e-6 else 1.0


def _with_successors(records: Sequence[AnyRecord]) -> list[AnyRecord]:
    """The records with what stands in the place of each today; they themselves hold only what their file says."""
    found = resolve(record for record in records if record.kind == "knowledge")
    return [_with_successor(record, found[record.path]) if record.path in found else record for record in records]


def _with_successor(record: AnyRecord, successor: Succession) -> AnyRecord:
    changed: AnyRecord = replace(record, successor=successor.successor, successor_path=successor.path)  # type: ignore[type-var]
    return changed
