"""Head: what the beginning of another agent's session file tells of all that follows."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from recall.sources.files import read_part
from recall.sources.lines import json_object

#: Codex puts its instructions to the model into the first line: 20 KB of text, and more where tools are described.
_PART_BYTES, _LONG_BYTES = 64 * 1024, 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Head:
    """A session's identifier as its hooks get it, the folder that it began in, whether a person types into it (None
    where that is not told yet), and its name where that stands in another file."""

    session: str
    cwd: str
    by_person: bool | None
    title: str = ""


def first_records(path: str) -> Iterator[dict[str, Any]]:
    """The JSON objects at the beginning of a file, one a line, as far as a look at it goes; damaged lines are passed
    over. Raises SourceError."""
    part = read_part(path, _PART_BYTES, follow=True)
    if len(part) == _PART_BYTES and b"\n" not in part:
        part = read_part(path, _LONG_BYTES, follow=True)
    for line in part.split(b"\n"):
        if (record := json_object(line)) is not None:
            yield record


def text_of(value: object) -> str:
    """The value if it is a text, else an empty one."""
    return value if isinstance(value, str) else ""
