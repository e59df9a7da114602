"""The folder that a name spells: compared with the folders that are there, and none where two are meant."""

import os
from pathlib import Path

import pytest

from recall.sources.projects import encode
from recall.sources.spelled import spelled_path


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = Path(os.path.realpath(tmp_path)) / "home of ann"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    return home


@pytest.mark.parametrize(
    "place", ["src/api", "src/my.app-2", "日本語/プロジェクト", ".config/x", "a/b/c/d/e/f", "a b", "-"]
)
def test_a_folder_below_home_or_anywhere_else(home: Path, place: str) -> None:
    for start in (home, home.parent / "elsewhere"):
        folder = start / place
        folder.mkdir(parents=True)
        assert spelled_path(encode(str(folder))) == str(folder)
    assert spelled_path(encode(str(home))) == str(home)


@pytest.mark.parametrize("two", [("a-b", "a.b"), ("a/b", "a-b"), ("a_b/c", "a/b-c")])
def test_of_two_that_are_spelled_alike_none(home: Path, two: tuple[str, str]) -> None:
    for place in two:
        (home / place).mkdir(parents=True)
    assert spelled_path(encode(str(home / two[0]))) is None


def test_what_is_not_there_or_no_folder_is_none(home: Path) -> None:
    (home / "file").write_text("x")
    (home / "real").mkdir()
    (home / "link").symlink_to(home / "real")
    for name in ("gone", "gone/deep", "file", "link"):
        assert spelled_path(encode(str(home / name))) is None
    for text in ("", "-", "no-name-of-claude", "x" * 300, encode(str(home)) + "-" + "y" * 300):
        assert spelled_path(text) in (None, os.sep)


def test_a_wide_tree_of_alike_names_is_looked_into_for_a_bounded_time(home: Path) -> None:
    folder = home
    for _ in range(12):
        folder = folder / "a"
        (folder / "a-a").mkdir(parents=True)
    assert spelled_path(encode(str(home)) + "-a" * 40) is None
