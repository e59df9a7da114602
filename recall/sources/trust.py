"""Trust: which folders the person has told Claude Code to trust, so that their files may be read and shown.

Claude Code keeps this in `.claude.json`, which lies beside `~/.claude`, or inside the folder that CLAUDE_CONFIG_DIR
names: `{"projects": {"<path>": {"hasTrustDialogAccepted": true}}}`. The format is internal to it and may change.
"""

import json
import os
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from recall.core.errors import SourceError
from recall.core.types import Skipped
from recall.sources.files import is_inside, printable, read_bytes
from recall.sources.repository import is_path, real_path

#: The file also keeps each project's history and pasted texts, so it grows to megabytes.
_MAX_BYTES = 64 * 1024 * 1024
_FILE = ".claude.json"

NOT_TRUSTED = "this repository is not trusted in Claude Code; open it there once"


@dataclass(frozen=True, slots=True)
class Trust:
    """The trusted folders of all accounts. `problem` says, where it is not empty, why there may be others."""

    folders: frozenset[str]
    problem: str = ""

    def covers(self, path: str) -> bool:
        """Whether this real path or a folder above it is trusted."""
        place = Path(_form(path))
        return any(str(folder) in self.folders for folder in (place, *place.parents))

    def refusal(self, folder: Path, root: str) -> Skipped | None:
        """Why a folder of the repository at `root` (a real path) must not be read; None where it may.

        Its path ends in `**` where what is stored of it is to go: what lies below a skipped folder itself is kept.
        """
        if not is_inside(os.path.realpath(folder), root):
            # A repository of someone else could show us any folder of the disk.
            return Skipped(str(folder / "**"), f"is a link that leads out of {printable(root)}: not followed")
        if self.covers(root):
            return None
        if self.problem:
            # Claude Code writes its file often: one look at a bad moment must not empty the index.
            return Skipped(str(folder), f"not read: {self.problem}")
        return Skipped(str(folder / "**"), NOT_TRUSTED)


def read_trust(claude_folders: Iterable[Path]) -> Trust:
    """What the accounts of these folders trust. A file is read again when its size or time has changed.

    Never fails: with a broken file, or none at all, nothing is trusted by it, and `problem` says so.
    """
    folders: frozenset[str] = frozenset()
    problems: list[str] = []
    found = False
    missing = ""
    for claude in claude_folders:
        for file in _files_of(claude):
            try:
                status = file.stat()
                folders |= _trusted(str(file), status.st_size, status.st_mtime_ns)
                found = True
            except (FileNotFoundError, NotADirectoryError):
                missing = missing or str(file)
            except (OSError, SourceError, ValueError, RecursionError):
                problems.append(f"{file} cannot be read, so that no folder counts as trusted in Claude Code by it")
    if not found and not problems and missing:
        problems.append(f"{missing} is missing, so that no folder counts as trusted in Claude Code")
    return Trust(folders, problems[0] if problems else "")


def _files_of(claude: Path) -> list[Path]:
    """Where the account of a Claude folder may keep the file, the likelier place first."""
    inside = claude / _FILE
    return [claude.with_name(_FILE), inside] if claude.name == ".claude" else [inside]


@lru_cache(maxsize=16)
def _trusted(file: str, size: int, mtime_ns: int) -> frozenset[str]:
    """The trusted folders of one version of a file, as called and as they really are; ValueError for no such JSON."""
    loaded = json.loads(read_bytes(file, _MAX_BYTES, follow=True))
    projects = loaded.get("projects", {}) if isinstance(loaded, dict) else None
    if not isinstance(projects, dict):
        raise ValueError("not an object with projects")
    accepted = [
        path
        for path, project in projects.items()
        if isinstance(project, dict) and project.get("hasTrustDialogAccepted") is True and is_path(path)
    ]
    return frozenset(_form(form) for path in accepted for form in (path, real_path(path)))


def _form(path: str) -> str:
    """Paths are compared in this form: macOS gives one name composed or decomposed, Windows in any case and slash."""
    return unicodedata.normalize("NFC", os.path.normcase(os.path.normpath(path)))
