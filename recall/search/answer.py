"""From a question to an answer: a search on a snapshot of the index, the gate's verdict, and the hook's line."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from recall.core.types import KINDS, PERSON, AnyRecord, Hit, Kind, Tier
from recall.embed.encoder import Heads
from recall.embed.manifest import Calibration, Gate, Manifest, Weights
from recall.late.late import Late
from recall.search import gate, groups, headlines
from recall.search.gate import Reason, Rule, Signs, Verdict
from recall.search.headlines import Language
from recall.search.score import Asked, Scored, Source, score, thin
from recall.search.select import Asker, select_conversations, select_notes
from recall.search.snapshot import Bools, Snapshot
from recall.text.language import language_of
from recall.text.masking import mask
from recall.text.words import fingerprint, weighted_terms

#: Exchanges that are ranked: a session may hold many of the best, and eleven sessions are judged.
CONVERSATION_CANDIDATES = 5 * gate.CANDIDATES
#: The share of the work on notes and rules that goes into conversations, of which two are shown at most.
_CONVERSATION_EFFORT = 0.25
#: Largest size of the printed line in bytes, by tier.
BUDGETS: dict[Tier, int] = {"none": 0, "some": 1024, "strong": 2048}


@dataclass(frozen=True, slots=True)
class Rules:
    """How records are weighed and how much of them is handed over; the values are a model's."""

    rule: Rule
    gate: Gate
    calibration: Calibration
    weights: Weights

    @classmethod
    def of(cls, manifest: Manifest, rule: Rule) -> "Rules":
        return cls(rule, manifest.gate, manifest.calibration, manifest.weights)


@dataclass(frozen=True, slots=True)
class Result:
    """What was found for one question: the gate's verdict, the ranked hits, the notes and rules it judged by, and the
    conversations, one exchange a hit. `signs` is what the gate saw."""

    tier: Tier = "none"
    gap: float = 0.0
    top: float = 0.0
    reason: Reason = "no records"
    probability: float = 0.0
    signs: dict[str, float] = field(default_factory=dict)
    hits: tuple[Hit, ...] = ()
    candidates: tuple[Hit, ...] = ()
    conversations: tuple[Hit, ...] = ()


def ask(heads: Heads, late: Late, message: str) -> Asked:
    """A question from a message and what the model made of it."""
    tokens = late.project(thin(heads.tokens))
    return Asked(
        dense=heads.dense,
        tokens=tokens,
        language=language_of(message),
        length=len(heads.tokens),
        everyday=late.nearness.of(heads.dense, tokens),
        sparse=heads.sparse or {},
        words={fingerprint(term): weight for term, weight in weighted_terms(message).items()},
    )


def search(
    source: Source,
    asked: Asked,
    rules: Rules,
    *,
    projects: Collection[str] | None,
    kinds: Collection[Kind] = KINDS,
    limit: int = 0,
    session: str | None = None,
    muted: Collection[str] = (),
) -> Result:
    """Rank the documents in scope and judge whether one of them is wanted.

    `projects` None searches all projects; shared records are always in scope. Of a record in several languages the
    version in the question's is taken. `session` is the asker's, whose own exchanges are left out.
    What is `muted` takes no part: records by their paths, and all of a machine or a person of the team. `hits` holds
    the `limit` best of all kinds, `candidates` the best notes and rules, `conversations` the best of these where they
    are wanted: for `hits`, or in the strong tier.
    """
    snapshot = source.snapshot

    def ranked(of: Collection[Kind], effort: float) -> tuple[Scored, Bools]:
        allowed = snapshot.scope(projects, of, session)
        if muted:
            allowed &= np.array([not silenced(document, muted) for document in snapshot.documents], np.bool_)
        return score(source, asked, allowed, rules.weights, effort), allowed

    def best(scored: Scored, count: int, *, copies: bool = True) -> tuple[Hit, ...]:
        # Versions and copies fall together, what was replaced moves behind: more are ranked than are asked for.
        places = scored.best(3 * count).tolist()
        hits = [
            _hit(rank, scored, place, snapshot.documents[scored.documents[place]])
            for rank, place in enumerate(places, start=1)
        ]
        standing = groups.succeed(hits, snapshot.versions)
        found = groups.prefer_language(standing, asked.language, snapshot.versions)
        if not copies:
            owners = scored.documents[places].tolist()
            terms_of = snapshot.rows.postings.terms_of
            terms = {hit.path: terms_of(owner) for hit, owner in zip(hits, owners, strict=True)}
            found = groups.drop_copies(found, terms, count)
        return tuple(found[:count])

    notes, allowed = ranked([kind for kind in kinds if kind != "conversation"], 1.0)
    candidates = best(notes, gate.CANDIDATES, copies=False)
    signs = _signs(snapshot, asked, candidates, allowed)
    verdict = _judge(signs, candidates, rules)
    hits = best(notes, limit) if limit else ()
    conversations: tuple[Hit, ...] = ()
    if "conversation" in kinds and (limit or verdict.tier == "strong"):
        said, _ = ranked(["conversation"], _CONVERSATION_EFFORT)
        conversations = best(said, max(limit, CONVERSATION_CANDIDATES))
        both = sorted([*hits, *conversations], key=lambda hit: -hit.score)[:limit]
        hits = tuple(replace(hit, rank=rank) for rank, hit in enumerate(both, start=1))
        conversations = conversations[:CONVERSATION_CANDIDATES]
    return Result(
        tier=verdict.tier,
        gap=verdict.gap,
        top=verdict.top,
        reason=verdict.reason,
        probability=verdict.probability,
        signs=signs.numbers() if signs else {},
        hits=hits,
        candidates=candidates,
        conversations=conversations,
    )


def silenced(document: AnyRecord, muted: Collection[str]) -> bool:
    """Whether a record is muted: by its path, or with all that its machine or its person has shared."""
    if document.path in muted:
        return True
    return document.origin is not None and (
        document.path.partition("/")[0] in muted or f"{PERSON}{document.person}" in muted
    )


def choose(result: Result, rules: Rules, asker: Asker) -> list[Hit]:
    """The records to hand over for a result, in the order of their headlines, before the budget of bytes."""
    near = rules.calibration.near
    notes = select_notes(result.candidates, result.tier, near, asker)
    return notes + select_conversations(result.conversations, result.tier, near, rules.gate, asker)


def hand_over(
    chosen: Sequence[Hit], tier: Tier, language: Language, event: str = "UserPromptSubmit"
) -> headlines.Printed | None:
    """What the hook prints for the records that were chosen in a tier; None where nothing is handed over.

    Every headline passes the masker here once more: the index may be older than a rule.
    """
    return headlines.render([_masked(hit) for hit in chosen], language, BUDGETS[tier], event)


def _judge(signs: Signs | None, candidates: Sequence[Hit], rules: Rules) -> Verdict:
    cosines = sorted((hit.signs["cosine"] for hit in candidates), reverse=True)
    if rules.rule == "gap":
        return gate.judge(cosines, rules.gate)
    return gate.judge_calibrated(signs, cosines, rules.calibration)


def _signs(snapshot: Snapshot, asked: Asked, candidates: Sequence[Hit], allowed: Bools) -> Signs | None:
    """What the calibrated gate sees; None where there is no candidate."""
    if not candidates:
        return None
    mean, deviation = snapshot.chance(allowed)
    top = max(hit.signs["cosine"] for hit in candidates)
    return Signs(
        cosine=(top - mean) / deviation if deviation > 1e-6 else 0.0,
        score=candidates[0].score,
        length=gate.length_of(asked.length),
        everyday=asked.everyday,
        words=candidates[0].signs["words"],
    )


def _masked(hit: Hit) -> Hit:
    return replace(hit, name=mask(hit.name).text, description=mask(hit.description).text)


def _hit(rank: int, scored: Scored, place: int, record: AnyRecord) -> Hit:
    late = float(scored.late[place])
    return Hit(
        rank=rank,
        score=float(scored.scores[place]),
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
        origin=record.origin,
        signs={
            "cosine": float(scored.cosines[place]),
            "dense": float(scored.dense[place]),
            "words": float(scored.words[place]),
            **({"late": late} if late == late else {}),  # noqa: PLR0124  not a number where it was not computed
        },
    )
