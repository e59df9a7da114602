"""Memory notes: the Markdown files in which Claude Code keeps what a person told it, one matter a file.

    <claude>/projects/<name>/memory/**     of the project of that folder
    <claude>/agent-memory/<agent>/**       of subagents, in every project: shared
    autoMemoryDirectory in <claude>/settings.json, one for all projects: shared
    <root>/.claude/agent-memory/<agent>/** and agent-memory-local/**, of a repository's subagents, if it is trusted

A file that can be reached on several ways (two accounts, a link, a file system that ignores case) counts once, where
it stands itself.
"""

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from recall.core.errors import SourceError
from recall.core.types import SHARED, Document, FoundFile, Skipped
from recall.sources.files import is_inside, is_unicode, read_bytes
from recall.sources.notes import name_of, read_note
from recall.sources.projects import Projects, discover
from recall.sources.repository import is_path
from recall.sources.trust import read_trust
from recall.sources.walk import walk_notes

_REPOSITORY_FOLDERS = (".claude/agent-memory", ".claude/agent-memory-local")
_MAX_SETTINGS_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Scan:
    """What there is to index, in order of paths, what is left out and why, and the projects of the keys."""

    files: list[FoundFile]
    skipped: list[Skipped]
    projects: Projects


def scan(claude_folders: Sequence[Path], projects: Projects | None = None) -> Scan:
    """All memory notes, without opening any. Missing folders are empty; whatever else fails is one line in `skipped`.

    `projects` is what `discover` found in the same folders just now; without it, it is asked.
    """
    if projects is None:
        projects = discover(claude_folders)
    files: list[FoundFile] = []
    skipped = list(projects.skipped)
    seen: set[tuple[int, int] | str] = set()
    for root, project in _roots(claude_folders, projects, skipped):
        walk = walk_notes(root)
        skipped += walk.skipped
        for path, status in walk.files:
            # File systems without file numbers report 0.
            identity = (status.st_dev, status.st_ino) if status.st_ino else path
            if identity not in seen:
                seen.add(identity)
                files.append(FoundFile("memory", path, project, status.st_size, status.st_mtime_ns))
    return Scan(sorted(files, key=lambda found: found.path), skipped, projects)


def read(found: FoundFile) -> Document:
    """The note of a file that a scan found. SourceError, as the reason under `skipped`, when it is none any more."""
    note = read_note(found.path)
    name = name_of(note, found.path)
    return Document("memory", found.path, found.project, name, note.description, note.body)


def _roots(claude_folders: Sequence[Path], projects: Projects, skipped: list[Skipped]) -> Iterator[tuple[str, str]]:
    """Folders of notes and the key of their project, those that are links last: a note counts where it stands."""
    folders = [(Path(folder), key) for folder, key in projects.folders.items()]
    for folder, key in sorted(folders, key=lambda item: item[0].is_symlink() or (item[0] / "memory").is_symlink()):
        yield str(folder / "memory"), key
    for claude in claude_folders:
        if is_unicode(str(claude)) and os.access(claude, os.X_OK):  # else `projects.skipped` says so
            yield str(claude / "agent-memory"), SHARED
            if configured := _configured_folder(claude / "settings.json", skipped):
                yield configured, SHARED
    trust = read_trust(claude_folders)
    for root in filter(is_path, projects.by_key):
        for name in _REPOSITORY_FOLDERS:
            folder = Path(root, name)
            # That of the home folder is the person's own, found above.
            if not os.path.lexists(folder) or Path(root, ".claude") in claude_folders:
                continue
            if refusal := trust.refusal(folder, root):
                skipped.append(refusal)
            else:
                yield str(folder), root


def _configured_folder(settings: Path, skipped: list[Skipped]) -> str | None:
    """`autoMemoryDirectory` of a settings.json, None where there is none or it cannot be meant."""
    if not settings.is_file():
        return None
    try:
        loaded = json.loads(read_bytes(str(settings), _MAX_SETTINGS_BYTES, follow=True))
    except (SourceError, ValueError, RecursionError):
        skipped.append(
            Skipped(str(settings), "cannot be read as JSON: its autoMemoryDirectory, if any, is not searched")
        )
        return None
    value = loaded.get("autoMemoryDirectory") if isinstance(loaded, dict) else None
    if not isinstance(value, str) or not value:
        return None
    with suppress(RuntimeError):  # a user of this name, or a home folder, does not exist
        folder = str(Path(value).expanduser())
        if not is_path(folder):
            skipped.append(Skipped(str(settings), "autoMemoryDirectory must be an absolute path or begin with ~/"))
        elif is_inside(os.path.realpath(Path.home()), os.path.realpath(folder)):
            skipped.append(Skipped(str(settings), "autoMemoryDirectory holds the whole home folder: not searched"))
        else:
            return folder
    return None
