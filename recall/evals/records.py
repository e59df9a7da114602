"""Records with their texts, as question files name them and as other methods search them. They are never stored."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePath

from recall.core.errors import SourceError
from recall.core.types import SHARED, AnyRecord, Document, FoundFile, Skipped
from recall.sources import knowledge, memory
from recall.store.reader import Reader
from recall.text.clean import one_line


@dataclass(frozen=True, slots=True)
class Text:
    """A note or rule with all of its text. `unit` is the same for all language versions of one record."""

    document: Document
    superseded: bool = False

    @property
    def path(self) -> str:
        return self.document.path

    @property
    def unit(self) -> str:
        return unit_of(self.document.path, self.document.group)

    @property
    def headline(self) -> str:
        return f"{self.document.name}\n{self.document.description}"

    @property
    def whole(self) -> str:
        return f"{self.headline}\n{self.document.body}"


def unit_of(path: str, group: str | None) -> str:
    """What is the same for all language versions of a record."""
    return group or path


@dataclass(frozen=True, eq=False)
class Records:
    """The notes and rules that a question may be about, in order of path, and those that could not be read.

    A question file names them by their absolute path, or by the end of it (whole parts) where that is one record's:
    `memory/ports.md`, or a path relative to the project's or the corpus's folder. `~/` is the home folder.
    """

    texts: Sequence[Text]
    skipped: Sequence[Skipped] = ()

    def find(self, name: str) -> Text | str:
        """The record that a question file names, else what is wrong with the name, in words."""
        wanted = PurePath(name.strip()).as_posix().removeprefix("./")
        if wanted.startswith("~/"):
            wanted = (Path.home() / wanted[2:]).as_posix()
        if wanted in self._by_path:
            return self._by_path[wanted]
        parts = PurePath(wanted).parts
        file = parts[-1] if parts else ""
        found = [text for text in self._by_file.get(file, ()) if PurePath(text.path).parts[-len(parts) :] == parts]
        if len(found) == 1:
            return found[0]
        if found:
            return f"{one_line(name)} could be {len(found)} records; write more of its path"
        if not PurePath(wanted).is_absolute() or not Path(wanted).is_file():
            return f"{one_line(name)} is not there; name a file as the instruction does"
        return f"{one_line(name)} is not among the notes and rules that are searched here; `recall status` lists why"

    def unit_of(self, path: str) -> str:
        """The unit of a path, itself where nothing is known of it."""
        return self._by_path[path].unit if path in self._by_path else path

    @cached_property
    def _by_path(self) -> Mapping[str, Text]:
        return {PurePath(text.path).as_posix(): text for text in self.texts}

    @cached_property
    def _by_file(self) -> Mapping[str, list[Text]]:
        found: dict[str, list[Text]] = {}
        for text in self.texts:
            found.setdefault(PurePath(text.path).name, []).append(text)
        return found


def records_of(documents: Iterable[Document], skipped: Sequence[Skipped] = ()) -> Records:
    """The records of documents that were just read."""
    texts = [Text(document, document.successor is not None) for document in documents]
    return Records(sorted(texts, key=lambda text: text.path), skipped)


def own_records(index: Path, projects: Collection[str]) -> Records:
    """The notes and rules in the index that are searched in these projects, read from their files once more."""
    reader = Reader(index)
    try:
        counts = reader.rows_by_model()
        records = reader.load(max(counts, key=lambda identity: counts[identity])).documents if counts else []
    finally:
        reader.close()
    documents, skipped = [], []
    for record in records:
        if record.kind != "conversation" and record.project in {*projects, SHARED}:
            try:
                documents.append(_read(record))
            except SourceError as error:
                skipped.append(Skipped(record.path, str(error)))
    return records_of(documents, skipped)


def _read(record: AnyRecord) -> Document:
    found = FoundFile(record.kind, record.path, record.project, 0, 0)
    return knowledge.read(found) if record.kind == "knowledge" else memory.read(found)
