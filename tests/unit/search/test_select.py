"""Which records are handed over."""

from recall.core.types import Hit, Kind
from recall.embed.manifest import Gate
from recall.search.select import Asker, select_conversations, select_notes

GATE = Gate(floor=0.5, weak=0.025, strong=0.11, near=0.05)
NEAR = 0.05
SHOP = Asker(projects={"/shop"})


def hit(rank: int, score: float, kind: Kind = "memory", project: str = "/shop", session: str | None = None) -> Hit:
    return Hit(rank, score, kind, f"n{rank}", "", f"/{rank}", project, session=session, signs={"cosine": score})


def ranks(hits: list[Hit]) -> list[int]:
    return [hit.rank for hit in hits]


def test_some_hands_over_the_three_best() -> None:
    hits = [hit(1, 0.7), hit(2, 0.6, "knowledge"), hit(3, 0.5), hit(4, 0.4)]
    assert ranks(select_notes(hits, "some", NEAR, Asker())) == [1, 2, 3]


def test_strong_hands_over_only_what_is_near_the_top() -> None:
    hits = [hit(1, 0.7), hit(2, 0.66), hit(3, 0.64)]
    assert ranks(select_notes(hits, "strong", NEAR, Asker())) == [1, 2]


def test_none_hands_over_nothing() -> None:
    assert select_notes([hit(1, 0.7)], "none", NEAR, SHOP) == []
    assert select_notes([], "some", NEAR, SHOP) == []


def test_the_best_note_of_the_current_project_near_the_top_goes_in_first() -> None:
    shared = [hit(rank, 0.7, "knowledge", "") for rank in range(1, 4)]
    hits = [*shared, hit(4, 0.66), hit(5, 0.655)]
    assert ranks(select_notes(hits, "some", NEAR, SHOP)) == [4, 1, 2]
    assert ranks(select_notes(hits, "strong", NEAR, SHOP)) == [4, 1, 2]
    assert ranks(select_notes(hits, "some", NEAR, Asker(projects={"/other"}))) == [1, 2, 3]


def test_a_note_of_the_current_project_far_from_the_top_gains_nothing() -> None:
    hits = [*(hit(rank, 0.7, "knowledge", "") for rank in range(1, 4)), hit(4, 0.6)]
    assert ranks(select_notes(hits, "some", NEAR, SHOP)) == [1, 2, 3]


def test_what_was_shown_before_is_held_back_and_the_next_takes_its_place_if_it_is_near() -> None:
    hits = [hit(1, 0.7), hit(2, 0.66), hit(3, 0.6), hit(4, 0.55), hit(5, 0.5)]
    assert ranks(select_notes(hits, "some", NEAR, Asker(shown={"/1"}))) == [2, 3, 4]
    assert ranks(select_notes(hits, "strong", NEAR, Asker(shown={"/1"}))) == [2]
    assert select_notes(hits, "strong", NEAR, Asker(shown={"/1", "/2"})) == []


def test_what_is_at_hand_counts_less_but_is_not_held_back() -> None:
    hits = [hit(1, 0.7), hit(2, 0.69), hit(3, 0.6)]
    assert ranks(select_notes(hits, "some", NEAR, Asker(at_hand={"/1"}))) == [2, 1, 3]
    assert ranks(select_notes(hits[:1], "strong", NEAR, Asker(at_hand={"/1"}))) == [1]


def talks(*scores: float, sessions: str = "abcdefghijklmnopqrstuvwxyz") -> list[Hit]:
    return [hit(rank, score, "conversation", session=sessions[rank]) for rank, score in enumerate(scores)]


def test_conversations_come_in_the_strong_tier_only_and_two_at_most() -> None:
    hits = talks(0.8, 0.79, 0.78, *[0.5] * 10)
    assert ranks(select_conversations(hits, "strong", NEAR, GATE, Asker())) == [0, 1]
    assert select_conversations(hits, "some", NEAR, GATE, Asker()) == []
    assert select_conversations(hits, "none", NEAR, GATE, Asker()) == []


def test_conversations_come_only_when_the_best_stands_out_among_them() -> None:
    assert select_conversations(talks(*[0.8] * 12), "strong", NEAR, GATE, Asker()) == []
    assert select_conversations(talks(0.45), "strong", NEAR, GATE, Asker()) == []
    assert select_conversations([], "strong", NEAR, GATE, Asker()) == []


def test_a_session_comes_once_and_its_many_exchanges_do_not_close_the_gap() -> None:
    hits = talks(0.8, 0.8, 0.8, 0.5, 0.5, sessions="aaabc")
    assert ranks(select_conversations(hits, "strong", NEAR, GATE, Asker())) == [0]


def test_a_conversation_shown_before_is_held_back() -> None:
    hits = talks(0.8, 0.79, *[0.5] * 10)
    assert ranks(select_conversations(hits, "strong", NEAR, GATE, Asker(shown={"/0"}))) == [1]
