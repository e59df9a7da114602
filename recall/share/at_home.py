"""Whether a note says of itself that it stays at home: `share` with anything but a yes, `private` with one.

A reader that takes YAML by its letter would send what was meant to stay, so that every spelling of it counts.
"""

import re
import unicodedata
from collections.abc import Iterator

from recall.core.errors import SourceError
from recall.sources.files import MAX_NOTE_BYTES, read_bytes
from recall.text.decode import decode_note

_SAYS = re.compile(r"""[\s\-{'"]*(share|private)['"]?\s*[:=](.*)""", re.IGNORECASE)
_YES = {"true", "yes", "on", "y", "1"}
_NO = {"false", "no", "off", "n", "0", "never"}
#: What stands before the frontmatter, or goes on in the next line (`? share`, then `: false`).
_COMMENTS = re.compile(r"\s*(?:<!--.*?-->\s*)*", re.DOTALL)
_SPLIT = re.compile(r"^\s*\?\s*(\w+)\s*\n\s*:", re.MULTILINE)
_FENCE = re.compile(r"-{3,}|\+{3,}|\.{3}")
#: Of a note without frontmatter so many lines may say it.
_FIRST_LINES = 10


def stays_at_home(path: str) -> bool:
    """Whether a note says `share: false`, or anything near it, in its frontmatter; or just that in its first lines.
    Raises SourceError."""
    try:
        text = unicodedata.normalize("NFKC", decode_note(read_bytes(path, MAX_NOTE_BYTES)))
    except ValueError as error:
        raise SourceError(str(error)) from None
    comments = _COMMENTS.match(text)
    first, *lines = text[comments.end() if comments else 0 :].splitlines() or [""]
    if not _FENCE.fullmatch(first.rstrip()):
        return any(value in (_NO if key == "share" else _YES) for key, value in _said([first, *lines[:_FIRST_LINES]]))
    end = next((place for place, line in enumerate(lines) if _FENCE.fullmatch(line.rstrip())), len(lines))
    return any((value in _YES) == (key == "private") for key, value in _said(lines[:end]))


def _said(lines: list[str]) -> Iterator[tuple[str, str]]:
    for line in _SPLIT.sub(r"\1:", "\n".join(lines)).splitlines():
        parts = line.strip("{} ,\t").split(",") if line.lstrip().startswith("{") else [line]
        for said in map(_SAYS.fullmatch, parts):
            if said:
                yield said[1].casefold(), re.split(r"\s#", said[2])[0].strip().strip("\"'").casefold()
