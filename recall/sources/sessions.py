"""Sessions of Codex, Qwen Code and Gemini CLI: where they stand, and what is to be known of one before it is read.

    <codex>/sessions/<year>/<month>/<day>/rollout-<time>-<session>.jsonl, or in archived_sessions/
    <qwen>/projects/<name>/chats/<session>.jsonl
    <gemini>/tmp/<name>/chats/session-<time>-<begin of session>.jsonl

Each agent has a module that turns one of its lines into the record that Claude Code would have written. So all of them
are read by one fold, and whatever is left out there (`messages`) is left out here.
"""

import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from recall.core.errors import SourceError
from recall.core.types import FoundFile, Skipped
from recall.sources import codex, gemini, qwen
from recall.sources.conversations import Ending, Step, follow_records
from recall.sources.files import NOT_UNICODE, is_unicode, not_regular, printable, unreadable
from recall.sources.head import Head
from recall.sources.repository import is_path, repository_root


class Reader(NamedTuple):
    """How an agent's sessions are read. `patterns`: where they stand below a folder. `head` gives None for a file that
    says too little yet."""

    patterns: tuple[str, ...]
    head: Callable[[str], Head | None]
    record: Callable[[Mapping[str, Any]], dict[str, Any]]


READERS = (
    Reader(("sessions/*/*/*/rollout-*.jsonl", "archived_sessions/rollout-*.jsonl"), codex.head, codex.record),
    Reader(("projects/*/chats/*.jsonl",), qwen.head, qwen.record),
    Reader(("tmp/*/chats/session-*.jsonl",), gemini.head, gemini.record),
)

#: Where sessions began, by their path: the first line of a file stays, and reading thousands takes seconds.
_FOLDERS: dict[str, str] = {}


def scan_sessions(folders: Sequence[Path]) -> tuple[list[FoundFile], list[Skipped]]:
    """All sessions below these folders with the repository that each began in, in order of paths; a file that says too
    little to tell it waits. Of a file only the beginning is read, and once."""
    files: list[FoundFile] = []
    skipped: list[Skipped] = []
    for path, reader in sorted(_paths(folders)):
        if not is_unicode(path):
            skipped.append(Skipped(printable(path), NOT_UNICODE))
            continue
        try:
            status = os.stat(path)  # noqa: PTH116  # the path is a text everywhere here
        except OSError as error:
            skipped.append(Skipped(path, unreadable(error)))
            continue
        if not stat.S_ISREG(status.st_mode):
            skipped.append(Skipped(path, not_regular(status.st_mode)))
            continue
        try:
            cwd = _folder_of(path, reader)
        except SourceError as error:
            skipped.append(Skipped(path, str(error)))
            continue
        if cwd:
            files.append(FoundFile("conversation", path, repository_root(cwd), status.st_size, status.st_mtime_ns))
    return files, skipped


def is_session(path: str) -> bool:
    """Whether a path is that of a session of one of these agents."""
    return _reader_of(path) is not None


def asked_by_program(transcript: str) -> bool:
    """Whether a session of one of these agents is known to be a program's (`codex exec`, `gemini -p`, a subagent). Only
    the beginning of the file is read, which is there when the first message is handed to the hooks."""
    reader = _reader_of(transcript)
    try:
        head = reader.head(transcript) if reader else None
    except SourceError:
        return False
    return head is not None and head.by_person is False


def follow_session(found: FoundFile, state: str | None) -> Iterator[Step]:
    """As `conversations.follow`, for a session of one of these agents."""
    reader = _reader_of(found.path)
    head = reader.head(found.path) if reader else None
    if reader is None or head is None or head.by_person is None:
        yield Step(None, lambda: None, anew=False, ending=Ending(title="", left_out="empty"))
        return
    # What stands in the file's own lines may be copied from a session that this one was forked from.
    first = {"type": "session", "entrypoint": "cli" if head.by_person else "sdk-agent", "sessionId": head.session}
    title = [{"type": "ai-title", "aiTitle": head.title}] if head.title else []
    yield from follow_records(found, state, head.session, reader.record, [first, *title])


def _paths(folders: Sequence[Path]) -> Iterator[tuple[str, Reader]]:
    for folder in dict.fromkeys(folders):
        for reader in READERS:
            for pattern in reader.patterns:
                yield from ((str(path), reader) for path in folder.glob(pattern))


def _reader_of(path: str) -> Reader | None:
    file = Path(path)
    return next((reader for reader in READERS for pattern in reader.patterns if file.match(pattern)), None)


def _folder_of(path: str, reader: Reader) -> str | None:
    """The folder that a session began in, None where that is not told (yet) or is no path of this system."""
    if path not in _FOLDERS:
        head = reader.head(path)
        if head is None or not is_path(head.cwd):
            return None
        _FOLDERS[path] = head.cwd
    return _FOLDERS[path]
