"""Shared value types: records on their way from a file to a headline."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

Kind = Literal["memory", "knowledge", "conversation"]
KINDS: tuple[Kind, ...] = ("memory", "knowledge", "conversation")
Tier = Literal["none", "some", "strong"]

#: The word that stands for each kind in a headline.
LABELS: dict[Kind, str] = {"memory": "memory", "knowledge": "rule", "conversation": "conversation"}

#: Numbers in the background of a text: its mean score over each group of everyday messages (`late.everyday.GROUPS`),
#: and the deviation over all of them.
BACKGROUND = 6

#: Key of the project of records that belong to all projects.
SHARED = ""

#: How the paths, and the keys of the projects, of records begin that came from another machine of the team: they lie in
#: no file here.
TEAM = "share:"
#: How a mute of all that a person of the team has shared begins.
PERSON = "person:"


@dataclass(frozen=True, slots=True)
class Project:
    """One repository (or plain folder) of the person.

    `key` identifies it: the real path of its root where that is known, else the encoded folder name under
    `<claude>/projects/` as it stands. `name` is what people see and type (the last part of the path).
    """

    key: str
    name: str


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A record file that a scan saw: enough to decide, without opening it, whether it may have changed."""

    kind: Kind
    path: str
    project: str  # Project.key
    size: int  # bytes
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that was not indexed, and why, in words for the person."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Document:
    """A record as read from its file: cleaned text, never empty in `name`."""

    kind: Kind
    path: str
    project: str  # Project.key
    name: str
    description: str
    body: str
    date: str | None = None  # ISO 8601 day, conversations only
    key: str = ""  # tells the documents of one file apart: a transcript holds many exchanges
    session: str | None = None  # conversations: the session that the exchange belongs to
    language: str | None = None  # "en", "ja", ...: of a record that exists in several languages
    group: str | None = None  # the same for all language versions of one record; at most one of a group is shown
    successor: str | None = (
        None  # knowledge: short name of the record that replaced this one ("0031"); "" if nothing did
    )
    successor_path: str | None = None  # where that record stands, when it is known
    origin: str | None = None  # the machine of the team that it came from; None: it is the person's own
    person: str | None = None  # whose machine that is

    @property
    def sessions(self) -> frozenset[str]:
        """All sessions that hold the exchange, as far as the file alone tells."""
        return frozenset((self.session,)) if self.session else frozenset()


class AnyRecord(Protocol):
    """A document's headline, wherever it comes from: what search, and what stands between records, need of it."""

    @property
    def kind(self) -> Kind: ...
    @property
    def path(self) -> str: ...
    @property
    def project(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def date(self) -> str | None: ...
    @property
    def session(self) -> str | None: ...
    @property
    def sessions(self) -> Collection[str]: ...
    @property
    def language(self) -> str | None: ...
    @property
    def group(self) -> str | None: ...
    @property
    def successor(self) -> str | None: ...
    @property
    def successor_path(self) -> str | None: ...
    @property
    def origin(self) -> str | None: ...
    @property
    def person(self) -> str | None: ...


@dataclass(frozen=True, slots=True)
class Hit:
    """One ranked document; `rank` starts at 1.

    `score` is on the scale of the model and the index: how many deviations of everyday messages the document scores
    above what they score on it. `signs` are what it was made of: `dense` and `late`, in the same unit, and `cosine`,
    the plain one of its best chunk.
    """

    rank: int
    score: float
    kind: Kind
    name: str
    description: str
    path: str
    project: str  # Project.key
    date: str | None = None
    session: str | None = None
    language: str | None = None
    group: str | None = None
    successor: str | None = None
    successor_path: str | None = None
    origin: str | None = None
    signs: Mapping[str, float] = field(default_factory=dict, hash=False)
