"""Removing a model from the machine: its files, what an interrupted `add` left, its vectors, its measured speed."""

import shutil
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from recall.core.errors import ModelError, RecallError, StoreBusy, StoreError
from recall.embed.catalog import find_model
from recall.embed.manifest import BUNDLED
from recall.embed.manifest_file import NAME
from recall.models.disk import disk_errors
from recall.models.places import adding, leftovers
from recall.models.speeds import forget_speeds
from recall.store.cleanup import drop_model, has_vectors, shrink
from recall.wire.lock import HeldLock
from recall.wire.paths import StatePaths

#: Seconds to wait for a run over the index that is just ending.
PATIENCE = 5.0


@dataclass(frozen=True, slots=True)
class Removed:
    """What went: bytes of files, and vectors of the index. `notes`: sentences about what could not be done."""

    bytes: int
    vectors: int
    notes: tuple[str, ...] = ()


def check_removable(name: str, in_use: str, paths: StatePaths) -> list[Path]:
    """The folders that removing the model would delete, none where only vectors are left of it.

    Of the model that comes with recall that is what a person has put in its place. Raises ModelError where nothing may
    go or nothing is there.
    """
    if not NAME.fullmatch(name):
        raise ModelError(f"A model's name should be letters, digits, dots, dashes and underscores, not {name!r}.")
    models = Path(paths.models)
    folders = [folder for folder in (models / name, leftovers(models, name)) if folder and _is_there(folder)]
    if name == BUNDLED and not folders:
        raise ModelError(f"{name} comes with recall and cannot be removed; there is always one model to fall back to.")
    if name == in_use != BUNDLED:
        raise ModelError(f"{name} is in use; take another one first, for example `recall models use {BUNDLED}`.")
    if not folders and not _has_vectors(paths, name, unknown=False):
        raise ModelError(
            f"{name} is not on this machine, so there is nothing to remove; `recall models` lists what is."
        )
    return folders


def remove(name: str, in_use: str, paths: StatePaths) -> Removed:
    """Delete a model that is not in use, its files first: they make room for the rest.

    Raises ModelError, and StoreBusy where the model has vectors and the index is being written; nothing is gone then.
    """
    models, keep = Path(paths.models), _kept_identity(name)
    check_removable(name, in_use, paths)
    with disk_errors(f"recall models remove {name}", models), adding(models, name):
        folders = check_removable(name, in_use, paths)
        folders += [folder for folder in models.glob(f".coreml/{name}@*") if folder.name != keep]
        with _index(paths) if _has_vectors(paths, name, unknown=True) else nullcontext() as lock:
            size = sum(file.stat().st_size for folder in folders for file in folder.rglob("*") if file.is_file())
            for folder in folders:
                _delete(folder)
            vectors, notes = _drop_vectors(paths, name) if lock else (0, [])
        try:
            forget_speeds(paths, name, keep)
        except RecallError as error:
            notes.append(f"its measured speed is still listed: {error}")
    return Removed(size, vectors, tuple(notes))


def _is_there(folder: Path) -> bool:
    return folder.is_symlink() or folder.is_dir()


def _delete(folder: Path) -> None:
    """A folder; of a link to one on another disk only the link."""
    if folder.is_symlink():
        folder.unlink()
        return
    manifest = folder / "manifest.toml"
    if manifest.is_symlink() or not manifest.is_dir():
        manifest.unlink(missing_ok=True)  # an end in the middle leaves no model without files
    shutil.rmtree(folder)


def _kept_identity(name: str) -> str:
    """The identity whose vectors stay when the folder in place of the bundled model goes; "" for other models."""
    try:
        return find_model(name, None).identity if name == BUNDLED else ""
    except ModelError:
        return ""


def _has_vectors(paths: StatePaths, name: str, *, unknown: bool) -> bool:
    """Whether the index has vectors of the model, `unknown` where it cannot be read: damaged, or on a full disk."""
    try:
        return has_vectors(Path(paths.index), name, _kept_identity(name))
    except StoreError:
        return unknown


def _drop_vectors(paths: StatePaths, name: str) -> tuple[int, list[str]]:
    """How many vectors went, and what could not be done."""
    index = Path(paths.index)
    try:
        vectors = drop_model(index, name, _kept_identity(name))
    except StoreError as error:
        return 0, [f"its vectors are still in the index: {error}; `recall models remove {name}` deletes them then"]
    try:
        shrink(index)
    except StoreError as error:
        return vectors, [f"the index keeps its size until the next removal of a model: {error}"]
    return vectors, []


def _index(paths: StatePaths) -> HeldLock:
    lock = HeldLock.wait(paths.index_lock, PATIENCE)
    if lock is None:
        raise StoreBusy(
            "the index is being brought up to date, and the model's vectors cannot go; try again after that"
        )
    return lock
