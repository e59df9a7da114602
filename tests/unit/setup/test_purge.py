"""Purging deletes what recall keeps and nothing else."""

from pathlib import Path

import pytest

from recall.core.config import render_default_config
from recall.core.errors import UsageError
from recall.setup.purge import purge
from recall.wire.paths import StatePaths


def fill(folder: Path, *names: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x", encoding="utf-8")


def test_a_folder_that_recall_has_used_loses_all_of_recalls_and_goes_when_that_was_all(tmp_path: Path) -> None:
    home = tmp_path / "state"
    fill(home, "index.sqlite3", "index.sqlite3-wal", "index.sqlite3.format3", "models/m/manifest.toml", "daemon.log")
    fill(home, "bin/recall-hook", "backup/ab.json", "backup/ab.cd.before", "everyday/m.npz", "hook.log", "mutes.json")
    (home / "config.toml").write_text(render_default_config({}), encoding="utf-8")
    assert purge(StatePaths(str(home))) == []
    assert not home.exists()


def test_what_others_put_there_stays_and_is_named(tmp_path: Path) -> None:
    fill(tmp_path, "daemon.lock", "notes.txt", "bin/mine", "backup/mine.tar", "bin/recall-hook")
    left = purge(StatePaths(str(tmp_path)))
    assert left == [tmp_path / "backup", tmp_path / "bin", tmp_path / "notes.txt"]
    assert (tmp_path / "bin" / "mine").exists()
    assert not (tmp_path / "bin" / "recall-hook").exists()


def test_a_project_with_files_of_such_names_is_left_alone(tmp_path: Path) -> None:
    fill(tmp_path, "config.toml", "models/a", "bin/b", "backup/c", "hook.log")
    assert purge(StatePaths(str(tmp_path))) is None
    assert sorted(path.name for path in tmp_path.rglob("*") if path.is_file()) == [
        "a",
        "b",
        "c",
        "config.toml",
        "hook.log",
    ]


def test_nobodys_home_is_purged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "me"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "me"))
    fill(tmp_path / "me", "daemon.lock", "models/mine")
    for folder in (tmp_path, tmp_path / "me"):
        with pytest.raises(UsageError, match="of recall's own"):
            purge(StatePaths(str(folder)))
    assert (tmp_path / "me" / "models" / "mine").exists()
