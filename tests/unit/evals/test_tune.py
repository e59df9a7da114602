"""Thresholds from questions: found within what is allowed, judged on messages that they were not found on."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.core.errors import UsageError
from recall.evals.tune import FOLDS, HARD, PLAIN, STRONG, Case, Effect, effect, folds, propose, tier
from recall.search.gate import Rule

BEFORE = {"some": 0.5, "strong": 0.75}
GAP_BEFORE = {"floor": 0.85, "weak": 0.02, "strong": 0.04}

shares = st.floats(0, 0.999, allow_nan=False)
cases = st.lists(
    st.builds(Case, probability=shares, top=shares, gap=shares, found=st.just(True), question=st.just(True)),
    min_size=10,
)
unrelated = st.lists(st.builds(Case, probability=shares, top=shares, gap=shares, hard=st.booleans()), min_size=10)


def apart() -> list[Case]:
    """Forty messages that a probability of 0.3 tells apart, and one in each part that it does not."""
    found = [Case(0.4 + number / 100, 0.9, 0.05, question=True, found=True) for number in range(19)]
    plain = [Case(0.2 - number / 100, 0.8, 0.01) for number in range(19)]
    return [*found, Case(0.1, 0.8, 0.01, question=True, found=True), *plain, Case(0.9, 0.95, 0.09)]


@given(cases, unrelated)
def test_the_proposal_keeps_to_what_is_allowed_where_it_was_found(asked: list[Case], others: list[Case]) -> None:
    for rule, before in (("calibrated", BEFORE), ("gap", GAP_BEFORE)):
        found = propose([*asked, *others], rule, before)  # type: ignore[arg-type]
        assert found.fitted.plain <= PLAIN
        assert found.fitted.hard <= HARD
        if rule == "calibrated":
            assert found.fitted.much <= STRONG
            assert found.after["some"] <= found.after["strong"]
        else:
            assert found.after["weak"] <= found.after["strong"]


def test_thresholds_stand_between_what_is_wanted_and_what_is_not() -> None:
    found = propose(apart(), "calibrated", BEFORE)
    assert 0.2 < found.after["some"] < 0.4 or found.after["some"] < 0.2
    assert found.fitted.of_found >= 0.95
    assert found.fitted.plain <= PLAIN
    assert found.is_better


def test_the_gap_rule_is_tuned_by_its_own_signs() -> None:
    found = propose(apart(), "gap", GAP_BEFORE)
    assert set(found.after) == {"floor", "weak", "strong"}
    assert found.fitted == effect(apart(), "gap", found.after)
    assert found.fitted.of_found == 0.95


def test_what_fits_by_chance_is_not_called_better() -> None:
    noise = [
        Case((number * 7919 % 101) / 101, 0.8, 0.01, question=number % 2 == 0, found=number % 2 == 0)
        for number in range(60)
    ]
    careful = propose(noise, "calibrated", {"some": 0.9, "strong": 0.95})
    assert not careful.is_better
    talkative = propose(noise, "calibrated", {"some": 0.5, "strong": 0.95})
    assert talkative.judged == careful.judged
    assert talkative.is_better  # it keeps to what is allowed, though nothing can be told apart here


def test_every_message_is_judged_once_and_kinds_are_spread() -> None:
    messages = [Case(0.1, 0.8, 0.01, question=number < 20, hard=number >= 35) for number in range(40)]
    parts = folds(messages, FOLDS, 3)
    assert sorted(place for part in parts for place in part) == list(range(40))
    assert [sum(messages[place].hard for place in part) for part in parts] == [1] * FOLDS
    assert [sum(messages[place].question for place in part) for part in parts] == [4] * FOLDS
    assert parts == folds(messages, FOLDS, 3) != folds(messages, FOLDS, 4)


@pytest.mark.parametrize(
    ("rule", "values", "expected"),
    [
        ("calibrated", {"some": 0.6, "strong": 0.9}, 0),
        ("calibrated", {"some": 0.5, "strong": 0.9}, 1),
        ("calibrated", {"some": 0.5, "strong": 0.5}, 2),
        ("gap", {"floor": 0.9, "weak": 0.01, "strong": 0.05}, 0),
        ("gap", {"floor": 0.8, "weak": 0.03, "strong": 0.05}, 0),
        ("gap", {"floor": 0.8, "weak": 0.02, "strong": 0.05}, 1),
        ("gap", {"floor": 0.8, "weak": 0.02, "strong": 0.02}, 2),
    ],
)
def test_tiers_follow_the_rule(rule: Rule, values: dict[str, float], expected: int) -> None:
    assert tier(Case(0.5, 0.8, 0.02), rule, values) == expected


def test_too_few_messages_are_refused() -> None:
    with pytest.raises(UsageError, match=r"at least 10 questions and 10 unrelated messages .* found 20 and 3"):
        propose([*apart()[:20], *apart()[-3:]], "calibrated", BEFORE)


def test_effects_are_shares_of_what_they_name() -> None:
    messages: Sequence[Case] = [
        Case(0.9, 1, 1, question=True, found=True),
        Case(0.1, 1, 1, question=True, found=True),
        Case(0.9, 1, 1, question=True),
        Case(0.9, 1, 1),
        Case(0.6, 1, 1, hard=True),
        Case(0.1, 1, 1, hard=True),
    ]
    assert effect(messages, "calibrated", BEFORE) == Effect(0.5, 1 / 3, 1.0, 0.5, 1 / 3)
