"""Memory notes of Qwen Code and Codex.

    <qwen>/projects/<name>/memory/**                  as Claude Code's: one matter a file, MEMORY.md their index
    <codex>/memories/rollout_summaries/*.md           what Codex kept of a session, with `cwd: ...` at its top

Codex's other files hold all of this once more in one piece (`MEMORY.md`, `raw_memories.md`) or are loaded by it anyway
(`memory_summary.md`). Gemini CLI loads all that it keeps (`GEMINI.md`), and AGENTS.md and its like are loaded too.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from recall.core.errors import SourceError
from recall.core.types import Document, FoundFile, Skipped
from recall.sources import memory
from recall.sources.files import MAX_NOTE_BYTES, is_unicode, read_bytes, read_part
from recall.sources.projects import MAX_ENCODED_CHARACTERS, Projects, encode
from recall.sources.repository import is_path, repository_root
from recall.sources.transcripts import session_folders
from recall.sources.walk import walk_notes
from recall.text.clean import one_line
from recall.text.decode import decode_note

_SUMMARIES = "rollout_summaries"
#: The lines above the first empty one; the folder's path is at most this long with them.
_TOP_BYTES = 8192
_FIELD = re.compile(r"(\w+): (.*)")
#: What Codex puts before the words of a summary's name: time and a short digest.
_STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\w{4}-?")


def scan_memory(folders: Sequence[Path], projects: Projects) -> tuple[list[FoundFile], list[Skipped]]:
    """All memory notes below these folders, in order of paths; whatever cannot be looked at is one line."""
    files: list[FoundFile] = []
    skipped: list[Skipped] = []
    for folder in dict.fromkeys(folders):
        if not is_unicode(str(folder)):
            continue
        for root, project in _qwen_projects(folder, projects):
            walk = walk_notes(root)
            skipped += walk.skipped
            files += [
                FoundFile("memory", path, project, status.st_size, status.st_mtime_ns) for path, status in walk.files
            ]
        walk = walk_notes(str(folder / "memories" / _SUMMARIES))
        skipped += walk.skipped
        for path, status in walk.files:
            try:
                cwd = _fields(decode_note(read_part(path, _TOP_BYTES))).get("cwd", "")
            except (SourceError, ValueError) as error:
                skipped.append(Skipped(path, str(error)))
                continue
            if is_path(cwd):
                files.append(FoundFile("memory", path, repository_root(cwd), status.st_size, status.st_mtime_ns))
    return sorted(files, key=lambda file: file.path), skipped


def read_memory(found: FoundFile) -> Document:
    """The note of a file that a scan found, whosever it is. SourceError, as the reason under `skipped`, for none."""
    path = Path(found.path)
    if path.parent.name != _SUMMARIES:
        return memory.read(found)
    try:
        text = decode_note(read_bytes(found.path, MAX_NOTE_BYTES))
    except ValueError as error:
        raise SourceError(str(error)) from None
    body = text.partition("\n\n")[2].strip()
    lines = [line for line in map(_words, body.splitlines()) if line]
    if not lines:
        raise SourceError("is empty")
    name = _STAMP.sub("", path.stem).replace("_", " ").strip() or path.stem
    return Document("memory", found.path, found.project, one_line(name), lines[0], body)


def _qwen_projects(folder: Path, projects: Projects) -> Iterator[tuple[str, str]]:
    """Folders of notes and the key of their project: the repository of the sessions beside them, else the known one
    whose path encodes to the folder's name, else that name."""
    known: dict[str, set[str]] = {}
    for key in filter(is_path, projects.by_key):
        known.setdefault(encode(key), set()).add(key)
    for notes in sorted(folder.glob("projects/*/memory")):
        name = notes.parent.name
        if not is_unicode(str(notes)):
            continue
        began = [
            repository_root(cwds[0]) for cwds in session_folders(str(notes.with_name("chats"))) if is_path(cwds[0])
        ]
        named = known.get(name[:MAX_ENCODED_CHARACTERS], set())
        yield str(notes), began[0] if began else next(iter(named)) if len(named) == 1 else name


def _fields(text: str) -> dict[str, str]:
    """The fields above the first empty line."""
    matches = map(_FIELD.fullmatch, text.partition("\n\n")[0].splitlines())
    return {match[1]: match[2].strip() for match in matches if match}


def _words(line: str) -> str:
    """A line of Markdown without the signs at its begin."""
    return one_line(line).lstrip("#*->").strip()
