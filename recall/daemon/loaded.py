"""What of a project's notes the model has before it anyway: those that the loaded part of MEMORY.md names."""

import os
from pathlib import PurePath

from recall.wire.files import open_file

#: Claude Code loads so much of `<memory>/MEMORY.md` at the start of a session (CLAUDE-CODE.md, "Memory notes").
LOADED_LINES = 200
LOADED_BYTES = 25 * 1024


class LoadedIndexes:
    """Answers `names(path)`, with each MEMORY.md read anew only when it changed."""

    def __init__(self) -> None:
        self._texts: dict[str, tuple[tuple[int, int], str]] = {}

    def names(self, path: str) -> bool:
        """Whether the loaded part of its project's MEMORY.md names the note at `path`, by file name or wikilink."""
        root = memory_root(path)
        if root is None:
            return False
        note = PurePath(path)
        text = self._text(os.path.join(root, "MEMORY.md"))  # noqa: PTH118
        return f"{note.name})" in text or f"[[{note.stem}]]" in text or f"[[{note.stem}|" in text

    def _text(self, path: str) -> str:
        try:
            state = os.stat(path)  # noqa: PTH116
            seen = (state.st_mtime_ns, state.st_size)
            known = self._texts.get(path)
            if known is None or known[0] != seen:
                with os.fdopen(open_file(path), "rb") as file:
                    known = self._texts[path] = (seen, loaded_part(file.read(LOADED_BYTES)))
        except OSError:
            return ""
        return known[1]


def loaded_part(data: bytes) -> str:
    """The part of a MEMORY.md that Claude Code loads."""
    return "\n".join(data[:LOADED_BYTES].decode("utf-8", "replace").splitlines()[:LOADED_LINES])


def memory_root(path: str) -> str | None:
    """`<claude>/projects/<name>/memory` of a note in it, None for any other file."""
    parts = PurePath(path).parts
    for place in range(len(parts) - 1, 1, -1):
        if parts[place] == "memory" and parts[place - 2] == "projects":
            return str(PurePath(*parts[: place + 1]))
    return None
