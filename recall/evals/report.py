"""Tables of an evaluation, as lines of text that a README can carry."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from recall.evals.calibrate import Point
from recall.evals.curve import Choice
from recall.evals.measure import Outcome
from recall.evals.metrics import Ranking, share, summarize


def ranking_table(outcomes: Sequence[Outcome]) -> list[str]:
    """Rows of hit@1, hit@3, hit@5 and MRR: all questions, each corpus, each pair of languages.

    The second four columns count documents that a fair judge would accept as right, too.
    """
    lines = [
        "| questions | number | hit@1 | hit@3 | hit@5 | MRR | accepted: hit@1 | hit@3 | hit@5 | MRR |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for label, group in _groups(outcome for outcome in outcomes if not outcome.unrelated):
        figures = [
            figure
            for ranks in ([outcome.rank for outcome in group], [outcome.lenient_rank for outcome in group])
            for figure in _figures(summarize(ranks))
        ]
        lines.append(f"| {label} | {len(group)} | " + " | ".join(f"{figure:.2f}" for figure in figures) + " |")
    return lines


def gate_table(outcomes: Sequence[Outcome]) -> list[str]:
    """What the gate did, over all and by corpus: silence kept, notes handed over, of these the relevant ones."""
    lines = [
        "| corpus | unrelated that get nothing | near misses that get nothing | questions that get their note "
        "| of those with it in the top three | questions that get anything |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for label, group in _by(outcomes, lambda outcome: outcome.corpus):
        questions = [outcome for outcome in group if not outcome.unrelated]
        found = [outcome for outcome in questions if outcome.rank is not None and outcome.rank <= 3]
        figures = (
            share(outcome.line is None for outcome in group if outcome.unrelated and not outcome.question.hard),
            share(outcome.line is None for outcome in group if outcome.unrelated and outcome.question.hard),
            share(outcome.handed for outcome in questions),
            share(outcome.handed for outcome in found),
            share(outcome.line is not None for outcome in questions),
        )
        lines.append(f"| {label} | " + " | ".join(f"{figure:.0%}" for figure in figures) + " |")
    return lines


def curve_table(points: Mapping[str, Point]) -> list[str]:
    """Choices of floor and weak, each under its label."""
    lines = [
        "| choice | floor | weak | questions that get their note | of those with it in the top three "
        "| unrelated that get anything | near misses that get anything |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for label, point in points.items():
        shares = (point.handed, point.of_found, point.plain, point.hard)
        lines.append(
            f"| {label} | {point.floor:.3f} | {point.weak:.3f} | " + " | ".join(f"{s:.0%}" for s in shares) + " |"
        )
    return lines


def comparison_table(outcomes: Sequence[Outcome]) -> list[str]:
    """The product's ranking and, from the same run, the plain one by the cosine of the best chunk."""
    lines = [
        "| questions | number | method | hit@1 | hit@3 | hit@5 | MRR |",
        "| --- | ---: | --- | ---: | ---: | ---: | ---: |",
    ]
    for label, group in _by([outcome for outcome in outcomes if not outcome.unrelated], lambda outcome: outcome.corpus):
        for method, ranks in (("recall", [o.rank for o in group]), ("plain", [o.plain_rank for o in group])):
            figures = " | ".join(f"{figure:.2f}" for figure in _figures(summarize(ranks)))
            lines.append(f"| {label} | {len(group)} | {method} | {figures} |")
    return lines


def name_table(with_letters: Sequence[Outcome], without: Sequence[Outcome]) -> list[str]:
    """Questions about identifiers, with the search by letters and without it."""
    lines = [
        "| questions about an identifier | number | hit@1 | hit@3 | hit@5 | MRR | get their note |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for label, outcomes in (("with search by letters", with_letters), ("without", without)):
        figures = " | ".join(f"{figure:.2f}" for figure in _figures(summarize([one.rank for one in outcomes])))
        handed = share(outcome.handed for outcome in outcomes)
        lines.append(f"| {label} | {len(outcomes)} | {figures} | {handed:.0%} |")
    return lines


def choice_table(choices: Mapping[str, Choice]) -> list[str]:
    """Thresholds of the calibrated gate, each under its label."""
    lines = [
        "| choice | probability | questions with their note in the top three that get it "
        "| unrelated that get anything | near misses that get anything |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for label, found in choices.items():
        shares = " | ".join(f"{share:.0%}" for share in (found.of_found, found.plain, found.hard))
        lines.append(f"| {label} | {'' if found.threshold is None else f'{found.threshold:.2f}'} | {shares} |")
    return lines


def examples(outcomes: Sequence[Outcome], number: int) -> list[str]:
    """The best ranked questions of each pair of languages, with the record that was found."""
    lines = ["| languages | question | rank | record |", "| --- | --- | ---: | --- |"]
    found = [outcome for outcome in outcomes if outcome.rank is not None and not outcome.unrelated]
    for pair, group in _by(found, lambda outcome: outcome.question.pair)[1:]:
        for outcome in sorted(group, key=lambda outcome: outcome.rank or 0)[:number]:
            hit = outcome.result.hits[(outcome.rank or 1) - 1]
            lines.append(f"| {pair} | {outcome.question.query} | {hit.rank} | {hit.name} |")
    return lines


def _figures(ranking: Ranking) -> tuple[float, float, float, float]:
    return ranking.hit_at_1, ranking.hit_at_3, ranking.hit_at_5, ranking.mrr


def _groups(questions: Iterable[Outcome]) -> list[tuple[str, list[Outcome]]]:
    """All questions, then each corpus, then each pair of languages."""
    listed = list(questions)
    return _by(listed, lambda outcome: outcome.corpus) + _by(listed, lambda outcome: outcome.question.pair)[1:]


def _by(outcomes: Sequence[Outcome], key: Callable[[Outcome], str]) -> list[tuple[str, list[Outcome]]]:
    """All of them under `all`, then those of each key."""
    labels = sorted({key(outcome) for outcome in outcomes})
    return [("all", list(outcomes))] + [(label, [o for o in outcomes if key(o) == label]) for label in labels]
