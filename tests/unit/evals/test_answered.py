"""What one message got, from the daemon's replies and from memory, and the figures and pages made of it."""

from collections.abc import Mapping
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest

from recall.core.types import Document
from recall.evals.answered import Answered, Ranker, ask_daemon
from recall.evals.picture import advice, run_page, tune_page
from recall.evals.questions import Question
from recall.evals.records import records_of
from recall.evals.summary import figures, lines, rankings, speech
from recall.evals.tune import Case, case_of, propose

THRESHOLDS = {"some": 0.5, "strong": 0.75}


def rule(path: str, group: str | None = None, body: str = "") -> Document:
    return Document("knowledge", path, "/p", path, "", body, group=group)


RECORDS = records_of([rule("/1.en.md", "1", "retention of logs"), rule("/1.ja.md", "1"), rule("/2.md"), rule("/3.md")])
QUESTION = Question("q", "how long are logs kept?", "en", frozenset({"/1.ja.md"}), note_lang="ja")


def hit(path: str, cosine: float, kind: str = "knowledge", **fields: object) -> dict[str, object]:
    return {"path": path, "name": path, "kind": kind, "score": 1.5, "signs": {"cosine": cosine}, **fields}


def daemon(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """Replies as the daemon gives them."""
    assert fields["question"] == QUESTION.query
    common = {"tier": "some", "reason": "likely", "probability": 0.7, "top": 0.9, "gap": 0.02, "ms": 7.0}
    found = [hit("/2.md", 0.8), hit("/c", 0.99, "conversation"), hit("/1.en.md", 0.9, group="1"), hit("/3.md", 0.95)]
    if fields.get("auto"):
        return common | {"hits": [found[0], found[2]], "additional_context": "a\nログ"}
    assert fields["limit"] == 1000
    return common | {"hits": found}


def test_a_message_has_the_ranks_of_every_method_and_what_the_hook_would_hand_over() -> None:
    found = ask_daemon(QUESTION, daemon, "/p", Ranker(RECORDS))
    assert found.ranks == {"recall": 2, "plain": 2, "bm25": 1, "grep": 1}
    assert found.handed  # in its other language
    assert found.verdict == "its note"
    assert found.above == ("/2.md",)
    assert found.shown == ("/2.md", "/1.en.md")
    printed = '{"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "a\\nログ"}}\n'
    assert found.size == len(printed.encode())


def test_a_message_without_answer_has_no_ranks() -> None:
    found = ask_daemon(replace(QUESTION, relevant=frozenset()), daemon, None, Ranker(RECORDS))
    assert (found.ranks, found.handed, found.verdict) == ({}, False, "false speech")
    assert found.above == ("/2.md", "/1.en.md", "/3.md")


def answered(rank: int | None, *, relevant: bool = True, hard: bool = False, size: int = 0, p: float = 0.1) -> Answered:
    names = frozenset({"/1.ja.md"} if relevant else ())
    question = replace(QUESTION, query="<b>何</b> \u202e?", relevant=names, hard=hard)
    ranks = dict.fromkeys(("recall", "plain", "bm25", "grep"), rank) if relevant else {}
    handed = relevant and size > 0 and rank == 1
    return Answered(question, "none", "unlikely", p, 0.9, 0.1, 1.0, ranks, ("<i>x",), ("y",), handed, size, 5.0)


SET = [
    answered(1, size=100, p=0.9),
    answered(2),
    answered(None, size=50, p=0.6),
    answered(None, relevant=False),
    answered(None, relevant=False, size=70, p=0.6),
    answered(None, relevant=False, hard=True, size=80, p=0.7),
]


def test_speech_counts_what_was_said_and_what_should_not_have_been() -> None:
    found = speech(SET)
    assert (found.questions, found.found, found.handed, found.handed_found, found.spoken) == (3, 2, 1, 1, 2)
    assert (found.plain, found.plain_spoken, found.hard, found.hard_spoken) == (2, 1, 1, 1)
    assert (found.bytes_median, found.bytes_most) == (75, 100)
    assert speech([]).bytes_median == 0


def test_every_pair_of_languages_has_every_method() -> None:
    rows = rankings(SET)
    assert [(row.languages, row.method) for row in rows[:5]] == [
        ("all", "recall"),
        ("all", "plain"),
        ("all", "bm25"),
        ("all", "grep"),
        ("en->ja", "recall"),
    ]
    assert rows[0].ranking.mrr == pytest.approx(0.5)


def test_the_lines_name_each_message_without_control_characters() -> None:
    text = "\n".join(lines(SET))
    assert "\u202e" not in text
    assert text.count("<b>何</b> ?") == len(SET)
    assert "false speech: 1 of 2 (50%) unrelated messages, 1 of 1 (100%) near misses" in text
    assert "recall; the best of the others is plain with 2" in text
    assert len(figures(SET)["messages"]) == len(SET)


def test_only_unrelated_messages_can_be_asked_too() -> None:
    text = "\n".join(lines(SET[3:]))
    assert "false speech" in text
    assert "hit@1" not in text


class Page(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        assert not [value for name, value in attrs if name in ("src", "href")]

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_the_page_shows_distributions_thresholds_ranks_and_misses() -> None:
    found = Page(run_page(SET, "calibrated", THRESHOLDS, "about <these>"))
    assert not {"b", "i", "script"} & set(found.tags)
    assert {"some 0.5", "strong 0.75", "about <these>", "not found", "near misses"} <= set(found.texts)
    assert found.texts.count("<b>何</b> ?") == len(SET) + 2 + 2  # all; two misses; two that spoke
    gap = Page(run_page(SET, "gap", {"floor": 0.5, "weak": 0.01, "strong": 0.3}, ""))
    assert {"floor 0.5", "weak 0.01", "strong 0.3"} <= set(gap.texts)


def test_a_page_of_unrelated_messages_alone_holds() -> None:
    assert "Nowhere." in Page(run_page(SET[3:4], "calibrated", THRESHOLDS, "")).texts


def test_the_page_of_a_proposal_shows_before_and_after() -> None:
    cases = [case_of(one) for one in SET] * 4
    cases += [Case(0.05, 0.8, 0.01, question=number % 2 == 0, found=number % 2 == 0) for number in range(20)]
    proposal = propose(cases, "calibrated", THRESHOLDS)
    found = Page(tune_page(proposal, "about"))
    assert {"some today 0.5", "strong today 0.75", advice(proposal), "proposed, judged"} <= set(found.texts)
    assert "keep" not in advice(replace(proposal, before=proposal.after))
