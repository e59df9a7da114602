"""Reasons: every word that the product writes has a sentence."""

from typing import get_args

import pytest

from recall.daemon.prompt import Message, reason_to_skip
from recall.insight.reasons import NO_ANSWER, NOT_SEARCHED, SEARCHED, in_words
from recall.search.gate import Reason


def test_every_reason_of_the_gate_has_a_sentence() -> None:
    assert set(get_args(Reason)) <= SEARCHED.keys()


@pytest.mark.parametrize(
    "message",
    [
        None,
        Message("a question", event="SessionStart"),
        Message("a question", agent="a-1"),
        Message("<task-notification> done"),
        Message("/clear"),
        Message("what about it? #norecall"),
        Message("ok"),
        Message('  File "/srv/app/worker.py", line 88, in run\n    self.handle(job)\n' * 20),
    ],
)
def test_every_reason_not_to_search_has_a_sentence(message: Message | None) -> None:
    assert reason_to_skip(message, 5) in NOT_SEARCHED


def test_one_code_means_one_thing_in_each_journal_and_an_unknown_one_itself() -> None:
    assert in_words("unreadable") == NOT_SEARCHED["unreadable"]
    assert in_words("unreadable", answered=False) == NO_ANSWER["unreadable"]
    assert in_words("timeout", answered=False) == in_words("timeout")
    assert in_words("of tomorrow") == "of tomorrow"
    assert SEARCHED.keys().isdisjoint(NOT_SEARCHED)
