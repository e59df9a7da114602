"""Tables of an evaluation."""

from recall.core.types import Hit
from recall.evals import curve
from recall.evals.calibrate import Point
from recall.evals.measure import Outcome
from recall.evals.questions import Question
from recall.evals.report import choice_table, comparison_table, curve_table, examples, gate_table, ranking_table
from recall.search.answer import Result


def _outcome(
    rank: int | None,
    *,
    relevant: bool = True,
    line: str | None = "x",
    handed: bool = False,
    probability: float = 0.0,
    hard: bool = False,
) -> Outcome:
    question = Question("q", "which one?", "en", frozenset({"a.md"} if relevant else ()), note_lang="ja", hard=hard)
    hits = tuple(Hit(place, 0.9, "memory", f"note-{place}", "", f"/{place}.md", "") for place in range(1, 6))
    result = Result("some", 0.1, 0.9, "stands out", probability=probability, hits=hits, candidates=hits)
    return Outcome("notes", question, result, rank, rank, 2, True, line, handed, 0.01)


OUTCOMES = [
    _outcome(1, handed=True),
    _outcome(3),
    _outcome(None, line=None),
    _outcome(4, line=None),
    _outcome(None, relevant=False),
    _outcome(None, relevant=False, line=None),
]


def test_rankings_are_given_for_all_for_each_corpus_and_for_each_pair_of_languages() -> None:
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in ranking_table(OUTCOMES)[2:]]
    assert [row[0] for row in rows] == ["all", "notes", "en->ja"]
    assert rows[0][1:6] == ["4", "0.25", "0.50", "0.75", "0.40"]


def test_silence_and_handing_over_are_given_as_shares() -> None:
    row = [cell.strip() for cell in gate_table(OUTCOMES)[2].split("|")[1:-1]]
    assert row == ["all", "50%", "0%", "25%", "50%", "50%"]


def test_examples_show_the_record_at_the_rank_it_was_found() -> None:
    assert examples(OUTCOMES, 2)[2:] == ["| en->ja | which one? | 1 | note-1 |", "| en->ja | which one? | 3 | note-3 |"]


def test_choices_of_thresholds_are_listed_under_their_labels() -> None:
    point = Point(floor=0.854, weak=0.005, handed=0.21, of_found=0.7, plain=0.1, hard=0.27)
    assert curve_table({"at most 10%": point})[2:] == ["| at most 10% | 0.854 | 0.005 | 21% | 70% | 10% | 27% |"]


def test_the_plain_method_stands_beside_the_product() -> None:
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in comparison_table(OUTCOMES)[2:]]
    assert [row[:4] for row in rows[:2]] == [["all", "4", "recall", "0.25"], ["all", "4", "plain", "0.00"]]


def test_a_threshold_is_the_lowest_that_keeps_the_unrelated_out() -> None:
    def unrelated(*values: float, hard: bool = False) -> list[Outcome]:
        return [_outcome(None, relevant=False, probability=value, hard=hard) for value in values]

    found = [_outcome(rank, probability=value) for rank, value in ((1, 0.9), (3, 0.5), (2, 0.3), (4, 0.9))]
    outcomes = found + unrelated(0.1, 0.2, 0.4, 0.6) + unrelated(0.7, hard=True)
    assert curve.choose(outcomes, 0.0) > 0.6
    choice = curve.measure(outcomes, curve.choose(outcomes, 0.25))
    assert (choice.of_found, choice.plain, choice.hard) == (2 / 3, 0.25, 1.0)
    assert curve.choose(outcomes, 0.25, 0.0) > 0.7
    assert curve.choose(outcomes, 1.0) == 0.0
    both = curve.measure_all([(outcomes, 0.0), (outcomes, 1.1)])
    assert (both.threshold, both.of_found, both.plain, both.hard) == (None, 0.5, 0.5, 0.5)
    assert choice_table({"both": both})[2:] == ["| both |  | 50% | 50% | 50% |"]
    assert choice_table({"here": choice})[2] == "| here | 0.40 | 67% | 25% | 100% |"
