"""Pages of an evaluation: how far answerable and unrelated messages lie apart, where notes stand, and every miss."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePath

from recall.evals.answered import METHODS, Answered
from recall.evals.summary import rankings, speech, speech_lines, worth
from recall.evals.tune import Case, Effect, Proposal
from recall.pages.page import Markup, Value, page, paragraph, section, table
from recall.pages.pictures import bars, histogram
from recall.search.gate import Rule

#: Ranks that are counted together, by their last one.
_RANKS = (("1", 1), ("2", 2), ("3", 3), ("4-5", 5), ("6-10", 10), ("11-30", 30))
_LATER, _NEVER = "later", "not found"
#: What each rule decides by, as Answered and Case name it, with the thresholds that belong on its axis.
_AXES: dict[Rule, dict[str, tuple[str, ...]]] = {
    "calibrated": {"probability": ("some", "strong")},
    "gap": {"top": ("floor",), "gap": ("weak", "strong")},
}


def run_page(answered: Sequence[Answered], rule: Rule, thresholds: Mapping[str, float], about: str) -> str:
    """The page of `recall eval run`. `thresholds` by their names, as the gate has them today; `about` one line on model
    and records."""
    asked = [one for one in answered if not one.unrelated]
    sections = [
        section("In short", about, *([worth(answered)] if asked else []), *speech_lines(speech(answered))),
        section("Answerable against unrelated", *_distributions(answered, rule, thresholds)),
    ]
    if asked:
        sections += [_ranking_section(answered), _misses(asked)]
    sections += [_false_speech(answered), _every_message(answered)]
    return page("recall: an evaluation on your own questions", sections)


def tune_page(proposal: Proposal, about: str) -> str:
    """The page of `recall eval tune`."""
    pictures: list[Markup] = []
    for sign, names in _AXES[proposal.rule].items():
        lines = {f"{name} today": proposal.before[name] for name in names}
        lines |= {f"{name} proposed": proposal.after[name] for name in names}
        pictures.append(histogram(_parts(proposal.cases, sign), lines, caption=sign))
    thresholds = table(
        ["threshold", "today", "proposed"],
        [[name, f"{proposal.before[name]:.4g}", f"{value:.4g}"] for name, value in proposal.after.items()],
    )
    return page(
        "recall: thresholds from your own questions",
        [
            section("Proposal", about, advice(proposal), thresholds),
            section("Before and after", table(EFFECT_HEAD, effect_rows(proposal)), paragraph(HONEST)),
            section("What the gate decides by", *pictures),
        ],
    )


#: What the rows of `effect_rows` mean.
HONEST = (
    "Judged: each message under thresholds that were found without it. What stands under proposed flatters, for those "
    "thresholds were found on the same messages."
)
EFFECT_HEAD = (
    "thresholds",
    "get their note, of those with it in the first three",
    "get their note, of all questions",
    "unrelated that get anything",
    "near misses that get anything",
    "unrelated that get much",
)


def effect_rows(proposal: Proposal) -> list[list[str]]:
    """Rows under EFFECT_HEAD: today, proposed, and proposed as it is judged."""

    def row(label: str, effect: Effect) -> list[str]:
        shares = (effect.of_found, effect.handed, effect.plain, effect.hard, effect.much)
        return [label, *(f"{share:.0%}" for share in shares)]

    return [
        row("today", proposal.now),
        row("proposed, on the messages it was found on", proposal.fitted),
        row("proposed, judged", proposal.judged),
    ]


def advice(proposal: Proposal) -> str:
    """One sentence on what to do with a proposal."""
    if dict(proposal.before) == dict(proposal.after):
        return "Today's thresholds are the ones that would be proposed."
    if proposal.is_better:
        return "The proposal does better than today's thresholds on messages that it was not found on."
    return "The proposal does no better than today's thresholds on messages that it was not found on: keep today's."


def _distributions(answered: Sequence[Answered], rule: Rule, thresholds: Mapping[str, float]) -> list[Markup]:
    drawn = {sign: {name: thresholds[name] for name in names} for sign, names in _AXES[rule].items()}
    return [
        histogram(_lanes(answered, lambda one: one.probability), drawn.get("probability"), caption="probability"),
        histogram(_lanes(answered, lambda one: one.score), caption="score of the best record, in deviations"),
        histogram(_lanes(answered, lambda one: one.top), drawn.get("top"), caption="top cosine"),
        histogram(_lanes(answered, lambda one: one.gap), drawn.get("gap"), caption="gap of the top cosine"),
    ]


def _lanes(answered: Sequence[Answered], value: Callable[[Answered], float]) -> dict[str, list[float]]:
    lanes: dict[str, Callable[[Answered], bool]] = {
        "answerable, note found": lambda one: not one.unrelated and one.found,
        "answerable, note missed": lambda one: not one.unrelated and not one.found,
        "unrelated": lambda one: one.unrelated and not one.question.hard,
        "near misses": lambda one: one.unrelated and one.question.hard,
    }
    found = {
        label: [value(one) for one in answered if one.searched and belongs(one)] for label, belongs in lanes.items()
    }
    return {label: values for label, values in found.items() if values}


def _parts(cases: Sequence[Case], sign: str) -> dict[str, list[float]]:
    lanes = {
        "answerable, note found": [case for case in cases if case.found],
        "answerable, note missed": [case for case in cases if case.question and not case.found],
        "unrelated": [case for case in cases if not case.question and not case.hard],
        "near misses": [case for case in cases if not case.question and case.hard],
    }
    return {label: [float(getattr(case, sign)) for case in group] for label, group in lanes.items() if group}


def _ranking_section(answered: Sequence[Answered]) -> Markup:
    rows: list[list[Value]] = [
        [
            row.languages,
            row.ranking.questions,
            row.method,
            *(f"{figure:.2f}" for figure in (row.ranking.hit_at_1, row.ranking.hit_at_3, row.ranking.mrr)),
        ]
        for row in rankings(answered)
    ]
    asked = [one for one in answered if not one.unrelated]
    labels = [*(label for label, _ in _RANKS), _LATER, _NEVER]
    counts = {method: _rank_counts([one.ranks[method] for one in asked]) for method in METHODS}
    return section(
        "Where the right note stands",
        bars(labels, counts, caption="questions by the rank of their note"),
        table(["languages", "questions", "method", "hit@1", "hit@3", "MRR"], rows),
    )


def _rank_counts(ranks: Sequence[int | None]) -> list[float]:
    counts = dict.fromkeys([*(label for label, _ in _RANKS), _LATER, _NEVER], 0.0)
    for rank in ranks:
        label = _NEVER if rank is None else next((label for label, last in _RANKS if rank <= last), _LATER)
        counts[label] += 1
    return list(counts.values())


def _misses(asked: Sequence[Answered]) -> Markup:
    missed = [one for one in asked if not one.handed]
    rows = [
        [
            one.question.query,
            ", ".join(sorted(PurePath(path).name for path in one.question.relevant)),
            str(one.ranks["recall"] or "-"),
            f"{one.probability:.2f}",
            f"{one.verdict}: {one.reason}",
            " / ".join(one.above) or "nothing",
        ]
        for one in missed
    ]
    head = ["message", "its note", "rank", "probability", "what it got", "what stood above"]
    return section("Misses, one by one", table(head, rows) if rows else "Every question got its note.")


def _false_speech(answered: Sequence[Answered]) -> Markup:
    rows = [
        [
            one.question.query,
            "near miss" if one.question.hard else "unrelated",
            f"{one.probability:.2f}",
            " / ".join(one.shown),
        ]
        for one in answered
        if one.unrelated and one.spoke
    ]
    head = ["message", "kind", "probability", "what it got"]
    return section("Where it should have been silent", table(head, rows) if rows else "Nowhere.")


def _every_message(answered: Sequence[Answered]) -> Markup:
    head = ["id", "message", "verdict", "tier", "probability", "bytes", "ms"]
    rows: list[list[Value]] = [
        [
            one.question.id,
            one.question.query,
            one.verdict,
            one.tier,
            f"{one.probability:.2f}",
            one.size,
            f"{one.ms:.1f}",
        ]
        for one in answered
    ]
    return section("Every message", table(head, rows))
