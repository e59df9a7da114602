"""What one message got, beside what other methods find for it: from the running daemon, or from a corpus in memory."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from recall.core.types import Tier
from recall.evals.baselines import Baselines, distinct
from recall.evals.measure import Outcome
from recall.evals.metrics import rank_of
from recall.evals.questions import Question
from recall.evals.records import Records, unit_of
from recall.search.select import MAX_NOTES
from recall.text.clean import one_line

#: The product, the cosine of the best chunk alone, BM25 over words and pairs of characters, and what a person greps.
METHODS = ("recall", "plain", "bm25", "grep")
#: So many of the records above the right one are named.
_ABOVE = 5

#: Asks the daemon: the fields of its verb `query` in, its reply out.
Ask = Callable[[Mapping[str, Any]], Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Answered:
    """One message and what came of it. `ranks` are those of its right record by each of METHODS, empty for a message
    that no note answers.

    `above` names the best records that stood above the right one, or the best there were for a message without; `shown`
    what the hook would have handed over, `handed` whether the right record is in it. `size` is that of the hook's line
    in bytes, `ms` what the answer took: all of it in the daemon, the search alone in memory.
    """

    question: Question
    tier: Tier
    reason: str
    probability: float
    top: float
    gap: float
    score: float
    ranks: Mapping[str, int | None]
    above: tuple[str, ...]
    shown: tuple[str, ...]
    handed: bool
    size: int
    ms: float

    @property
    def unrelated(self) -> bool:
        """Whether silence is the right answer."""
        return not self.question.relevant

    @property
    def searched(self) -> bool:
        """Whether the records were searched for it; the hook leaves out commands and the shortest messages."""
        return self.top != 0

    @property
    def spoke(self) -> bool:
        """Whether anything was handed over."""
        return self.size > 0

    @property
    def found(self) -> bool:
        """Whether the right record is among those that could be handed over."""
        rank = self.ranks.get("recall")
        return rank is not None and rank <= MAX_NOTES

    @property
    def verdict(self) -> str:
        """What to think of it, in a few words."""
        if self.unrelated:
            return "false speech" if self.spoke else "rightly silent"
        if self.handed:
            return "its note"
        return "other notes" if self.spoke else "silent"


class Ranker:
    """The ranks of the right record by every method."""

    def __init__(self, records: Records) -> None:
        self._records = records
        self._baselines = Baselines(records.texts)

    def ranks(self, question: Question, hits: Sequence[Mapping[str, Any]]) -> dict[str, int | None]:
        """By each of METHODS; `hits` are the product's, best first, with `path`, `group` and `signs`."""
        if not question.relevant:
            return {}
        wanted = {self._records.unit_of(path) for path in question.relevant}
        plain = sorted(hits, key=lambda hit: -hit["signs"]["cosine"])
        return {
            "recall": rank_of(wanted, _units(hits)),
            "plain": rank_of(wanted, _units(plain)),
            "bm25": rank_of(wanted, self._baselines.bm25(question.query)),
            "grep": rank_of(wanted, self._baselines.grep(question.query)),
        }

    def shown_right(self, question: Question, hits: Sequence[Mapping[str, Any]]) -> bool:
        """Whether a right record is among these."""
        wanted = {self._records.unit_of(path) for path in question.relevant}
        return not wanted.isdisjoint(_units(hits))


def ask_daemon(question: Question, ask: Ask, cwd: str | None, ranker: Ranker) -> Answered:
    """What a message gets from the daemon as if typed in `cwd`, and the ranks of all notes and rules for it."""
    asked = {"question": question.query, "cwd": cwd}
    auto = ask({**asked, "auto": True})
    hits = [hit for hit in ask({**asked, "limit": 1000})["hits"] if hit["kind"] != "conversation"]
    ranks = ranker.ranks(question, hits)
    return Answered(
        question=question,
        tier=auto["tier"],
        reason=auto["reason"],
        probability=auto["probability"],
        top=auto["top"],
        gap=auto["gap"],
        score=hits[0]["score"] if hits else 0.0,
        ranks=ranks,
        above=_above(hits, ranks.get("recall")),
        shown=tuple(hit["name"] for hit in auto["hits"]),
        handed=ranker.shown_right(question, auto["hits"]),
        size=_printed_bytes(auto["additional_context"]),
        ms=auto["ms"],
    )


def of_outcome(outcome: Outcome, ranker: Ranker, folder: Path) -> Answered:
    """What a message got in a corpus under `folder`; its outcome's question names records relative to that."""
    result, question = outcome.result, outcome.question
    hits = [{"path": hit.path, "group": hit.group, "name": hit.name, "signs": hit.signs} for hit in result.hits]
    located = frozenset(str(folder / path) for path in question.relevant)
    ranks = ranker.ranks(replace(question, relevant=located), hits)
    printed = outcome.line or ""
    context = json.loads(printed)["hookSpecificOutput"]["additionalContext"] if printed else ""
    return Answered(
        question=question,
        tier=result.tier if outcome.searched else "none",
        reason=result.reason if outcome.searched else "short",
        probability=result.probability if outcome.searched else 0.0,
        top=result.top if outcome.searched else 0.0,
        gap=result.gap if outcome.searched else 0.0,
        score=result.hits[0].score if result.hits else 0.0,
        ranks=ranks,
        above=_above(hits, ranks.get("recall")),
        shown=tuple(hit.name for hit in result.candidates if f"({one_line(hit.path)})" in context),
        handed=outcome.handed,
        size=len(printed.encode()),
        ms=1000 * outcome.seconds,
    )


def _units(hits: Sequence[Mapping[str, Any]]) -> list[str]:
    return distinct(unit_of(hit["path"], hit.get("group")) for hit in hits)


def _above(hits: Sequence[Mapping[str, Any]], rank: int | None) -> tuple[str, ...]:
    return tuple(hit["name"] for hit in hits[: min(_ABOVE, rank - 1 if rank else _ABOVE)])


def _printed_bytes(context: str | None) -> int:
    """The size of the line that the hook prints for a context."""
    if context is None:
        return 0
    output = {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": context}}
    return len(json.dumps(output, ensure_ascii=False).encode()) + 1
