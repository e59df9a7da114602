"""Search on a snapshot, and the hook's line."""

import json
from collections.abc import Sequence

import pytest

from plain_model import LATE, QUESTION, source_of
from recall.core.types import SHARED, Document, Hit, Kind, Project
from recall.embed.manifest import Calibration, Gate, Weights
from recall.search.answer import Rules, ask, choose, hand_over, search
from recall.search.score import Source
from recall.search.select import Asker

GATE = Gate(floor=0.5, weak=0.025, strong=0.11, near=0.05)


RULES = Rules("gap", GATE, Calibration(near=0.05), Weights(dense=1.0))
ASKED = ask(QUESTION, LATE, "which of them is it?")
SHOP = Project("/shop", "shop")


def _snapshot(*records: tuple[Kind, str, float]) -> Source:
    """Documents of one chunk each: kind, project and cosine to ASKED."""
    documents = [
        Document(kind, f"/n/{number}.md", project, f"note-{number}", "about it", "")
        for number, (kind, project, _) in enumerate(records)
    ]
    return source_of(documents, [score for *_, score in records], SHOP)


def _names(hits: Sequence[Hit]) -> list[str]:
    return [hit.name for hit in hits]


def test_hits_are_ranked_and_carry_what_a_headline_needs() -> None:
    snapshot = _snapshot(("memory", "/shop", 0.6), ("knowledge", "/shop", 0.8))
    result = search(snapshot, ASKED, RULES, projects={"/shop"}, limit=10)
    first, second = result.hits
    assert (first.rank, first.kind, first.name, first.path) == (1, "knowledge", "note-1", "/n/1.md")
    assert (first.description, first.project) == ("about it", "/shop")
    assert second.rank == 2
    assert second.signs["cosine"] == pytest.approx(0.6)
    assert first.score > second.score
    assert result.tier == "strong"
    assert result.top == pytest.approx(0.8)


def test_only_the_asked_projects_and_shared_records_are_in_scope() -> None:
    snapshot = _snapshot(("memory", "/shop", 0.6), ("memory", "/other", 0.9), ("knowledge", SHARED, 0.7))
    assert _names(search(snapshot, ASKED, RULES, projects={"/shop"}, limit=10).hits) == ["note-2", "note-0"]
    assert _names(search(snapshot, ASKED, RULES, projects={"/unknown"}, limit=10).hits) == ["note-2"]
    assert _names(search(snapshot, ASKED, RULES, projects=None, limit=10).hits) == ["note-1", "note-2", "note-0"]


def test_conversations_are_ranked_but_do_not_decide() -> None:
    snapshot = _snapshot(("conversation", "/shop", 0.95), ("memory", "/shop", 0.6), ("memory", "/shop", 0.4))
    result = search(snapshot, ASKED, RULES, projects={"/shop"}, limit=10)
    assert _names(result.hits) == ["note-0", "note-1", "note-2"]
    assert _names(result.candidates) == ["note-1", "note-2"]
    assert result.top == pytest.approx(0.6)
    assert result.gap == pytest.approx(0.2)


def test_many_close_conversations_push_no_note_out_of_what_is_handed_over() -> None:
    chat: tuple[Kind, str, float] = ("conversation", "/shop", 0.95)
    snapshot = _snapshot(*[chat] * 20, ("memory", "/shop", 0.7), ("memory", "/shop", 0.4))
    result = search(snapshot, ASKED, RULES, projects={"/shop"}, limit=5)
    assert len(result.hits) == 5
    printed = hand_over(choose(result, RULES, Asker({"/shop"})), result.tier, "en")
    assert printed is not None
    text = json.loads(printed.line)["hookSpecificOutput"]["additionalContext"]
    assert "[memory] note-20 — about it (/n/20.md)" in text
    assert printed.hits == result.candidates[: len(printed.hits)]


def test_kinds_narrow_hits_and_candidates() -> None:
    snapshot = _snapshot(("memory", "/shop", 0.6), ("knowledge", "/shop", 0.8))
    result = search(snapshot, ASKED, RULES, projects=None, kinds=["memory"], limit=10)
    assert _names(result.hits) == _names(result.candidates) == ["note-0"]
    result = search(snapshot, ASKED, RULES, projects=None, kinds=["conversation"], limit=10)
    assert (result.hits, result.reason) == ((), "no records")


def test_an_empty_index_hands_over_nothing() -> None:
    result = search(_snapshot(), ASKED, RULES, projects={"/shop"}, limit=10)
    assert (result.tier, result.reason, result.hits) == ("none", "no records", ())
    assert hand_over(choose(result, RULES, Asker({"/shop"})), result.tier, "en") is None


def test_a_snapshot_knows_the_language_of_its_records() -> None:
    documents = [Document("memory", "/n/1.md", "", "返事", "日本語で書く", "")]
    assert source_of(documents, [0.5], SHOP).snapshot.language == "ja"
    assert _snapshot(("memory", "", 0.5)).snapshot.language == "en"


def test_the_budget_is_that_of_the_tier() -> None:
    deep = "/very/deep" * 28
    documents = [Document("memory", f"{deep}/{n}.md", "/shop", "n" * 80, "d" * 300, f"of {n * 'a'}") for n in range(5)]

    def size(scores: list[float]) -> tuple[str, int]:
        result = search(source_of(documents, scores, SHOP), ASKED, RULES, projects=None, limit=5)
        printed = hand_over(choose(result, RULES, Asker()), result.tier, "en")
        return result.tier, len(printed.line.encode()) if printed else 0

    tier, some = size([0.6, 0.55, 0.55, 0.55, 0.55])
    assert tier == "some"
    assert 900 < some <= 1024
    tier, strong = size([0.9, 0.89, 0.88, 0.3, 0.3])
    assert tier == "strong"
    assert 1024 < strong <= 2048


def test_of_a_note_and_its_copy_one_is_handed_over_and_both_are_ranked() -> None:
    said = "Tests talk to a real database because a mocked one hid a broken migration for two weeks."
    documents = [
        Document("memory", "/n/real-database.md", "/shop", "real-database", said, said),
        Document("knowledge", "/r/rule.md", "/shop", "real-database", said, said),
        Document("memory", "/n/ports.md", "/shop", "ports", "The staging database listens on another port.", ""),
    ]
    source = source_of(documents, [0.9, 0.88, 0.86], SHOP)
    result = search(source, ASKED, RULES, projects=None, limit=10)
    assert [hit.path for hit in result.candidates] == ["/n/real-database.md", "/n/ports.md"]
    assert len(result.hits) == 3
