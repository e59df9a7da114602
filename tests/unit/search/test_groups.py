from dataclasses import dataclass
from typing import Any

from recall.core.types import Hit, Kind
from recall.search.groups import ALIKE, drop_copies, prefer_language, succeed, versions_by_group


@dataclass(frozen=True)
class Row:
    path: str
    name: str
    language: str | None
    group: str | None
    description: str = ""
    date: str | None = None
    successor: str | None = None
    successor_path: str | None = None
    origin: str | None = None
    person: str | None = None
    project: str = "p"
    kind: Kind = "knowledge"
    session: str | None = None
    sessions: frozenset[str] = frozenset()


def hit(path: str, score: float, language: str | None = None, group: str | None = None, **more: Any) -> Hit:
    return Hit(0, score, "knowledge", path, "", path, "p", language=language, group=group, **more)


PAIR = versions_by_group([Row("a.md", "A", "en", "a"), Row("a.ja.md", "エー", "ja", "a"), Row("b.md", "B", "en", "b")])


def shown(hits: list[Hit]) -> list[tuple[int, str, float]]:
    return [(one.rank, one.path, one.score) for one in hits]


def test_a_pair_is_shown_once_in_the_language_of_the_message_with_its_best_score() -> None:
    hits = [hit("a.md", 0.9, "en", "a"), hit("c.md", 0.8), hit("a.ja.md", 0.7, "ja", "a")]
    assert shown(prefer_language(hits, "ja", PAIR)) == [(1, "a.ja.md", 0.9), (2, "c.md", 0.8)]
    assert shown(prefer_language(hits, "en", PAIR)) == [(1, "a.md", 0.9), (2, "c.md", 0.8)]


def test_the_version_in_the_language_need_not_be_among_the_hits() -> None:
    (only,) = prefer_language([hit("a.md", 0.9, "en", "a")], "ja", PAIR)
    assert (only.path, only.name, only.language, only.score) == ("a.ja.md", "エー", "ja", 0.9)


def test_without_a_version_in_the_language_the_best_hit_stays() -> None:
    hits = [hit("a.ja.md", 0.9, "ja", "a"), hit("a.md", 0.7, "en", "a"), hit("b.md", 0.6, "en", "b")]
    assert shown(prefer_language(hits, "ko", PAIR)) == [(1, "a.ja.md", 0.9), (2, "b.md", 0.6)]
    assert shown(prefer_language(hits, None, PAIR)) == [(1, "a.ja.md", 0.9), (2, "b.md", 0.6)]


def test_records_without_a_group_are_left_alone() -> None:
    hits = [hit("x.md", 0.9), hit("y.md", 0.9)]
    assert shown(prefer_language(hits, "en", {})) == [(1, "x.md", 0.9), (2, "y.md", 0.9)]


def test_a_record_that_nothing_replaced_is_not_shown() -> None:
    assert shown(succeed([hit("dead.md", 0.9, successor=""), hit("b.md", 0.8)], {})) == [(1, "b.md", 0.8)]


def test_the_successor_takes_the_place_of_the_record_which_follows_it() -> None:
    hits = [
        hit("old.md", 0.9, successor="0031", successor_path="new.md"),
        hit("other.md", 0.8),
        hit("older.md", 0.7, successor="0031", successor_path="new.md"),
        hit("new.md", 0.6),
    ]
    assert shown(succeed(hits, {})) == [
        (1, "new.md", 0.9),
        (2, "old.md", 0.9),
        (3, "other.md", 0.8),
        (4, "older.md", 0.7),
    ]


def test_a_record_whose_successor_was_not_found_by_the_message_is_shown_alone() -> None:
    hits = [hit("old.md", 0.9, successor="0031", successor_path="new.md"), hit("lost.md", 0.8, successor="0044")]
    assert shown(succeed(hits, {})) == [(1, "old.md", 0.9), (2, "lost.md", 0.8)]


def test_a_successor_is_known_in_either_language() -> None:
    hits = [hit("old.md", 0.9, successor="1", successor_path="a.ja.md"), hit("a.md", 0.6, "en", "a")]
    assert shown(succeed(hits, PAIR)) == [(1, "a.md", 0.9), (2, "old.md", 0.9)]


def test_records_that_replace_each_other_stay_in_order() -> None:
    hits = [hit("a", 0.9, successor="b", successor_path="b"), hit("b", 0.8, successor="a", successor_path="a")]
    assert shown(succeed(hits, {})) == [(1, "a", 0.9), (2, "b", 0.8)]


def test_of_near_copies_the_best_is_kept_and_what_only_shares_a_subject_stays() -> None:
    note = frozenset(range(100))
    terms = {
        "note.md": note,
        "rule.md": note - {1, 2} | {200},  # the same text with another title
        "other.md": frozenset(range(60)) | frozenset(range(300, 340)),
        "empty.md": frozenset(),
        "bare.md": frozenset(),
    }
    hits = [hit(path, 1 - number / 10) for number, path in enumerate(terms)]
    assert [one.path for one in drop_copies(hits, terms, 9)] == ["note.md", "other.md", "empty.md", "bare.md"]
    assert [one.rank for one in drop_copies(hits, terms, 2)] == [1, 2]


def test_a_text_that_differs_by_more_than_a_tenth_is_another() -> None:
    one, other = frozenset(range(100)), frozenset(range(100)) - {0, 1, 2, 3, 4, 5} | set(range(200, 206))
    assert len(one & other) / len(one | other) < ALIKE
    hits = [hit("a.md", 0.9), hit("b.md", 0.8)]
    assert len(drop_copies(hits, {"a.md": one, "b.md": other}, 5)) == 2
