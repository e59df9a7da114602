"""Search on a snapshot, and the hook's line."""

import json
from collections.abc import Sequence

import numpy as np
import pytest

from recall.core.types import SHARED, Document, Hit, Kind, Project
from recall.embed.manifest import Gate
from recall.search.answer import Snapshot, hand_over, search, take_snapshot
from recall.search.select import Asker

GATE = Gate(floor=0.5, weak=0.025, strong=0.11, near=0.05)
QUERY = np.array([1, 0], np.float32)


def _snapshot(*records: tuple[Kind, str, float]) -> Snapshot:
    """A snapshot of documents of one chunk each: kind, project and score against QUERY."""
    documents = [
        Document(kind, f"/n/{number}.md", project, f"note-{number}", "about it", "")
        for number, (kind, project, _) in enumerate(records)
    ]
    scores = np.array([score for *_, score in records], np.float32)
    vectors = np.stack([scores, np.sqrt(1 - scores**2)], axis=1) if records else np.empty((0, 0), np.float32)
    owners = np.arange(len(records), dtype=np.int32)
    return take_snapshot(vectors, owners, documents, [Project("/shop", "shop")], generation=7)


def _names(hits: Sequence[Hit]) -> list[str]:
    return [hit.name for hit in hits]


def test_hits_are_ranked_and_carry_what_a_headline_needs() -> None:
    snapshot = _snapshot(("memory", "/shop", 0.6), ("knowledge", "/shop", 0.8))
    result = search(snapshot, QUERY, GATE, projects={"/shop"}, limit=10)
    first, second = result.hits
    assert (first.rank, first.kind, first.name, first.path) == (1, "knowledge", "note-1", "/n/1.md")
    assert (first.description, first.project) == ("about it", "/shop")
    assert second.rank == 2
    assert second.score == pytest.approx(0.6)
    assert result.tier == "strong"
    assert result.top == pytest.approx(0.8)


def test_only_the_asked_projects_and_shared_records_are_in_scope() -> None:
    snapshot = _snapshot(("memory", "/shop", 0.6), ("memory", "/other", 0.9), ("knowledge", SHARED, 0.7))
    assert _names(search(snapshot, QUERY, GATE, projects={"/shop"}, limit=10).hits) == ["note-2", "note-0"]
    assert _names(search(snapshot, QUERY, GATE, projects={"/unknown"}, limit=10).hits) == ["note-2"]
    assert _names(search(snapshot, QUERY, GATE, projects=None, limit=10).hits) == ["note-1", "note-2", "note-0"]


def test_conversations_are_ranked_but_do_not_decide() -> None:
    snapshot = _snapshot(("conversation", "/shop", 0.95), ("memory", "/shop", 0.6), ("memory", "/shop", 0.4))
    result = search(snapshot, QUERY, GATE, projects={"/shop"}, limit=10)
    assert _names(result.hits) == ["note-0", "note-1", "note-2"]
    assert _names(result.candidates) == ["note-1", "note-2"]
    assert result.top == pytest.approx(0.6)
    assert result.gap == pytest.approx(0.2)


def test_many_close_conversations_push_no_note_out_of_what_is_handed_over() -> None:
    chat: tuple[Kind, str, float] = ("conversation", "/shop", 0.95)
    snapshot = _snapshot(*[chat] * 20, ("memory", "/shop", 0.7), ("memory", "/shop", 0.4))
    result = search(snapshot, QUERY, GATE, projects={"/shop"}, limit=5)
    assert len(result.hits) == 5
    printed = hand_over(result, GATE, "en", Asker({"/shop"}))
    assert printed is not None
    text = json.loads(printed.line)["hookSpecificOutput"]["additionalContext"]
    assert "[memory] note-20 — about it (/n/20.md)" in text
    assert printed.hits == result.candidates[: len(printed.hits)]


def test_kinds_narrow_hits_and_candidates() -> None:
    snapshot = _snapshot(("memory", "/shop", 0.6), ("knowledge", "/shop", 0.8))
    result = search(snapshot, QUERY, GATE, projects=None, kinds=["memory"], limit=10)
    assert _names(result.hits) == _names(result.candidates) == ["note-0"]
    result = search(snapshot, QUERY, GATE, projects=None, kinds=["conversation"], limit=10)
    assert (result.hits, result.reason) == ((), "no records")


def test_an_empty_index_hands_over_nothing() -> None:
    result = search(_snapshot(), QUERY, GATE, projects={"/shop"}, limit=10)
    assert (result.tier, result.reason, result.hits) == ("none", "no records", ())
    assert hand_over(result, GATE, "en", Asker({"/shop"})) is None


def test_a_snapshot_knows_the_language_of_its_records() -> None:
    documents = [Document("memory", "/n/1.md", "", "返事", "日本語で書く", "")]
    snapshot = take_snapshot(np.ones((1, 1), np.float32), np.zeros(1, np.int32), documents, [], 0)
    assert snapshot.language == "ja"
    assert _snapshot(("memory", "", 0.5)).language == "en"


def test_the_budget_is_that_of_the_tier() -> None:
    deep = "/very/deep" * 28
    documents = [Document("memory", f"{deep}/{n}.md", "/shop", "n" * 80, "d" * 300, "") for n in range(5)]

    def size(scores: list[float]) -> tuple[str, int]:
        first = np.array(scores, np.float32)
        vectors = np.stack([first, np.sqrt(1 - first**2)], axis=1)
        snapshot = take_snapshot(vectors, np.arange(5, dtype=np.int32), documents, [], 0)
        result = search(snapshot, QUERY, GATE, projects=None, limit=5)
        printed = hand_over(result, GATE, "en", Asker())
        return result.tier, len(printed.line.encode()) if printed else 0

    tier, some = size([0.6, 0.55, 0.55, 0.55, 0.55])
    assert tier == "some"
    assert 900 < some <= 1024
    tier, strong = size([0.9, 0.89, 0.88, 0.3, 0.3])
    assert tier == "strong"
    assert 1024 < strong <= 2048
