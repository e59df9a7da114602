"""The link `~/.local/bin/recall` by which a person calls the program. Not on Windows, where PATH is left alone."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from recall.install.made import make_folder
from recall.install.place import PROGRAM, WINDOWS, Place


@dataclass(frozen=True, slots=True)
class Link:
    """`state`: made just now, there already, or somebody else's file that stays. `on_path`: the shell finds it."""

    path: Path
    state: Literal["made", "there", "taken"]
    on_path: bool


def link_path() -> Path:
    """Where the link stands."""
    return Path("~/.local/bin").expanduser() / "recall"


def ensure_link(place: Place, environment: Mapping[str, str] = os.environ) -> Link | None:
    """Make the link, which leads through `current` and so outlives upgrades; None on Windows. Raises OSError."""
    if WINDOWS:
        return None
    path, target = link_path(), place.pointer / PROGRAM
    on_path = str(path.parent) in [os.path.normpath(folder) for folder in environment.get("PATH", "").split(os.pathsep)]
    if is_ours(path, place):
        return Link(path, "there", on_path)
    if os.path.lexists(path) and not (path.is_symlink() and not path.exists()):  # a link to nothing helps nobody
        return Link(path, "taken", on_path)
    make_folder(path.parent, place)
    temporary = path.with_name(f".recall-{os.getpid()}")
    temporary.unlink(missing_ok=True)
    temporary.symlink_to(target)
    temporary.replace(path)
    return Link(path, "made", on_path)


def is_ours(path: Path, place: Place) -> bool:
    """Whether a file is a link into the place."""
    try:
        return path.readlink().is_relative_to(place.data)
    except OSError:
        return False


def remove_link(place: Place) -> Path | None:
    """Remove the link; its path, None where it is not ours. Raises OSError."""
    path = link_path()
    if WINDOWS or not is_ours(path, place):
        return None
    path.unlink()
    return path
