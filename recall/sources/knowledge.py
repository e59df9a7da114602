"""Knowledge: rules and decision records, one a Markdown file, in the places where repositories keep them.

    [[knowledge]] folders of config.toml             of one project, or shared by all
    <root>/docs/adr and its like, .claude/rules/**   of the repository, if the person trusts it in Claude Code

`0007-x.md` and `0007-x.ja.md` (also `0007-x_ja.md`, `ja/0007-x.md`) are one record in two languages: they share a
`group`. A file that can be reached on several ways counts once, first as the configuration names it.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath

from recall.core.errors import MaskingError, SourceError
from recall.core.types import SHARED, Document, FoundFile, Skipped
from recall.sources.decisions import parse_decision
from recall.sources.files import printable
from recall.sources.memory import Scan
from recall.sources.notes import name_of, read_note
from recall.sources.projects import Projects
from recall.sources.repository import is_path
from recall.sources.succession import linked_path
from recall.sources.trust import read_trust
from recall.sources.walk import Wanted, walk_tree
from recall.text.clean import one_line
from recall.text.language import language_of
from recall.text.masking import mask

#: Where repositories keep decision records and rules, below their root.
PLACES = (
    "docs/adr",
    "docs/adrs",
    "doc/adr",
    "docs/decisions",
    "docs/architecture/decisions",
    "adr",
    ".claude/rules",
)
#: So much of a record is searched for its status, date and decision; they stand at its top.
MAX_PARSED_CHARACTERS = 32_768
SUFFIXES = (".md", ".markdown", ".mdx", ".mdc")
#: `scope` of a folder whose records belong to all projects.
SHARED_SCOPE = "shared"

#: Tables of contents and forms to fill in, by the name without ending and language.
_NO_RECORD = re.compile(
    r"readme.*|index|summary|memory|toc|changelog|(?:0+[-_ ]?)?(?:(?:adr|madr|rfc|decision|record)[-_ ])*template.*"
    r"|(?:adr|madr|rfc|nygard|y-statement)[-_ ]template.*",
    re.IGNORECASE,
)
#: A language at the end of a name or as a folder. Codes that are words of names as well (`it`, `no`, `go`) are none.
_LANGUAGE = r"(en|ja|jp|zh|ko|ru|fr|de|es|pt)(?:[-_](?:(?-i:[A-Z]{2})|hans|hant|cn|tw|br))?"
_LANGUAGE_SUFFIX = re.compile(rf"(.+?)[._-]{_LANGUAGE}$", re.IGNORECASE)
_LANGUAGE_FOLDER = re.compile(f"{_LANGUAGE}$", re.IGNORECASE)
#: What `language_of` says of a text in these: it tells languages by their script.
_SCRIPTS = {"fr": "en", "de": "en", "es": "en", "pt": "en"}


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder of `[[knowledge]]`: its path, `shared` or a project's name, and patterns (`*`, `?`, `**`, from it).

    A pattern that fits a folder takes all that lies below. Files with other endings than SUFFIXES are never records.
    """

    path: str
    scope: str = SHARED_SCOPE
    include: Sequence[str] = ("**",)
    exclude: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class _Root:
    path: str
    project: str
    wanted: Wanted


def scan(claude_folders: Sequence[Path], projects: Projects, folders: Sequence[Folder] = ()) -> Scan:
    """All rules and decision records, without opening any. What cannot be read or may not be is a line in `skipped`.

    `projects` is what `discover` found in the Claude folders just now.
    """
    files: list[FoundFile] = []
    skipped: list[Skipped] = []
    seen: set[tuple[int, int] | str] = set()
    for root in _roots(claude_folders, projects, folders, skipped):
        walk = walk_tree(root.path, root.wanted)
        skipped += walk.skipped
        for path, status in walk.files:
            # File systems without file numbers report 0.
            identity = (status.st_dev, status.st_ino) if status.st_ino else path
            if identity not in seen:
                seen.add(identity)
                files.append(FoundFile("knowledge", path, root.project, status.st_size, status.st_mtime_ns))
    return Scan(sorted(files, key=lambda found: found.path), skipped, projects)


def read(found: FoundFile) -> Document:
    """The record of a file that a scan found. SourceError, as the reason under `skipped`, when it is none any more.

    `successor` and `successor_path` hold what the record says; `succession.resolve` finds what stands there today.
    """
    note = read_note(found.path)
    record, language = version_of(PurePath(found.path), f"{note.name}\n{note.body}")
    title = name_of(note, found.path)
    try:
        # Before a description is made of it: a key whose end was cut off is no longer recognised.
        masked = mask(note.body[:MAX_PARSED_CHARACTERS]).text
    except MaskingError as error:
        raise SourceError(str(error)) from None
    decision = parse_decision(note.fields, title, masked, record.name)
    successor = decision.successor
    return Document(
        "knowledge",
        found.path,
        found.project,
        decision.name,
        decision.description,
        note.body,
        date=decision.date,
        language=language,
        group=f"{found.project}:{record}",  # so that nothing of one project stands for another's
        successor=successor.text if successor else None,
        successor_path=linked_path(found.path, successor.target) if successor else None,
    )


def _roots(
    claude_folders: Sequence[Path], projects: Projects, folders: Sequence[Folder], skipped: list[Skipped]
) -> Iterator[_Root]:
    """The folders to search, those that the person named first."""
    for folder in folders:
        root = _named_root(folder, projects)
        if isinstance(root, Skipped):
            skipped.append(root)
        else:
            yield root
    trust = read_trust(claude_folders)
    for project in filter(is_path, projects.by_key):
        for place in PLACES:
            path = Path(project, place)
            if not _is_folder(path) or path.parent in claude_folders:  # ~/.claude/rules is loaded in every session
                continue
            if refusal := trust.refusal(path, project):
                skipped.append(refusal)
            else:
                yield _Root(str(path), project, _is_record)


def _named_root(folder: Folder, projects: Projects) -> _Root | Skipped:
    """A folder of the configuration, with the project that its scope means. Naming it is trust enough."""
    try:
        path = str(Path(folder.path).expanduser())
    except RuntimeError:  # a user of this name, or a home folder, does not exist
        path = folder.path
    if not is_path(path):
        return Skipped(printable(path), "must be an absolute path or begin with ~/: mend it in config.toml")
    if not _is_folder(Path(path)):
        return Skipped(path, "is no folder that can be read: mend its path in config.toml, or delete it there")
    keys = [SHARED] if folder.scope == SHARED_SCOPE else [project.key for project in projects.named(folder.scope)]
    if len(keys) != 1:
        found = "no project" if not keys else "several projects"
        return Skipped(path, f'its scope "{one_line(folder.scope)}" is the name of {found}: mend it in config.toml')
    include, exclude = _matcher(folder.include), _matcher(folder.exclude)

    def wanted(place: str) -> bool:
        return _is_record(place) and include(place) and not exclude(place)

    return _Root(path, keys[0], wanted)


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:  # a folder above it may not be entered
        return False


def _is_record(place: str) -> bool:
    path = PurePath(place)
    return path.suffix.lower() in SUFFIXES and not _NO_RECORD.fullmatch(_without_language(path.stem))


def _matcher(patterns: Sequence[str]) -> Wanted:
    """Whether a path fits one of the patterns, or a folder above it does. Capitals and small letters are alike."""
    expressions = [re.compile(_expression(pattern), re.IGNORECASE) for pattern in patterns]
    return lambda place: any(expression.match(place) for expression in expressions)


def _expression(pattern: str) -> str:
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", pattern.strip("/"))
    wild = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return "".join(wild.get(part) or re.escape(part) for part in parts) + "(?:/|$)"


def version_of(path: PurePath, text: str) -> tuple[PurePath, str | None]:
    """What the language versions of a record have in common (folder and stem), and the language of this one.

    `style-en.md` and `style-ja.md` may as well be two rules, on two languages: a name counts only where the text is in
    that language. Else the file is a record of its own.
    """
    written = language_of(text)
    suffix, folder = _LANGUAGE_SUFFIX.fullmatch(path.stem), _LANGUAGE_FOLDER.fullmatch(path.parent.name)
    if suffix and _fits(suffix[2], written):
        return path.parent / suffix[1], _code(suffix[2])
    if folder and _fits(folder[1], written):
        return path.parent.parent / path.stem, _code(folder[1])
    return path.parent / path.stem, written


def _fits(code: str, written: str | None) -> bool:
    return written is None or _SCRIPTS.get(_code(code), _code(code)) == written


def _code(code: str) -> str:
    return code.lower().replace("jp", "ja")


def _without_language(stem: str) -> str:
    suffix = _LANGUAGE_SUFFIX.fullmatch(stem)
    return suffix[1] if suffix else stem
