"""The figures of an evaluation on a person's own questions: as values for JSON and the page, and as lines to read."""

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from recall.evals.answered import METHODS, Answered
from recall.evals.metrics import Ranking, share, summarize
from recall.text.clean import ELLIPSIS, one_line, whole

#: So much of a message is printed in its line.
_MESSAGE_CHARACTERS = 70


@dataclass(frozen=True, slots=True)
class Row:
    """A method's ranking on the questions of one pair of languages, `all` of them in the first rows."""

    languages: str
    method: str
    ranking: Ranking


@dataclass(frozen=True, slots=True)
class Speech:
    """How often something is handed over; counts of messages, sizes in bytes, times in milliseconds."""

    questions: int
    found: int
    handed: int
    handed_found: int
    spoken: int
    plain: int
    plain_spoken: int
    hard: int
    hard_spoken: int
    bytes_median: float
    bytes_most: int
    ms_median: float
    ms_most: float


def rankings(answered: Sequence[Answered]) -> list[Row]:
    """hit@1, hit@3 and MRR of every method, over all questions and for each pair of languages."""
    asked = [one for one in answered if not one.unrelated]
    pairs = sorted({one.question.pair for one in asked})
    groups = [("all", asked), *((pair, [one for one in asked if one.question.pair == pair]) for pair in pairs)]
    return [
        Row(label, method, summarize([one.ranks[method] for one in group]))
        for label, group in groups
        for method in METHODS
    ]


def speech(answered: Sequence[Answered]) -> Speech:
    """What was said, and what should not have been."""
    asked = [one for one in answered if not one.unrelated]
    plain = [one for one in answered if one.unrelated and not one.question.hard]
    hard = [one for one in answered if one.unrelated and one.question.hard]
    sizes = [one.size for one in answered if one.spoke]
    times = [one.ms for one in answered]
    return Speech(
        questions=len(asked),
        found=sum(one.found for one in asked),
        handed=sum(one.handed for one in asked),
        handed_found=sum(one.handed and one.found for one in asked),
        spoken=sum(one.spoke for one in asked),
        plain=len(plain),
        plain_spoken=sum(one.spoke for one in plain),
        hard=len(hard),
        hard_spoken=sum(one.spoke for one in hard),
        bytes_median=statistics.median(sizes) if sizes else 0.0,
        bytes_most=max(sizes, default=0),
        ms_median=statistics.median(times) if times else 0.0,
        ms_most=max(times, default=0.0),
    )


def figures(answered: Sequence[Answered]) -> dict[str, Any]:
    """All of it as JSON shows it. The messages are the question file's own."""
    return {
        "rankings": [
            {
                "languages": row.languages,
                "method": row.method,
                "questions": row.ranking.questions,
                "hit_at_1": round(row.ranking.hit_at_1, 3),
                "hit_at_3": round(row.ranking.hit_at_3, 3),
                "mrr": round(row.ranking.mrr, 3),
            }
            for row in rankings(answered)
        ],
        "speech": asdict(speech(answered)),
        "messages": [
            {
                "id": one.question.id,
                "query": one.question.query,
                "relevant": sorted(one.question.relevant),
                "hard": one.question.hard,
                "verdict": one.verdict,
                "tier": one.tier,
                "reason": one.reason,
                "probability": round(one.probability, 3),
                "top": round(one.top, 4),
                "gap": round(one.gap, 4),
                "ranks": dict(one.ranks),
                "above": list(one.above),
                "shown": list(one.shown),
                "bytes": one.size,
                "ms": round(one.ms, 1),
            }
            for one in answered
        ],
    }


def lines(answered: Sequence[Answered]) -> Iterator[str]:
    """The evaluation as a person reads it in a terminal."""
    if any(not one.unrelated for one in answered):
        yield from table(["languages", "questions", "method", "hit@1", "hit@3", "MRR"], _ranking_cells(answered))
        yield ""
        yield worth(answered)
        yield ""
    yield from (_message_line(one) for one in answered)
    yield ""
    yield from speech_lines(speech(answered))


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Columns of one width each, as far apart as the longest cell asks for."""
    widths = [max(len(row[column]) for row in [head, *rows]) for column in range(len(head))]
    for row in [head, *rows]:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def worth(answered: Sequence[Answered]) -> str:
    """One sentence on whether search by meaning earns its place on these questions."""
    asked = [one for one in answered if not one.unrelated]
    within = {method: sum((one.ranks[method] or 4) <= 3 for one in asked) for method in METHODS}
    other = max(METHODS[1:], key=lambda method: within[method])
    return (
        f"in the first three: {within['recall']} of {len(asked)} by recall; the best of the others is {other} "
        f"with {within[other]}"
    )


def speech_lines(found: Speech) -> Iterator[str]:
    """What was said, in words."""
    if found.questions:
        yield f"questions that get their note: {_of(found.handed, found.questions)}"
        yield f"of those with it in the first three: {_of(found.handed_found, found.found)}"
        yield f"questions that get anything: {_of(found.spoken, found.questions)}"
    yield (
        f"false speech: {_of(found.plain_spoken, found.plain)} unrelated messages, "
        f"{_of(found.hard_spoken, found.hard)} near misses"
    )
    yield f"bytes when something is said: median {found.bytes_median:.0f}, most {found.bytes_most}"
    yield f"ms: median {found.ms_median:.1f}, most {found.ms_most:.1f}"


def _ranking_cells(answered: Sequence[Answered]) -> list[list[str]]:
    return [
        [row.languages, str(row.ranking.questions), row.method]
        + [f"{figure:.2f}" for figure in (row.ranking.hit_at_1, row.ranking.hit_at_3, row.ranking.mrr)]
        for row in rankings(answered)
    ]


def _message_line(one: Answered) -> str:
    message = one_line(one.question.query)
    if len(message) > _MESSAGE_CHARACTERS:
        message = whole(message, _MESSAGE_CHARACTERS - 1) + ELLIPSIS
    rank = "" if one.unrelated else f"rank {one.ranks['recall'] or '-'}"
    kind = "  (near miss)" if one.question.hard else ""
    return f"{one.verdict:<14}  {rank:<8}  {one.probability:4.2f}  {one.size:>4} B  {message}{kind}"


def _of(number: int, total: int) -> str:
    percent = f" ({share([True] * number + [False] * (total - number)):.0%})" if total else ""
    return f"{number} of {total}{percent}"
