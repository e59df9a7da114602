"""What Claude Code loads by itself at the start of each session, and how much of it: not recall's, yet the reason why a
note is read twice or not at all.
"""

import os
from collections.abc import Iterator
from pathlib import Path

from recall.doctor.case import Case, Finding

#: Of MEMORY.md "the first 200 lines, or the first 25KB, whichever comes first" are loaded, the rest never
#: (code.claude.com/docs/en/memory).
MEMORY_LINES = 200
MEMORY_BYTES = 25_000
#: The client warns of a CLAUDE.md of more characters: "will impact performance (40.6k chars > 40.0k)"
#: (github.com/anthropics/claude-code/issues/2766 and 56406). It is loaded whole.
CLAUDE_CHARACTERS = 40_000
#: Larger files are not read: to know that they are too large is enough.
_LARGEST = 4_000_000


def loaded(case: Case) -> Iterator[Finding]:
    """Whether MEMORY.md and CLAUDE.md keep within what the client takes well."""
    found = []
    for file in memory_files(case.claude):
        lines, size = _measure(file)
        if exceeds(lines, size):
            words = f"{file} has {lines} lines and {size / 1000:.0f} KB: Claude Code loads the first 200 lines or 25 KB"
            advice = "move what stands further down into notes of their own, which recall finds"
            facts: dict[str, int | float | str] = {"lines": lines, "bytes": size}
            found.append(Finding("loaded", "note", "memory-too-long", words, advice, None, facts))
    for file in claude_files(case):
        characters = _characters(file)
        if characters > CLAUDE_CHARACTERS:
            words = f"{file} has {characters:,} characters, which every session loads; Claude Code warns from 40,000 on"
            advice = "move single decisions into notes, which recall brings when they matter"
            found.append(Finding("loaded", "note", "claude-md-long", words, advice, None, {"characters": characters}))
    yield from found or [Finding("loaded", "ok", "ok", "MEMORY.md and CLAUDE.md are within Claude Code's limits")]


def exceeds(lines: int, size: int) -> bool:
    """Whether a part of a MEMORY.md is not loaded. A pure decision."""
    return lines > MEMORY_LINES or size > MEMORY_BYTES


def memory_files(claude: list[Path]) -> list[Path]:
    """The index of each project's memory folder."""
    return [file for folder in claude for file in sorted(folder.glob("projects/*/memory/MEMORY.md")) if file.is_file()]


def claude_files(case: Case) -> list[Path]:
    """The person's CLAUDE.md and those of the working folder and the folders above it, as the client looks for them."""
    places = [folder / "CLAUDE.md" for folder in case.claude]
    if case.folder is not None:
        for folder in (case.folder, *case.folder.parents):
            places += [folder / "CLAUDE.md", folder / ".claude" / "CLAUDE.md", folder / "CLAUDE.local.md"]
    return list({os.path.realpath(file): file for file in places if file.is_file()}.values())


def _measure(file: Path) -> tuple[int, int]:
    """Lines and bytes; the bytes alone of a very large file."""
    size = file.stat().st_size
    return (file.read_bytes().count(b"\n") if size <= _LARGEST else MEMORY_LINES + 1), size


def _characters(file: Path) -> int:
    size = file.stat().st_size
    return len(file.read_text("utf-8", errors="replace")) if size <= _LARGEST else size
