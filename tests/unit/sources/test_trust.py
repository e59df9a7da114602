import json
import os
from pathlib import Path

import pytest

from recall.sources.trust import Trust, read_trust


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = Path(os.path.realpath(tmp_path)) / "home"
    (folder / ".claude").mkdir(parents=True)
    return folder


def accept(file: Path, *folders: str | Path) -> None:
    projects = {str(folder): {"hasTrustDialogAccepted": True, "allowedTools": []} for folder in folders}
    file.write_text(json.dumps({"numStartups": 3, "projects": projects}))


def test_the_file_stands_beside_the_usual_folder(home: Path) -> None:
    accept(home / ".claude.json", home / "app")
    trust = read_trust([home / ".claude"])
    assert trust.covers(str(home / "app"))
    assert not trust.covers(str(home / "other"))
    assert trust.problem == ""


def test_the_file_stands_inside_a_folder_that_was_named(home: Path) -> None:
    (home / "work-account").mkdir()
    accept(home / "work-account/.claude.json", home / "app")
    accept(home / ".claude.json", home / "other")
    trust = read_trust([home / "work-account"])
    assert trust.covers(str(home / "app"))
    assert not trust.covers(str(home / "other"))


def test_each_account_adds_its_own(home: Path) -> None:
    accept(home / ".claude.json", home / "one")
    accept(home / ".claude/.claude.json", home / "two")
    trust = read_trust([home / ".claude", home / "never-used"])
    assert trust.covers(str(home / "one"))
    assert trust.covers(str(home / "two"))
    assert trust.problem == ""


def test_a_folder_covers_what_lies_below_it_and_nothing_beside(home: Path) -> None:
    accept(home / ".claude.json", home / "work")
    trust = read_trust([home / ".claude"])
    assert trust.covers(str(home / "work/a/b"))
    assert not trust.covers(str(home / "workshop"))
    assert not trust.covers(str(home))


def test_a_folder_that_was_opened_through_a_link_is_the_real_one(home: Path) -> None:
    (home / "real").mkdir()
    (home / "link").symlink_to(home / "real")
    accept(home / ".claude.json", home / "link")
    assert read_trust([home / ".claude"]).covers(str(home / "real"))


@pytest.mark.parametrize("answer", [False, None, "true", 1, {}])
def test_only_a_plain_yes_counts(home: Path, answer: object) -> None:
    projects = {str(home / "app"): {"hasTrustDialogAccepted": answer}, str(home / "b"): None, "relative": {}}
    (home / ".claude.json").write_text(json.dumps({"projects": projects}))
    assert read_trust([home / ".claude"]) == Trust(frozenset())


@pytest.mark.parametrize("content", ["", "{", "[]", '{"projects": []}', "[" * 100_000, '"\\ud800"'])
def test_a_broken_file_trusts_nothing_and_says_so(home: Path, content: str) -> None:
    (home / ".claude.json").write_text(content)
    trust = read_trust([home / ".claude"])
    assert trust.folders == frozenset()
    assert trust.problem.startswith(f"{home / '.claude.json'} cannot be read")


def test_a_file_that_cannot_be_read_takes_nothing_from_another(home: Path) -> None:
    accept(home / ".claude.json", home / "app")
    (home / ".claude/.claude.json").mkdir()
    trust = read_trust([home / ".claude"])
    assert trust.covers(str(home / "app"))
    assert "cannot be read" in trust.problem


def test_without_any_file_nothing_is_trusted_and_it_is_said(home: Path) -> None:
    trust = read_trust([home / ".claude"])
    assert not trust.covers(str(home / "app"))
    assert trust.problem.startswith(f"{home / '.claude.json'} is missing")


def test_a_file_is_read_again_when_it_has_changed(home: Path) -> None:
    file = home / ".claude.json"
    accept(file, home / "app")
    assert read_trust([home / ".claude"]).covers(str(home / "app"))
    accept(file)
    os.utime(file, ns=(1, 1))
    assert not read_trust([home / ".claude"]).covers(str(home / "app"))
    accept(file, home / "app")
    os.utime(file, ns=(2, 2))
    assert read_trust([home / ".claude"]).covers(str(home / "app"))


def test_a_file_without_projects_trusts_nothing_without_complaint(home: Path) -> None:
    (home / ".claude.json").write_text("{}")
    assert read_trust([home / ".claude"]) == Trust(frozenset())
