"""Letting a model be seen once all of its files are checked, and the traces of an end in the middle of that.

<state>/models/.replaced-NAME   the old folder, for the moment between two renames
"""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from recall.embed.manifest import Manifest, ModelFile
from recall.models.find import own_manifest
from recall.wire.lock import same_file


def publish(staging: Path, place: Path, manifest: Manifest, files: Sequence[ModelFile]) -> None:
    """Let the model be seen: the new files of one that is there, or all of a new one by one rename."""
    own = own_manifest(manifest.name, place.parent)
    if own and own[1].installed and own[1].files == manifest.files and not place.is_symlink():
        for file in sorted(staging.iterdir(), key=lambda file: file.name == "manifest.toml"):
            if same_file(place / file.name, file.stat()):
                file.unlink()  # a rename of a link over the same file would do nothing
            else:
                file.replace(place / file.name)
        staging.rmdir()
        return
    complete(staging, files)
    if os.path.lexists(place):
        place.rename(_old(place))
    staging.rename(place)
    _drop(_old(place))


def complete(staging: Path, files: Sequence[ModelFile]) -> None:
    """Let the files that stay as they are stand beside the new ones."""
    for kept in files:
        if not (staging / kept.path.name).exists():
            _link(kept.path, staging / kept.path.name)


def restore(place: Path) -> None:
    """Finish what an end of the process between the two renames of `publish` has left."""
    if os.path.lexists(_old(place)) and not os.path.lexists(place):
        _old(place).rename(place)
    _drop(_old(place))


def _drop(folder: Path) -> None:
    """Delete a folder, or only the link where somebody put one to a larger disk."""
    if folder.is_symlink() or folder.is_file():
        folder.unlink()
    elif folder.exists():
        shutil.rmtree(folder)


def _link(source: Path, target: Path) -> None:
    """The file in a second place without a second copy, where the disk can do that."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)
    target.chmod(0o600)


def _old(place: Path) -> Path:
    return place.with_name(f".replaced-{place.name}")
