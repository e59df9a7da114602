"""Removing: what may go, what goes, and what waits for others."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from recall.core.errors import ModelError, StoreBusy, StoreError
from recall.embed.catalog import find_model
from recall.embed.manifest import BUNDLED
from recall.models import remove as removing
from recall.models.listing import entries
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
        check_removable(name, "used", paths)


def test_it_waits_for_nobody_who_is_at_the_model_or_the_index(
    paths: StatePaths, put: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(removing, "PATIENCE", 0.0)
    before = left(paths)
    with adding(Path(paths.models), "small"), pytest.raises(ModelError, match="being added or removed by another"):
        remove("small", "other", paths)
    put(Path(paths.index), "small@1", {"a": ["1", "2"]})
    lock = HeldLock.acquire(paths.index_lock)
    assert lock is not None
    with lock:
        with pytest.raises(StoreBusy, match="the model's vectors cannot go; try again after that"):
            remove("small", "other", paths)
        assert left(paths) == before
        assert remove("smaller", "other", paths).vectors == 0  # it has none, so nothing of the index is touched
    assert remove("small", "other", paths) == Removed(bytes=18, vectors=2)


def test_what_cannot_be_written_after_the_files_are_gone_is_told(
    paths: StatePaths, put: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    put(Path(paths.index), "small@1", {"a": ["1", "2"]})
    full = StoreError("the disk is full")

    def fails(*_: object) -> int:
        raise full

    with monkeypatch.context() as patch:
        patch.setattr(removing, "drop_model", fails)
        patch.setattr(removing, "forget_speeds", fails)
        gone = remove("small", "other", paths)
    assert (gone.bytes, gone.vectors) == (18, 0)
    assert [note.partition(":")[0] for note in gone.notes] == [
        "its vectors are still in the index",
        "its measured speed is still listed",
    ]
    assert "small" not in left(paths)
    assert remove("small", "other", paths) == Removed(bytes=0, vectors=2)  # only the vectors were left
    with pytest.raises(ModelError, match="is not on this machine"):
        remove("small", "other", paths)


def test_a_folder_in_place_of_the_bundled_model_goes_and_the_bundled_ones_vectors_stay(
    paths: StatePaths, put: Callable[..., None]
) -> None:
    own, bundled = f"{BUNDLED}@own", find_model(BUNDLED, None).identity
    put(Path(paths.index), own, {"a": ["1"]})
    put(Path(paths.index), bundled, {"a": ["1"]})
    for identity in (own, bundled):
        save_speed(paths, identity, SPEED)
    override = Path(paths.models, BUNDLED)
    override.mkdir()
    (override / "manifest.toml").write_text("broken", "utf-8")
    (entry,) = [entry for entry in entries(paths, BUNDLED) if entry.name == BUNDLED]
    assert (entry.problem or "").endswith(f"`recall models remove {BUNDLED}` deletes that folder.")
    assert remove(BUNDLED, BUNDLED, paths) == Removed(bytes=6, vectors=1)
    assert not override.exists()
    assert find_model(BUNDLED, Path(paths.models)).identity == bundled
    assert bundled in load_speeds(paths)
    assert own not in load_speeds(paths)
    with pytest.raises(ModelError, match="comes with recall and cannot be removed"):
        remove(BUNDLED, "other", paths)


def test_a_damaged_index_keeps_no_model_here(paths: StatePaths) -> None:
    Path(paths.index).write_bytes(b"no database" * 1000)
    gone = remove("small", "other", paths)
    assert gone.bytes == 18
    assert "its vectors are still in the index" in gone.notes[0]
    assert "is damaged" in gone.notes[0]
    with pytest.raises(ModelError, match="is not on this machine"):
        remove("small", "other", paths)


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo])
def test_a_manifest_that_is_no_file_goes_too(paths: StatePaths, make: Callable[[Path], None]) -> None:
    manifest = Path(paths.models, "small", "manifest.toml")
    manifest.unlink()
    make(manifest)
    remove("small", "other", paths)
    assert "small" not in left(paths)
