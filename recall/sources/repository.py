"""Repository: the root folder that stands for a path, found by reading files, without a git process.

All worktrees and sub-folders of a repository have one root: that of its main worktree.
"""

import os
import stat
from pathlib import Path

from recall.core.errors import SourceError
from recall.sources.files import is_unicode, read_bytes

#: A `.git` file and its like hold one path.
_MAX_POINTER_BYTES = 8192
#: PATH_MAX of Linux. What is longer was made up and would only cost time.
_MAX_PATH_CHARACTERS = 4096


def is_path(text: str) -> bool:
    """Whether a text can be an absolute path of this system; transcripts also name those of others."""
    return len(text) <= _MAX_PATH_CHARACTERS and "\0" not in text and is_unicode(text) and Path(text).is_absolute()


def real_path(path: str) -> str:
    """The path with all links resolved, whether it exists or not; as it stands when it is none of this system."""
    return os.path.realpath(path) if is_path(path) else path


def repository_root(path: str) -> str:
    """The real path of the repository that holds `path`: the nearest folder with `.git`, or a worktree's main one.

    Outside of any repository it is `real_path`. The path need not exist any more: a deleted folder of a repository
    belongs to it still. Looks up one name in each parent folder, so it is cheap enough for every message.
    """
    if not is_path(path):
        return path
    real = Path(os.path.realpath(path))
    for folder in (real, *real.parents):
        try:
            mode = (folder / ".git").stat().st_mode
        except OSError:
            continue
        return str(folder if stat.S_ISDIR(mode) else _main_worktree(folder))
    return str(real)


def is_whole(root: str) -> bool:
    """Whether a root is there and says which repository it belongs to: a worktree whose repository was moved away, or
    deleted, does not."""
    pointer = Path(root) / ".git"
    if not pointer.is_file():
        return Path(root).is_dir()
    administrative = _pointer(pointer, "gitdir: ")
    return administrative is not None and administrative.exists()


def _main_worktree(folder: Path) -> Path:
    """The main worktree of a folder whose `.git` is a file; the folder itself for submodules and broken pointers.

    A repository of someone else must not name ours as its own to be shown our notes. So the pointer counts only where
    git made it: into `worktrees/` of the repository that it names, from where another file points back.
    """
    administrative = _pointer(folder / ".git", "gitdir: ")
    common = _pointer(administrative / "commondir") if administrative else None
    if administrative is None or common is None or administrative.parent != common / "worktrees":
        return folder
    back = _pointer(administrative / "gitdir")
    if back is not None and back != folder / ".git":
        return folder
    return common.parent if common.name == ".git" else common


def _pointer(file: Path, prefix: str = "") -> Path | None:
    """The real path that a file of git names, relative to the file's folder or absolute; None where it names none."""
    try:
        line = os.fsdecode(read_bytes(str(file), _MAX_POINTER_BYTES)).strip()
    except SourceError:
        return None
    if not line.startswith(prefix) or "\0" in line:
        return None
    return Path(os.path.realpath(file.parent / line.removeprefix(prefix).strip()))
