"""Lexical search: what a message names is found by its letters, what everybody says is not."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from recall.late.everyday import everyday_terms
from recall.search.lexical import coverage
from recall.store.views import Postings
from recall.text.words import fingerprint, fingerprints, weighted_terms

NOTES = [
    "Toxiproxy stands in front of the database in slow tests.",
    "The staging database listens on port 6543; DATABASE_URL says so.",
    "チャットテンプレートは起動時に一度だけ読み込む。",
    "Releases are cut on Thursdays, after the tests of the night.",
    "연결 풀은 작업자마다 하나만 만든다.",
    "连接池的大小由工作进程的数量决定。",
]


def covered(message: str, notes: list[str] = NOTES, allowed: list[bool] | None = None) -> list[float]:
    postings = Postings.of([fingerprints(note) for note in notes])
    wanted = {fingerprint(term): weight for term, weight in weighted_terms(message).items()}
    found = coverage(postings, wanted, everyday_terms(), np.array(allowed or [True] * len(notes), np.bool_))
    return [float(value) for value in found]


def best(message: str) -> int:
    found = covered(message)
    assert max(found) > 0, message
    return found.index(max(found))


def test_names_numbers_and_identifiers_are_found_however_they_are_written() -> None:
    assert best("what did we say about toxiproxy?") == 0
    assert best("6543 番のポートは何に使っている？") == 1
    assert best("where does databaseUrl come from") == 1


def test_languages_without_spaces_are_found_by_pairs_of_characters() -> None:
    assert best("チャットテンプレートについて教えて") == 2
    assert best("연결 풀은 어디서 만들어?") == 4
    assert best("连接池有多大？") == 5


def test_what_everyday_messages_are_made_of_counts_for_no_note() -> None:
    assert covered("please run the tests again, thank you") == [0.0] * len(NOTES)
    assert covered("はい、お願いします") == [0.0] * len(NOTES)


def test_a_word_by_chance_covers_little_and_a_name_much() -> None:
    named = max(covered("does E6543 or 6543 matter?"))
    chance = max(covered("who waters the plants in the corridor when the whole floor listens to a concert?"))
    assert chance < 0.25 < named


def test_only_what_is_allowed_tells_what_is_rare() -> None:
    notes = ["the gizmo is blue"] * 8 + ["the gizmo is heavy"]
    assert covered("where is the gizmo?", notes) == [0.0] * 9
    alone = covered("where is the gizmo?", notes, [False] * 8 + [True])
    assert alone[:8] == [0.0] * 8
    assert alone[8] > 0


@given(st.lists(st.text(max_size=60), max_size=6), st.text(max_size=80))
def test_coverage_is_a_share_for_any_texts(notes: list[str], message: str) -> None:
    found = covered(message, notes or ["x"])
    assert all(math.isfinite(value) and 0 <= value <= 1.0001 for value in found)
