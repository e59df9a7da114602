"""Where a model lies while it is added, and the lock of whoever works at it.

<state>/models/.adding-NAME/FILE               a file that is checked
<state>/models/.adding-NAME/FILE.part-SHA256   what has come of one; the next `add` goes on from there
<state>/models/.adding-NAME.lock               held while somebody adds or removes the model
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from recall.core.errors import ModelError
from recall.embed.manifest_file import NAME
from recall.wire.lock import HeldLock


def staging_folder(models: Path, name: str) -> Path:
    """The folder of a model that is being added. Models' names begin with no dot."""
    return models / f".adding-{name}"


@contextmanager
def adding(models: Path, name: str) -> Iterator[None]:
    """Alone with the folders of one model. Raises ModelError when somebody else is at it."""
    lock = HeldLock.acquire(models / f".adding-{name}.lock")
    if lock is None:
        raise ModelError(f"{name} is being added or removed by another command; wait until that is done.")
    with lock:
        yield


def interrupted(models: Path) -> Iterator[str]:
    """The names of the models that an interrupted `add` has left something of, in order."""
    found = sorted(folder.name.removeprefix(".adding-") for folder in models.glob(".adding-*") if folder.is_dir())
    return (name for name in found if NAME.fullmatch(name))


def leftovers(models: Path, name: str) -> Path | None:
    """The folder with what an interrupted `add` has brought, if there is one."""
    staging = staging_folder(models, name)
    return staging if staging.is_dir() else None
