"""At which step a record falls: every step, in its order."""

from dataclasses import replace

import pytest

from recall.insight.decisions import Ranked
from recall.insight.fall import Asked, Place, cause, fall

PLACE = Place("/n/5.md", exists=True)
RANKED = [Ranked(f"/n/{number}.md", "memory", 6.0 - number) for number in range(1, 13)]
ASKED = Asked(RANKED, "some", "likely", ["/n/1.md", "/n/2.md", "/n/3.md"], near=0.6)


def step(place: Place, asked: Asked | None = ASKED) -> str:
    """The name of the step that fails, "" where none does."""
    failed = cause(fall(place, asked, {}))
    return failed.name if failed else ""


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"exists": False}, "file"),
        ({"missing": "it was skipped: is empty"}, "index"),
        ({"outside": "the project other"}, "project"),
        ({"muted": "it is muted"}, "mute"),
        ({"instead": "its successor"}, "version"),
        ({"held": True}, "session"),
    ],
)
def test_what_fails_before_a_message_is_the_first_cause(change: dict[str, object], name: str) -> None:
    assert step(replace(PLACE, **change)) == name  # type: ignore[arg-type]


def test_the_earlier_of_two_causes_is_told_first_and_both_are_listed() -> None:
    steps = fall(replace(PLACE, muted="muted", held=True), ASKED, {})
    assert [s.name for s in steps if s.ok is False] == ["mute", "session", "rank"]


def test_a_message_that_is_not_searched_ranks_nothing() -> None:
    assert step(PLACE, replace(ASKED, tier="none", reason="short", handed=[])) == "message"


def test_a_record_behind_three_others_falls_at_its_rank_and_they_are_named() -> None:
    failed = cause(fall(PLACE, ASKED, {"/n/1.md": "first note"}))
    assert failed is not None
    assert failed.name == "rank"
    assert failed.words.startswith(
        "rank 5, score 1.00, behind first note (5.00); /n/2.md (4.00); /n/3.md (3.00) and 1 more"
    )


def test_what_the_session_was_shown_before_stands_in_nobodys_way() -> None:
    asked = replace(ASKED, shown=frozenset({"/n/1.md", "/n/2.md"}), tier="none", reason="unlikely", handed=[])
    assert step(PLACE, asked) == "gate"


def test_silence_is_the_gates_and_says_why() -> None:
    failed = cause(fall(replace(PLACE, path="/n/1.md"), replace(ASKED, tier="none", reason="unlikely", handed=[]), {}))
    assert failed is not None
    assert failed.name == "gate"
    assert "unlikely" in failed.words


def test_in_the_strong_tier_a_record_may_stand_too_far_below_the_top() -> None:
    failed = cause(fall(replace(PLACE, path="/n/2.md"), replace(ASKED, tier="strong", handed=["/n/1.md"]), {}))
    assert failed is not None
    assert failed.name == "place"
    assert "1.00 below the top" in failed.words


def test_a_near_record_that_is_not_handed_over_was_cut() -> None:
    failed = cause(fall(replace(PLACE, path="/n/3.md"), replace(ASKED, handed=["/n/1.md"]), {}))
    assert failed is not None
    assert failed.name == "place"
    assert "bytes" in failed.words


def test_a_record_that_is_handed_over_falls_nowhere() -> None:
    steps = fall(replace(PLACE, path="/n/2.md"), ASKED, {})
    assert cause(steps) is None
    assert steps[-1].words == "it is shown, as number 2"


def test_a_conversation_comes_along_only_in_the_strong_tier() -> None:
    asked = replace(ASKED, is_conversation=True, handed=[])
    weak = cause(fall(replace(PLACE, path="/n/1.md"), asked, {}))
    strong = cause(fall(replace(PLACE, path="/n/1.md"), replace(asked, tier="strong", reason="very likely"), {}))
    assert weak is not None
    assert strong is not None
    assert weak.name == strong.name == "place"
    assert "very likely wanted" in weak.words
    assert "at most two" in strong.words
