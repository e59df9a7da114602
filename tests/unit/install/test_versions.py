"""Which version is current, which may go, what a program folder must hold: decisions and files, without a program."""

import hashlib
import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.core.errors import InstallError, ProgramDamaged
from recall.install.adopt import adopt, copy_in
from recall.install.cleanup import clean_up, superfluous
from recall.install.in_use import hold, is_in_use
from recall.install.place import PROGRAM, Place, is_name, number
from recall.install.program import check, read_program
from recall.install.remove import remove_program
from recall.install.switch import switch, verdict

NAMES = st.builds(
    "{}.{}.{}-{:08x}".format, st.integers(0, 20), st.integers(0, 20), st.integers(0, 20), st.integers(0, 2**32 - 1)
)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path / "recall")


def unpacked(folder: Path, version: str = "0.1.0", text: str = "program") -> str:
    """A program folder with two files; the name of its version."""
    (folder / "lib").mkdir(parents=True)
    files = {PROGRAM: text.encode(), "lib/data": b"data"}
    for name, data in files.items():
        (folder / name).write_bytes(data)
    name = f"{version}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"
    listed = {path: [len(data), hashlib.sha256(data).hexdigest()] for path, data in files.items()}
    said = {"name": name, "version": version, "platform": "p", "built": "2026-01-01", "files": listed, "links": {}}
    (folder / "program.json").write_text(json.dumps(said), encoding="utf-8")
    return name


def bring(place: Place, version: str, text: str = "program") -> str:
    """Install such a folder."""
    source = place.data.parent / f"source-{version}-{text}"
    unpacked(source, version, text)
    return adopt(copy_in(source, place), place).name


@given(NAMES, NAMES)
def test_two_versions_used_in_turn_never_change_places_twice(one: str, other: str) -> None:
    current: str | None = None
    changes = 0
    for name in (one, other) * 3:
        if verdict(current, name, asked=False) in ("first", "newer"):
            current, changes = name, changes + 1
    assert changes <= 2
    assert current is not None
    assert number(current) == max(number(one), number(other))


@given(NAMES, NAMES)
def test_what_a_person_asks_for_becomes_current(one: str, other: str) -> None:
    assert verdict(one, other, asked=True) == ("same" if one == other else "asked")
    assert verdict(None, other, asked=True) == "first"


@given(st.text())
def test_only_versions_count_as_names(text: str) -> None:
    assert not is_name(text) or number(text) is not None


@given(st.sets(NAMES), st.sets(NAMES), st.sets(NAMES))
def test_what_is_kept_or_used_never_goes(names: set[str], kept: set[str], used: set[str]) -> None:
    gone = superfluous(names, [*kept, None], used)
    assert set(gone) == names - kept - used


def test_a_version_comes_whole_and_becomes_current_in_one_step(place: Place) -> None:
    name = bring(place, "0.1.0")
    assert place.current() is None
    assert switch(place, name, asked=False).verdict == "first"
    assert place.current() == name
    assert place.lasting_program() is not None
    assert [path.name for path in place.versions.iterdir()] == [name]


def test_of_four_versions_the_current_the_one_before_and_those_in_use_stay(place: Place) -> None:
    names = [bring(place, f"0.{number}.0") for number in range(1, 5)]
    hold(place, names[0])
    assert is_in_use(place, names[0])
    assert clean_up(place, (names[3], names[2])) == [names[1]]
    assert place.names() == [names[0], names[2], names[3]]


@pytest.mark.parametrize("damage", ["missing", "other bytes", "no description", "no json"])
def test_what_is_not_whole_never_gets_a_name(place: Place, damage: str) -> None:
    fresh = place.versions / ".new-1"
    unpacked(fresh)
    if damage == "missing":
        (fresh / "lib" / "data").unlink()
    elif damage == "other bytes":
        (fresh / "lib" / "data").write_bytes(b"atad")
    else:
        (fresh / "program.json").write_text("{}" if damage == "no description" else "{")
    with pytest.raises(ProgramDamaged, match="fetch the file again"):
        adopt(fresh, place)
    assert list(place.versions.iterdir()) == []


def test_a_version_that_is_here_stays_unless_it_is_damaged(place: Place) -> None:
    name = bring(place, "0.1.0")
    stamp = (place.folder(name) / PROGRAM).stat().st_ino
    bring_again = place.versions / ".new-2"
    unpacked(bring_again)
    assert adopt(bring_again, place).name == name
    assert (place.folder(name) / PROGRAM).stat().st_ino == stamp
    (place.folder(name) / "lib" / "data").write_bytes(b"gone")
    unpacked(bring_again)
    adopt(bring_again, place)
    check(read_program(place.folder(name)))
    assert [path.name for path in place.versions.iterdir()] == [name]


def test_a_folder_without_a_program_is_said_to_be_one(tmp_path: Path) -> None:
    with pytest.raises(InstallError, match=r"found no program\.json"):
        read_program(tmp_path)


def test_a_pointer_to_nothing_or_elsewhere_points_to_no_version(place: Place) -> None:
    place.data.mkdir(parents=True)
    if os.name != "nt":
        for target in ("versions/0.1.0-00000000", "/etc", ".."):
            place.pointer.unlink(missing_ok=True)
            place.pointer.symlink_to(target)
            assert place.current() is None
    assert place.lasting_program() is None


def test_a_program_that_was_never_installed_leaves_nothing_to_remove(place: Place) -> None:
    """It was unpacked by hand: with a data folder that records made, and without one."""
    assert remove_program(place) == []
    place.data.mkdir()
    (place.data / "config.toml").touch()
    assert remove_program(place) == []
    assert [path.name for path in place.data.iterdir()] == ["config.toml"]


def test_an_installed_program_is_removed_once(place: Place) -> None:
    bring(place, "0.1.0")
    assert remove_program(place)
    assert remove_program(place) == []
