"""Projects: which repository a folder of Claude Code, a working directory or a name that a person types stands for.

Claude Code names the folder of a project by its path with every other character as `-`. That cannot be turned back
(`a-b`, `a.b` and `a_b` become one name), so names are only ever compared in this direction.
"""

import os
import re
import stat
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from recall.core.types import Project, Skipped
from recall.sources.files import NOT_UNICODE, is_inside, is_unicode, printable, unreadable
from recall.sources.repository import is_path, real_path, repository_root
from recall.sources.transcripts import session_folders

#: Claude Code cuts longer folder names here and adds a hash of its own; the rest is compared without it.
MAX_ENCODED_CHARACTERS = 200
_SEPARATORS = re.compile(r"[/\\]+")


def encode(path: str) -> str:
    """The name of Claude Code's folder for a real path, or the first 200 characters of it.

    JavaScript replaces half characters: one outside of the basic plane (an emoji, a rare kanji) becomes two `-`.
    """
    units = unicodedata.normalize("NFC", path)[:MAX_ENCODED_CHARACTERS]
    dashed = (c if c.isascii() and c.isalnum() else "-" if ord(c) <= 0xFFFF else "--" for c in units)
    return "".join(dashed)[:MAX_ENCODED_CHARACTERS]


def short_names(keys: Iterable[str]) -> dict[str, str]:
    """What people see for each key: the last part of its path, and as many parts before it as tell it from others.

    The hyphen that begins a folder name of Claude Code would read as an option on the command line.
    """
    parts = {key: [part for part in _SEPARATORS.split(key) if part] for key in keys}
    used = dict.fromkeys(parts, 1)
    while True:
        names = {key: "/".join(parts[key][-used[key] :]).lstrip("-") or key for key in parts}
        shared = Counter(names.values())
        longer = [key for key in parts if shared[names[key]] > 1 and used[key] < len(parts[key])]
        if not longer:
            break
        for key in longer:
            used[key] += 1
    while alike := [key for key, name in names.items() if shared[name] > 1 and name != key]:
        names.update(zip(alike, alike, strict=True))  # a key may in turn be what another is called in short
        shared = Counter(names.values())
    return names


@dataclass(frozen=True, slots=True)
class _Look:
    """What the transcripts of a folder said when it had this time of change."""

    mtime_ns: int
    sessions: list[list[str]]  # as `session_folders` gives them


@dataclass(frozen=True, slots=True)
class Projects:
    """All projects that Claude's folders know, by key; made by `discover`, immutable."""

    by_key: Mapping[str, Project] = field(default_factory=dict)
    #: Project.key by the path of Claude's folder for it (`<claude>/projects/<name>`).
    folders: Mapping[str, str] = field(default_factory=dict)
    #: Folders of Claude that could not be listed.
    skipped: Sequence[Skipped] = ()
    _by_identity: Mapping[str, str] = field(default_factory=dict)
    _looks: Mapping[str, _Look] = field(default_factory=dict)

    def of_folder(self, folder: str) -> Project:
        """The project of `<claude>/projects/<name>`; by its name where it was not seen yet."""
        name = Path(folder).name
        return self.by_key[self.folders[folder]] if folder in self.folders else Project(name, name)

    def of_cwd(self, cwd: str) -> frozenset[str]:
        """The keys that stand for a working directory: its repository, and folders known by their name only.

        A few look-ups of names, no listing of folders. The repository counts even where no record of it is known.
        """
        root = repository_root(cwd)
        encoded = {encode(root), encode(real_path(cwd))}
        unknown = (key for key in self.by_key if not is_path(key) and key[:MAX_ENCODED_CHARACTERS] in encoded)
        return frozenset((self._by_identity.get(_identity(root), root), *unknown))

    def current(self, cwd: str | None, transcript_path: str | None) -> frozenset[str]:
        """The keys that count as the current project of a hook's message: by `cwd`, else by the transcript's folder.

        None at all where neither is a path. A `cwd` of which nothing is known has no other project's records, unless
        the session began in a folder above it: outside of a repository each sub-folder would be a project of its own.
        """
        started = self._of_transcript(transcript_path) if transcript_path else frozenset[str]()
        if not cwd or not is_path(cwd):
            return started
        keys = self.of_cwd(cwd)
        if not keys.isdisjoint(self.by_key):
            return keys
        return keys | {key for key in started if is_inside(real_path(cwd), key)}

    def _of_transcript(self, path: str) -> frozenset[str]:
        """The projects of the folder that a transcript stands in, of all folders of that name for an unknown one."""
        folder = Path(path).parent
        if str(folder) in self.folders:
            return frozenset((self.folders[str(folder)],))
        return frozenset(key for known, key in self.folders.items() if Path(known).name == folder.name)

    def named(self, text: str) -> list[Project]:
        """The projects that a person may mean: those of this name or key, else those whose key ends with it."""
        wanted = text.strip().strip("/\\").lstrip("-").casefold()
        exact = [
            project for project in self if wanted in {project.name.casefold(), project.key.casefold().strip("/\\")}
        ]
        return exact or [project for project in self if wanted and _ends_with(project.key.casefold(), wanted)]

    def with_roots(self, roots: Iterable[str]) -> "Projects":
        """These projects and those of more repositories, which other agents' sessions ran in."""
        new = {self._by_identity.get(_identity(root), root) for root in roots}.difference(self.by_key)
        if not new:
            return self
        names = short_names([*self.by_key, *sorted(new)])
        identities = {_identity(root): root for root in sorted(new)}
        return replace(
            self,
            by_key={key: Project(key, name) for key, name in names.items()},
            _by_identity={**self._by_identity, **identities},
        )

    def __iter__(self) -> Iterator[Project]:
        return iter(self.by_key.values())


def discover(claude_folders: Iterable[Path], previous: Projects | None = None) -> Projects:
    """The projects of Claude's folders; missing and unreadable ones have none.

    The repository of a project is that of the sessions which ran in it; else the one whose root encodes to the name
    of the folder (its notes stand there while its sessions ran in sub-folders); else the name itself is all there is.
    It is that also where sessions of two repositories share the folder because their paths encode alike: Claude Code
    keeps one memory for both. With `previous`, only transcript folders that changed since are read again.
    """
    skipped: list[Skipped] = []
    looks = {path: _look(path, mtime, previous) for path, mtime in _project_folders(claude_folders, skipped)}
    roots = {path: _roots(Path(path).name, look.sessions) for path, look in looks.items()}
    by_identity: dict[str, str] = {}
    for found in roots.values():
        for root in found:
            by_identity.setdefault(_identity(root), root)
    by_name: dict[str, set[str]] = {}
    for root in by_identity.values():
        by_name.setdefault(encode(root), set()).add(root)

    folders: dict[str, str] = {}
    for path, found in roots.items():
        name = Path(path).name
        own = {by_identity[_identity(root)] for root in found} or by_name.get(name[:MAX_ENCODED_CHARACTERS], set())
        folders[path] = own.pop() if len(own) == 1 else name
    names = short_names([*folders.values(), *by_identity.values()])
    by_key = {key: Project(key, name) for key, name in names.items()}
    return Projects(by_key, folders, skipped, by_identity, looks)


def _project_folders(claude_folders: Iterable[Path], skipped: list[Skipped]) -> Iterator[tuple[str, int]]:
    """Path and time of change of each `<claude>/projects/<name>`."""
    for claude in claude_folders:
        folder = str(claude / "projects")
        if not is_unicode(folder):
            skipped.append(Skipped(printable(folder), NOT_UNICODE))
            continue
        try:
            with os.scandir(folder) as entries:
                listed = sorted((entry.name, entry.path) for entry in entries if not entry.name.startswith("."))
        except OSError as error:
            if not isinstance(error, FileNotFoundError | NotADirectoryError):
                skipped.append(Skipped(printable(folder), unreadable(error)))
            continue
        for _, path in listed:
            if not is_unicode(path):
                skipped.append(Skipped(printable(path), NOT_UNICODE))
                continue
            with suppress(OSError):  # a link to nowhere
                status = Path(path).stat()
                if stat.S_ISDIR(status.st_mode):
                    yield path, status.st_mtime_ns


def _look(path: str, mtime_ns: int, previous: Projects | None) -> _Look:
    """What the transcripts say, from the last look where they are the same.

    A transcript that held no `cwd` yet gets one without the folder changing, so that an empty look is never kept.
    """
    known = previous._looks.get(path) if previous else None
    if known is not None and known.mtime_ns == mtime_ns and known.sessions:
        return known
    return _Look(mtime_ns, session_folders(path))


def _roots(name: str, sessions: Sequence[Sequence[str]]) -> set[str]:
    """The repositories whose sessions the folder of this name holds.

    A session may change its directory on the way; where it started is what encodes to the name. Where nothing does
    (the folder was renamed, or an older client named it), the newest session's first directory stands.
    """
    started = {cwd for session in sessions for cwd in session if _is_named(name, cwd)}
    if not started:
        started = {sessions[0][0]} if sessions else set()
    return {repository_root(cwd) for cwd in started}


def _is_named(name: str, cwd: str) -> bool:
    return name[:MAX_ENCODED_CHARACTERS] in {encode(cwd), encode(real_path(cwd))}


def _identity(path: str) -> str:
    """Paths are compared in this form: macOS gives one name composed or decomposed, Windows in any case."""
    return unicodedata.normalize("NFC", os.path.normcase(path))


def _ends_with(key: str, wanted: str) -> bool:
    """Whether a key ends with these whole parts; the parts of an encoded name cannot be told from its hyphens."""
    separators = "/\\" if is_path(key) else "-/\\"
    return any(key.endswith(separator + wanted) for separator in separators)
