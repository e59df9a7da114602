"""Outgoing: which of this machine's records are shared, and what of them leaves it. Nothing here reaches the network.

A record is read and masked as it is for the index. Its place on this machine does not leave with it, but the part of
its path below the project. Of a conversation only a title leaves that is no message of the person, and its date.
"""

import hashlib
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path, PurePath

from recall.core.config import Config
from recall.core.types import SHARED, Document, FoundFile, Kind, Skipped
from recall.index.plan import plan
from recall.index.reading import prepare
from recall.index.sources import Source, configured_sources
from recall.replica.record import TeamRecord, cleaned, place_of, plain_path, plain_project
from recall.replica.replica import Sent
from recall.share.at_home import stays_at_home
from recall.share.titles import given_title
from recall.sources.files import is_inside
from recall.sources.projects import discover, encode
from recall.sources.repository import is_path, is_whole, repository_root
from recall.sources.spelled import spelled_path
from recall.store.entries import Stored
from recall.store.extracts import Session, open_extracts

_UNSURE = (
    "nobody can tell which project it belongs to: its folder, or its repository, is not there any more; what was "
    "shared of it stays so, nothing new goes"
)
#: How the project of records is called that belong to all projects, as in `recall status`.
ALL_PROJECTS = "shared"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A record that may leave the machine: where it stands here, and where it is to stand for others.

    `read` gives its text, None where it stays at home. Raises SourceError, MaskingError.
    """

    kind: Kind
    file: str
    project: str
    path: str
    size: int
    mtime_ns: int | None
    read: Callable[[], TeamRecord | None]
    changed: bool = True

    @property
    def place(self) -> bytes:
        """Its place as the server knows it. A session's is told from others by its file's name."""
        return place_of(self.kind, self.project, self.path or PurePath(self.file).stem)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the person shares: kinds, the names of projects (none: all), and those of them that stay at home."""

    kinds: Collection[str]
    projects: Collection[str]
    not_projects: Collection[str]

    @classmethod
    def of(cls, config: Config) -> "Wanted":
        """As config.toml says."""
        return cls(
            frozenset(config["share.kinds"]),
            frozenset(map(str.casefold, config["share.projects"])),
            frozenset(map(str.casefold, config["share.not_projects"])),
        )

    def takes(self, key: str, project: str) -> bool:
        """Whether records of a project are shared, by its key and what it is called for others.

        What keeps a project at home holds for every name that it may go by: it is known by its path while a transcript
        tells that, else by the name of Claude's folder for it, which spells the path with `-`.
        """
        if any(is_called(key, name) for name in self.not_projects):
            return False
        return not self.projects or project.casefold() in self.projects or key.casefold() in self.projects

    def can_tell(self, key: str) -> bool:
        """Whether it can be said of a project which one it is. What is left of a worktree or a folder that has gone
        goes by a name of its own, and was part of one that stays at home, perhaps."""
        return key == SHARED or (is_path(key) and (not (self.projects or self.not_projects) or is_whole(key)))


def candidates(
    folders: Sequence[Path], config: Config, index: Path, sent: Mapping[str, Sent] | None = None
) -> tuple[list[Candidate], list[Skipped]]:
    """All records that may be shared, each place once, and what could not be looked at, by file.

    With what is `sent` already, a file that has not changed since is marked so. Raises ConfigError, StoreError.
    """
    sent = sent or {}
    wanted = Wanted.of(config)
    places = cache(_place)
    unsure: set[str] = set()
    projects = discover(folders)
    found: dict[bytes, Candidate] = {}
    skipped: list[Skipped] = []
    for source in configured_sources(folders, projects, config):
        if not isinstance(source, Source) or source.embedded is not None or source.kind not in wanted.kinds:
            continue
        scan = source.scan()
        skipped += scan.skipped
        names = {key: project.name for key, project in scan.projects.by_key.items()}
        stored = {file: Stored("", one.size, one.mtime_ns, complete=True) for file, one in sent.items() if one.mtime_ns}
        decided = plan(stored, [replace(file, project="") for file in scan.files], [item.path for item in scan.skipped])
        unchanged = {file.path for file in decided.unchanged}
        for file in scan.files:
            key = places(file.project)
            if not wanted.can_tell(key):
                unsure.add(_claude_folder(file.path, folders))
                continue
            project = project_for_others(key, names)
            if wanted.takes(key, project):
                _add(found, _of_file(source, file, project, folders, changed=file.path not in unchanged))
    if "conversation" in wanted.kinds and config["conversations.enabled"]:
        names = {key: project.name for key, project in projects.by_key.items()}
        for key, talk in _conversations(index, names, sent, places):
            known = sent.get(talk.file)
            if not wanted.can_tell(key):
                unsure.add(_claude_folder(talk.file, folders))
            elif wanted.takes(key, talk.project):
                same = known is not None and (known.size, known.mtime_ns) == (talk.size, talk.mtime_ns)
                _add(found, replace(talk, changed=not same))
    return list(found.values()), skipped + [Skipped(folder, _UNSURE) for folder in sorted(unsure)]


def _place(key: str) -> str:
    """The key of a project that goes by the name of Claude's folder for it: where that stands, if it is still there."""
    if key == SHARED or is_path(key):
        return key
    path = spelled_path(key)
    return repository_root(path) if path else key


def _claude_folder(file: str, folders: Sequence[Path]) -> str:
    """What holds the notes and sessions of the project that a file belongs to."""
    for folder in folders:
        if is_inside(file, str(folder / "projects")) and (
            parts := PurePath(file).relative_to(folder / "projects").parts
        ):
            return str(folder / "projects" / parts[0])
    return str(PurePath(file).parent)


def is_called(key: str, name: str) -> bool:
    """Whether a project may be meant by a name: the end of its path, in any spelling of that."""
    if key == SHARED:
        return name.casefold() == ALL_PROJECTS
    spelled, wanted = encode(key).casefold(), encode(name.strip().strip("/\\")).casefold()
    return bool(wanted) and (spelled == wanted or spelled.endswith("-" + wanted.lstrip("-")))


def meant_by_nothing(folders: Sequence[Path], config: Config) -> list[str]:
    """The names in `share.projects` and `share.not_projects` that are those of no project here."""
    keys = [SHARED, *discover(folders).by_key]
    listed = dict.fromkeys([*config["share.projects"], *config["share.not_projects"]])
    return [name for name in listed if not any(is_called(key, name) for key in keys)]


def kept_unseen(sent: Mapping[str, Sent], found: Collection[Candidate], skipped: Sequence[Skipped]) -> Iterator[Sent]:
    """What the server has of files that this look did not find because something above them could not be read: a disk
    that is not there must not take the records from everybody."""
    seen = {candidate.file for candidate in found}
    blocked = [item.path for item in skipped]
    for file, one in sent.items():
        if file not in seen and any(file != path and is_inside(file, path) for path in blocked):
            yield one


def _add(found: dict[bytes, Candidate], candidate: Candidate) -> None:
    """Two files of one place (two folders of one name) get places of their own."""
    if candidate.place in found and found[candidate.place].file != candidate.file:
        path = PurePath(candidate.path or PurePath(candidate.file).name)
        digits = hashlib.sha256(os.fsencode(candidate.file)).hexdigest()[:6]
        candidate = replace(candidate, path=path.with_name(f"{path.stem}-{digits}{path.suffix}").as_posix())
    found[candidate.place] = candidate


def _of_file(source: Source, file: FoundFile, project: str, folders: Sequence[Path], *, changed: bool) -> Candidate:
    def read() -> TeamRecord | None:
        if stays_at_home(file.path):
            return None
        return record_of(source.read(file))

    path = path_for_others(file.path, file.project, folders)
    return Candidate(source.kind, file.path, project, path, file.size, file.mtime_ns, read, changed)


def _conversations(
    index: Path, names: Mapping[str, str], sent: Collection[str], places: Callable[[str], str]
) -> Iterator[tuple[str, Candidate]]:
    """The sessions of the index, each with the key of its project. One whose transcript is deleted stays with others as
    long as it stays here."""
    with open_extracts(index) as extracts:
        sessions = extracts.sessions() if extracts else []
    for session in sessions:
        if session.path in sent or os.path.lexists(session.path):
            key = places(session.project)
            project = project_for_others(key, names)
            read = partial(_talk, session)
            talk = Candidate("conversation", session.path, project, "", session.size, session.mtime_ns, read)
            yield key, talk


def _talk(session: Session) -> TeamRecord | None:
    return cleaned(TeamRecord("conversation", given_title(session.path), "", "", date=session.date))


def record_of(document: Document) -> TeamRecord | None:
    """What others get of a record: its text as the index has it, masked. Raises MaskingError."""
    masked = prepare(document).document
    return cleaned(
        TeamRecord(
            kind=masked.kind,
            name=masked.name,
            description=masked.description,
            body=masked.body,
            date=masked.date,
            language=masked.language,
            successor=masked.successor,
        )
    )


def project_for_others(key: str, names: Mapping[str, str]) -> str:
    """What a project is called. Where all that is known of it is the name of Claude's folder for it, which spells its
    whole path, the last word of that."""
    if key == SHARED:
        return ALL_PROJECTS
    if is_path(key):
        return plain_project(names.get(key) or PurePath(key).name)
    return plain_project(next((word for word in reversed(key.split("-")) if word), "unnamed"))


def path_for_others(path: str, project: str, folders: Sequence[Path]) -> str:
    """The part of a path that others may see: below the project, or below Claude's folder for it, else folder and name.
    Nothing above that: it tells the person's name, and more."""
    file = PurePath(path)
    # Claude's folders first: for who works in the home folder itself they lie within the project.
    for root in filter(None, (*map(str, folders), project)):
        if file.is_relative_to(root):
            parts = file.relative_to(root).parts
            # <claude>/projects/<encoded path>/memory/x.md
            short = PurePath(*parts[2:] if parts[:1] == ("projects",) and len(parts) > 2 and root != project else parts)
            break
    else:
        short = PurePath(*file.parts[-2:] if file.parent != Path.home() else file.parts[-1:])
    return plain_path(short.as_posix()) or plain_path(file.name) or hashlib.sha256(os.fsencode(path)).hexdigest()[:12]
