"""Conversations: the exchanges of past sessions, out of the transcripts that Claude Code appends to while it runs.

    <claude>/projects/<name>/<session>.jsonl

Subagents' files are none: `agent-*.jsonl` beside them are counted as left out, `<session>/subagents/` is not looked at.
A transcript is followed: what was read once is not read again, however long it grows.
"""

import json
import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from recall.core.types import Document, FoundFile, Skipped
from recall.sources.exchanges import Exchanges, Facts
from recall.sources.files import NOT_UNICODE, is_inside, is_unicode, not_regular, printable, unreadable
from recall.sources.lines import Lines, json_object, open_lines
from recall.sources.memory import Scan
from recall.sources.projects import Projects
from recall.sources.repository import is_path, repository_root

#: After so many bytes without an exchange a reading reports how far it is, so that it can be stopped and gone on with.
STEP_BYTES = 4 * 1024 * 1024
_SUFFIX = ".jsonl"
_SUBAGENT = "agent-"


@dataclass(frozen=True, slots=True)
class Ending:
    """What a whole file came to: the title of all its documents, why it has none, and what was met on the way."""

    title: str | None = None  # None: each has its own
    left_out: str | None = None  # "automated", "sidechain" or "empty"
    damaged_lines: int = 0
    masked: dict[str, int] = field(default_factory=dict)  # kind to count, of the title


@dataclass(frozen=True, slots=True)
class Step:
    """One step of following a file. `ending` comes with the last step.

    `state` gives what `follow` needs to go on after this step; it is asked before the next step is. `anew`: the file is
    another one than the state was given for, and what came of that is void.
    """

    document: Document | None
    state: Callable[[], str | None]
    anew: bool
    ending: Ending | None = None


def scan(projects: Projects) -> Scan:
    """All transcripts in the folders of the projects, without opening any; a file of two accounts counts once."""
    files: list[FoundFile] = []
    skipped = list(projects.skipped)
    seen: set[tuple[int, int] | str] = set()
    for folder, project in projects.folders.items():
        try:
            with os.scandir(folder) as entries:
                found = sorted((entry.path, entry) for entry in entries if entry.name.endswith(_SUFFIX))
        except OSError as error:
            if not isinstance(error, FileNotFoundError):
                skipped.append(Skipped(folder, unreadable(error)))
            continue
        for path, entry in found:
            try:
                status = entry.stat()
            except OSError as error:
                skipped.append(Skipped(printable(path), unreadable(error)))
                continue
            identity = (status.st_dev, status.st_ino) if status.st_ino else path
            if not is_unicode(path):
                skipped.append(Skipped(printable(path), NOT_UNICODE))
            elif not stat.S_ISREG(status.st_mode):
                skipped.append(Skipped(path, not_regular(status.st_mode)))
            elif identity not in seen:
                seen.add(identity)
                files.append(FoundFile("conversation", path, project, status.st_size, status.st_mtime_ns))
    return Scan(files, skipped, projects)


def follow(found: FoundFile, state: str | None) -> Iterator[Step]:
    """Read what a transcript holds, or what it holds more than when `state` was given for it.

    An exchange that is open at the end of the file is a document like the others; the next reading begins with it and
    may bring it again, longer. An empty `state` says that what was brought before is void. SourceError where the file
    cannot be read.
    """
    path = Path(found.path)
    if path.name.startswith(_SUBAGENT):
        yield Step(None, lambda: None, anew=False, ending=Ending(title="", left_out="sidechain"))
        return
    yield from follow_records(found, state, path.stem, lambda record: record)


def follow_records(
    found: FoundFile,
    state: str | None,
    session: str,
    translate: Callable[[Mapping[str, Any]], Mapping[str, Any]],
    first: Sequence[Mapping[str, Any]] = (),
) -> Iterator[Step]:
    """As `follow`, for a file of any agent: `translate` makes of each line the record that Claude Code would have
    written, `session` is the identifier where no line has one, and `first` are records to begin with each time."""
    with open_lines(found.path) as lines:
        known = _restored(state, lines) if state else None
        anew = state is not None and known is None
        facts = known or Facts(project=found.project)
        exchanges = Exchanges(found.path, session, facts, _key_of(found.project))
        reported = facts.offset
        for record in first:
            exchanges.take(record, facts.offset, facts.offset)

        def step(document: Document | None, ending: Ending | None = None) -> Step:
            resume = exchanges.resume
            return Step(document, lambda: _sealed(resume, lines), anew, ending)

        for line in lines.read(facts.offset):
            found_record = None if line.too_long else json_object(line.data)
            if found_record is not None:
                document = exchanges.take(translate(found_record), line.start, line.end)
            elif line.whole and line.data.strip():
                answers = b'"tool_result"' in line.data or b'"assistant"' in line.data
                document = exchanges.skip(
                    line.end, damaged=not line.too_long, ends_exchange=line.too_long and not answers
                )
            else:
                continue  # an empty line, or half a line at the end, which counts when the other half is there
            if document is not None or line.end - reported >= STEP_BYTES:
                reported = line.end
                yield step(document)
        end = exchanges.facts
        yield step(exchanges.last, Ending(end.title, end.left_out, end.damaged, dict(end.masked_in_title)))


def _key_of(folder_key: str) -> Callable[[str], str | None]:
    """The project of a working directory in a session of this folder: its repository.

    Outside of repositories each sub-folder would be a project of its own; there it is that of the folder.
    """

    @cache
    def key_of(cwd: str) -> str | None:
        if not is_path(cwd):
            return None
        root = repository_root(cwd)
        return folder_key if is_inside(root, folder_key) and not Path(root, ".git").exists() else root

    return key_of


def _sealed(facts: Facts, lines: Lines) -> str:
    """Facts with the fingerprint of the file that they were read from."""
    return json.dumps({"fingerprint": lines.fingerprint(facts.offset), "facts": asdict(facts)}, ensure_ascii=False)


def _restored(state: str, lines: Lines) -> Facts | None:
    """The facts of an earlier reading; None where the file is another one now."""
    kept = json.loads(state)
    facts = Facts(**kept["facts"] | {"queued": tuple(kept["facts"]["queued"])})
    fingerprint = lines.fingerprint(facts.offset)
    return facts if fingerprint is not None and fingerprint == kept["fingerprint"] else None
