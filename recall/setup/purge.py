"""Deleting what recall keeps for a person: by its names, so that whatever else a folder holds stays."""

import contextlib
import shutil
from pathlib import Path

from recall.core.config import render_default_config
from recall.core.errors import RecallError, UsageError
from recall.wire.files import read_file
from recall.wire.paths import StatePaths

#: Everything that any part of recall writes into a state folder, as patterns.
NAMES = (
    "config.toml", "index.sqlite3*", "models", "everyday", "gates.toml*", "mutes.json*", "devices.json",
    "injections.jsonl*", "daemon.log*", "hook.log*", "index.log*", "daemon.lock", "start.lock", "index.lock",
    "mutes.lock", "share.json", "share.sqlite3*", "share.pass", "share.lock", "endpoint*", "recall.sock",
    "bin/recall-hook", "bin", "backup/*.json", "backup/*.before", "backup", ".*.tmp",
)  # fmt: skip
#: Of these one at least stands in a folder that recall has used, and hardly in another.
MARKS = ("index.sqlite3", "daemon.lock", "index.lock", "injections.jsonl")
#: How the config.toml begins that setup writes.
HEADER = render_default_config({})[:20].encode()
#: Folders that may hold what others put there.
_SHARED = ("bin", "backup")


def purge(paths: StatePaths) -> list[Path] | None:
    """Delete index, models, settings and logs of a state folder, and the folder when that leaves it empty.

    Returns what stays in it: files that are not ours; None where recall has kept nothing there, and nothing is
    deleted. Raises UsageError, RecallError.
    """
    home = Path(paths.home)
    if Path.home().is_relative_to(home):  # a person's own `bin` and `models` would go
        raise UsageError(f"expected a folder of recall's own to purge, found {home}; delete by hand what you want gone")
    if not _is_used(home):
        return None
    try:
        for pattern in NAMES:
            for path in home.glob(pattern):
                if path.name in _SHARED:
                    with contextlib.suppress(OSError):
                        path.rmdir()
                elif path.is_dir() and not path.is_symlink():
                    shutil.rmtree(path)
                else:
                    path.unlink()
        with contextlib.suppress(OSError):
            home.rmdir()
        return sorted(home.iterdir()) if home.exists() else []
    except OSError as error:
        raise RecallError(
            f"{error.filename} cannot be deleted ({error.strerror}); mend that and run it again"
        ) from error


def _is_used(home: Path) -> bool:
    """Whether recall has used a folder: a project may have its own config.toml, models and bin."""
    try:
        begin = read_file(home / "config.toml")[: len(HEADER)]
    except OSError:
        begin = b""
    return begin == HEADER or any((home / name).exists() for name in MARKS)
