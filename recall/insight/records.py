"""Records as the index holds them now, and which of them a person means by a name."""

import os
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath

from recall.core.errors import RecallError, UsageError
from recall.core.types import TEAM, AnyRecord, Skipped
from recall.sources.succession import Succession, resolve
from recall.store.reader import Reader
from recall.store.views import Rows
from recall.text.clean import ELLIPSIS, one_line

#: An error lists at most so many records.
MAX_LISTED = 8


@dataclass(frozen=True, slots=True, eq=False)
class Index:
    """What the index holds under one model: whole documents with their vectors, what stands in the place of which, and
    what is not in it."""

    rows: Rows
    successions: Mapping[str, Succession]
    skipped: Sequence[Skipped]
    pending: int

    @property
    def paths(self) -> list[str]:
        """The files that it holds something of."""
        return list(dict.fromkeys(record.path for record in self.rows.documents))

    def of(self, path: str) -> AnyRecord | None:
        """The record in a file, None where the index has none of it."""
        return next((record for record in self.rows.documents if record.path == path), None)

    def versions(self, path: str) -> list[str]:
        """The paths of a record in all of its languages, itself first."""
        record = self.of(path)
        group = record.group if record else None
        others = (other.path for other in self.rows.documents if group is not None and other.group == group)
        return list(dict.fromkeys([path, *others]))


def read_index(path: Path, identity: str | None = None) -> Index:
    """The index under the model of this identity, without one under that with most rows. Raises StoreError."""
    reader = Reader(path)
    try:
        if identity is None:
            counts = reader.rows_by_model()
            identity = max(counts, key=lambda model: counts[model], default="")
        rows, summary = reader.load(identity), reader.summary(identity)
    finally:
        reader.close()
    successions = resolve(record for record in rows.documents if record.kind == "knowledge")
    return Index(rows, successions, summary.skipped, summary.pending)


def find_record(wanted: str, index: Index, cwd: str | None, paths: Iterable[str], *, also_parts: bool = False) -> str:
    """Which of these paths a person means: by the path, the file's name, or the name that the record has in the index;
    `also_parts` by a part of one that only one has, for who asks and changes nothing.

    A path is taken as it is, also where nothing is known of it; a record of another machine goes by its ID. Raises
    UsageError with the candidates where several, or none, can be meant.
    """
    paths = list(dict.fromkeys(paths))
    if found := [path for path in (wanted, TEAM + wanted) if path.startswith(TEAM) and path in paths]:
        return found[0]
    as_path = _absolute(wanted, cwd)
    if as_path in paths or os.path.isfile(as_path):  # noqa: PTH113
        return _spelled(as_path, paths)
    names = {record.path: record.name for record in index.rows.documents}
    plain = _plain(wanted)
    ways: tuple[Callable[[PurePath, str], bool], ...] = (
        lambda path, name: plain in (_plain(path.name), _plain(path.stem), name),
        lambda path, _: _plain(path.as_posix()).endswith("/" + plain.lstrip("/")),
        lambda path, name: wanted.endswith(ELLIPSIS) and name.startswith(plain),
        lambda path, name: also_parts and not PurePath(plain).suffix and (plain in name or plain in _plain(path.name)),
    )
    for fits in ways if plain else ():
        if found := [path for path in paths if fits(PurePath(path), _plain(names.get(path, "")))]:
            return _one_of(found, wanted, index)
    if os.sep in wanted and not wanted.startswith(TEAM):
        return as_path
    if not index.rows.documents:
        raise RecallError("the index holds no record yet; run `recall index` and try again")
    raise UsageError(
        f"no record is called {one_line(wanted)!r}; write its path, its file's name or its name as headlines show it"
    )


def _one_of(found: Sequence[str], wanted: str, index: Index) -> str:
    """The one path, where they are one record. Of one in several languages the first."""
    versions = index.versions(found[0])
    if all(path in versions for path in found):
        return found[0]
    listed = [one_line(path) for path in found[:MAX_LISTED]]
    more = f" and {len(found) - MAX_LISTED} more" if len(found) > MAX_LISTED else ""
    raise UsageError(
        f"{one_line(wanted)!r} could be several records; write more of the path: {', '.join(listed)}{more}"
    )


def _absolute(wanted: str, cwd: str | None) -> str:
    return os.path.normpath(os.path.join(cwd or os.sep, os.path.expanduser(wanted)))  # noqa: PTH111, PTH118


def _spelled(path: str, known: Sequence[str]) -> str:
    """A path as the index spells it: it goes by where a file stands itself."""
    real = os.path.realpath(path)
    return path if path in known else next((other for other in known if os.path.realpath(other) == real), path)


def _plain(text: str) -> str:
    """A text as it is compared: without what a headline cut, and whatever the case."""
    return unicodedata.normalize("NFC", one_line(text).removesuffix(ELLIPSIS)).casefold().strip()
