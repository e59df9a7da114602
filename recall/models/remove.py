"""Removing a model from the machine: its files, what an interrupted `add` left, its vectors, its measured speed."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from recall.core.errors import ModelError, StoreBusy
from recall.embed.manifest import BUNDLED
from recall.embed.manifest_file import NAME
from recall.models.disk import disk_errors
from recall.models.places import adding, leftovers
from recall.models.speeds import forget_speeds
from recall.store.cleanup import drop_model
from recall.wire.lock import HeldLock
from recall.wire.paths import StatePaths

#: Seconds to wait for a run over the index that is just ending.
PATIENCE = 5.0


@dataclass(frozen=True, slots=True)
class Removed:
    """What went: bytes of files, and vectors of the index."""

    bytes: int
    vectors: int


def check_removable(name: str, in_use: str, models: Path) -> list[Path]:
    """The folders that removing the model would delete. Raises ModelError where that must not be."""
    if not NAME.fullmatch(name):
        raise ModelError(f"A model's name should be letters, digits, dots, dashes and underscores, not {name!r}.")
    if name == BUNDLED:
        raise ModelError(f"{name} comes with recall and cannot be removed; there is always one model to fall back to.")
    if name == in_use:
        raise ModelError(f"{name} is in use; take another one first, for example `recall models use {BUNDLED}`.")
    folders = [folder for folder in (models / name, leftovers(models, name)) if folder and folder.is_dir()]
    if not folders:
        raise ModelError(
            f"{name} is not on this machine, so there is nothing to remove; `recall models` lists what is."
        )
    return folders


def remove(name: str, in_use: str, paths: StatePaths) -> Removed:
    """Delete a model that is not in use. Raises ModelError, StoreBusy and other StoreErrors."""
    models = Path(paths.models)
    check_removable(name, in_use, models)
    with disk_errors(name, models), adding(models, name):
        folders = [*check_removable(name, in_use, models), *models.glob(f".coreml/{name}@*")]
        with _index(paths):
            vectors = drop_model(Path(paths.index), name)
        size = sum(file.stat().st_size for folder in folders for file in folder.rglob("*") if file.is_file())
        for folder in folders:
            if folder.is_symlink():
                folder.unlink()
                continue
            (folder / "manifest.toml").unlink(missing_ok=True)  # an end in the middle leaves no model without files
            shutil.rmtree(folder)
        forget_speeds(paths, name)
    return Removed(size, vectors)


def _index(paths: StatePaths) -> HeldLock:
    lock = HeldLock.wait(paths.index_lock, PATIENCE)
    if lock is None:
        raise StoreBusy(
            "the index is being brought up to date, and the model's vectors cannot go; try again after that"
        )
    return lock
