"""What machines are called: no two alike, whatever they call themselves."""

from pathlib import Path

import pytest

from recall.replica.team import Team, labels, machines
from recall.wire.paths import StatePaths

A, B = "a" * 32, "b" * 32


def test_a_name_stands_alone_where_nobody_else_has_it() -> None:
    assert labels({A: "desk", B: "laptop"}, "own") == {A: "desk", B: "laptop"}


@pytest.mark.parametrize("name", ["own", "OWN", " own\n", "-own-"])
def test_our_own_name_is_told_apart(name: str) -> None:
    assert labels({A: name}, "own")[A].casefold() == "own-aaaa"


def test_numbers_that_begin_alike_are_told_apart_by_more_digits() -> None:
    ids = ["a" * 4 + "1" * 28, "a" * 4 + "2" * 28, "a" * 31 + "3", "a" * 31 + "4"]
    found = labels(dict.fromkeys(ids, "desk"), "own")
    assert [found[id_] for id_ in ids] == ["desk-aaaa1111", "desk-aaaa2222", f"desk-{ids[2]}", f"desk-{ids[3]}"]


def test_a_name_that_is_another_one_with_its_digits_is_told_apart() -> None:
    found = labels({A: "desk", B: "desk", "c" * 32: "desk-aaaa"}, "own")
    assert len({label.casefold() for label in found.values()}) == 3


def test_without_a_team_there_is_nothing(tmp_path: Path) -> None:
    assert machines(tmp_path / "share.sqlite3", tmp_path / "share.json") == {}
    team = Team(StatePaths(str(tmp_path)))
    assert dict(team.offers) == {}
    assert team.find("share:aaaaaaaa/000000000000") is None
