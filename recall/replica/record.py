"""A record as it travels between the machines of a team: masked text, and nothing of where it lies on its machine."""

import hashlib
import json
import re
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import PurePosixPath
from typing import get_args

from recall.core.types import Kind
from recall.text.clean import one_line, visible, whole
from recall.text.masking import mask

#: Longest parts in characters. Headlines show 80 and 200 of name and description; of a body `recall.index.reading`
#: masks and embeds no more than this.
MAX_NAME, MAX_DESCRIPTION, MAX_BODY, MAX_SUCCESSOR = 200, 1000, 8192, 80
#: Longest project name and path within it.
MAX_PROJECT, MAX_PATH = 100, 400

#: How often a text is masked and cut anew; the second time seldom finds something, the third nothing that was seen.
_ROUNDS = 4

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_LANGUAGE = re.compile(r"[a-z]{2,3}")
_DRIVE = re.compile(r"[A-Za-z]:")


@dataclass(frozen=True, slots=True)
class TeamRecord:
    """One record's text. Of a conversation it is title and date, with an empty body."""

    kind: Kind
    name: str
    description: str
    body: str
    date: str | None = None  # ISO 8601 day
    language: str | None = None
    successor: str | None = None  # what replaced a decision, as `Document.successor`

    @property
    def id(self) -> bytes:
        """The SHA-256 of all of it: the same record on two machines is one."""
        text = json.dumps(asdict(self), ensure_ascii=False, sort_keys=True)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def cleaned(record: TeamRecord) -> TeamRecord | None:
    """The record as it may be kept and shown: masked, and cut to its lengths; None where nothing is left to show.

    What others sent is not believed: neither the kind, nor that a line is one line, nor that secrets are masked.
    Raises MaskingError.
    """
    if record.kind not in get_args(Kind):
        return None
    name = _line(record.name, MAX_NAME)
    if not name:
        return None
    return TeamRecord(
        kind=record.kind,
        name=name,
        description=_line(record.description, MAX_DESCRIPTION),
        body="" if record.kind == "conversation" else _kept(visible(record.body), MAX_BODY),
        date=record.date if record.date and _DATE.fullmatch(record.date) else None,
        language=record.language if record.language and _LANGUAGE.fullmatch(record.language) else None,
        successor=None if record.successor is None else _line(record.successor, MAX_SUCCESSOR),
    )


def _line(text: str, limit: int) -> str:
    """A text as one line of at most so many characters. Raises MaskingError."""
    return _kept(one_line(text), limit).strip()


def _kept(text: str, limit: int) -> str:
    """A text as the masker leaves it in its final length: what was no secret in a longer text may be one in a part."""
    for _ in range(_ROUNDS):
        before, text = text, whole(_masked(text), limit)
        if text == before:
            break
    return text


@lru_cache(4096)
def _masked(text: str) -> str:
    return mask(text).text


def plain_project(name: str) -> str:
    """A project's name as it may be kept and shown. Raises MaskingError."""
    return _line(name, MAX_PROJECT)


def plain_path(path: str) -> str | None:
    """A path within a project, with `/`; None where it is none: upwards, absolute, with a drive or a backslash, not one
    line, too long, or with a secret in it. Raises MaskingError."""
    if not path:
        return ""
    if len(path) > MAX_PATH:
        return None
    pure = PurePosixPath(path)
    path = str(pure)  # judged as it is kept: "./C:" is a drive without its "./"
    if pure.is_absolute() or ".." in pure.parts or "\\" in path or _DRIVE.match(path):
        return None
    return path if one_line(path) == path and _masked(path) == path else None


def place_of(kind: Kind, project: str, path: str) -> bytes:
    """The SHA-256 that stands for a place on a machine: nothing of the names is left in it when a record is gone."""
    return hashlib.sha256("\0".join((kind, project, path)).encode("utf-8", "surrogatepass")).digest()
