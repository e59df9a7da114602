"""Removing: what may go, what goes, and what waits for others."""

import os
from pathlib import Path

import pytest

from recall.core.errors import ModelError, StoreBusy
from recall.models import remove as removing
from recall.models.places import adding
from recall.models.remove import Removed, check_removable, remove
from recall.models.speeds import Speed, load_speeds, save_speed
from recall.wire.lock import HeldLock
from recall.wire.paths import StatePaths

SPEED = Speed("CPU, 2 threads", 5.1, 9.9, 25.0, "2026-01-01T00:00:00+00:00")


@pytest.fixture
def paths(tmp_path: Path) -> StatePaths:
    """A state folder with two models; the manifest of `small` is broken, which must not keep it here."""
    paths = StatePaths(str(tmp_path / "state"))
    for folder in ("small", "smaller", ".adding-small", ".coreml/small@1", ".coreml/smaller@1"):
        place = Path(paths.models, folder)
        place.mkdir(parents=True)
        (place / "manifest.toml").write_text("broken", "utf-8")
    for identity in ("small@1", "smaller@1"):
        save_speed(paths, identity, SPEED)
    return paths


def left(paths: StatePaths) -> set[str]:
    return {str(path.relative_to(paths.models)) for path in Path(paths.models).rglob("*") if path.is_dir()}


def test_all_of_a_model_goes_and_nothing_of_another(paths: StatePaths) -> None:
    assert remove("small", "other", paths) == Removed(bytes=18, vectors=0)
    assert left(paths) == {"smaller", ".coreml", ".coreml/smaller@1"}
    assert load_speeds(paths) == {"smaller@1": SPEED}


def test_a_link_goes_and_the_folder_that_it_leads_to_stays(paths: StatePaths, tmp_path: Path) -> None:
    disk = Path(paths.models, "smaller").rename(tmp_path / "disk")
    Path(paths.models, "smaller").symlink_to(disk)
    remove("smaller", "other", paths)
    assert not os.path.lexists(Path(paths.models, "smaller"))
    assert (disk / "manifest.toml").exists()


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("multilingual-e5-small", "comes with recall and cannot be removed"),
        ("used", "is in use; take another one first"),
        ("absent", "is not on this machine"),
        ("../state", "name should be"),
    ],
)
def test_what_cannot_be_removed(paths: StatePaths, name: str, sentence: str) -> None:
    with pytest.raises(ModelError, match=sentence):
        check_removable(name, "used", Path(paths.models))


def test_it_waits_for_nobody_who_is_at_the_model_or_the_index(
    paths: StatePaths, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(removing, "PATIENCE", 0.0)
    before = left(paths)
    with adding(Path(paths.models), "small"), pytest.raises(ModelError, match="being added or removed by another"):
        remove("small", "other", paths)
    lock = HeldLock.acquire(paths.index_lock)
    assert lock is not None
    with lock, pytest.raises(StoreBusy, match="the model's vectors cannot go; try again after that"):
        remove("small", "other", paths)
    assert left(paths) == before
