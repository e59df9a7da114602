"""Transcripts: the folders that the sessions of a project's transcript folder ran in.

The name of a transcript folder cannot be turned back into a path. Each line of a transcript holds it as `cwd`.
"""

import os
from collections.abc import Iterator
from contextlib import suppress

from recall.core.errors import SourceError
from recall.sources.files import read_part
from recall.sources.lines import json_object

#: How many of the newest transcripts are looked at, and how much of each. The first message, which holds `cwd`,
#: follows a few short lines; where it is longer than this (a pasted image), the end of the file is looked at.
_NEWEST = 3
_PART_BYTES = 64 * 1024


def session_folders(folder: str) -> list[list[str]]:
    """The different `cwd` values, as they stand, in the newest transcripts of a folder, newest first.

    One list a transcript, in order of the lines. Subagents' files (`agent-*`) do not count: they may run elsewhere.
    """
    found = (_working_directories(path) for path in _newest_transcripts(folder))
    return [directories for directories in found if directories]


def _newest_transcripts(folder: str) -> list[str]:
    dated: list[tuple[int, str]] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.endswith(".jsonl") and not entry.name.startswith("agent-"):
                    with suppress(OSError):  # deleted under our eyes, or a link to nowhere
                        dated.append((entry.stat().st_mtime_ns, entry.path))
    except OSError:
        pass  # Without access the project goes by the name of its folder; the notes are found all the same.
    return [path for _, path in sorted(dated, reverse=True)[:_NEWEST]]


def _working_directories(path: str) -> list[str]:
    try:
        directories = list(dict.fromkeys(_values(read_part(path, _PART_BYTES, follow=True))))
        return directories or list(dict.fromkeys(_values(read_part(path, _PART_BYTES, from_end=True, follow=True))))
    except SourceError:
        return []


def _values(part: bytes) -> Iterator[str]:
    """The `cwd` of each whole line; half, damaged and other lines are passed over."""
    for line in part.split(b"\n"):
        if b'"cwd"' not in line:
            continue
        cwd = (json_object(line) or {}).get("cwd")
        if isinstance(cwd, str) and cwd:
            yield cwd
