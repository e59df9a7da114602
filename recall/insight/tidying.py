"""Tidying: notes that a person may want to look at again. Candidates, never verdicts.

alike      two notes whose vectors lie so close that they likely say the same
disagree   two notes on nearly one subject of which one is superseded, or that name different days
gone       notes that name files of their project which are no longer there
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from recall.core.errors import SourceError
from recall.core.types import SHARED, AnyRecord
from recall.insight.records import Index
from recall.sources.notes import read_note
from recall.sources.repository import is_path
from recall.store.views import Rows

#: Cosines of two notes' mean vectors once the mean of their project's notes is taken off, which makes them the same
#: measure for every model. Of 107 public memory notes two pairs stood at 0.70 or more, and both said the same; seven at
#: 0.60 or more, each on one subject (multilingual-e5-small). Of 97 decision records those at 0.60 or more were records
#: and what replaced, withdrew or went on with them.
ALIKE = 0.70
RELATED = 0.60
#: Fewer notes have no common ground that could be taken off.
_LEAST_NOTES = 8
#: Most notes that are compared with each other: 16 million pairs take a second and 64 MB.
MAX_NOTES = 4000
#: Files of a project that are listed to look for one that moved.
MAX_FILES = 50_000

_QUOTED = re.compile(r"`([^`\n]{3,200})`")
_FILE = re.compile(r"(?:\./)?((?:[\w.@+-]+/)+[\w.@+-]*\.[a-z][a-z0-9]{0,7})(?::\d[\d:-]*|#L?\d\S*)?")
_DAY = re.compile(r"(?<!\d)(20\d\d)[-/.年](0?[1-9]|1[0-2])[-/.月](0?[1-9]|[12]\d|3[01])(?!\d)")
_NO_FOLDERS = {".git", "node_modules", ".venv", "__pycache__", "target", "dist"}


@dataclass(frozen=True, slots=True)
class Pair:
    """Two notes by path and how close they are (-1 to 1); `words` says what speaks for it."""

    first: str
    second: str
    closeness: float
    words: str


@dataclass(frozen=True, slots=True)
class Gone:
    """A note and the files that it names in backticks and its project has no more."""

    path: str
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Candidates:
    """What there is to tidy; pairs with the closest first."""

    alike: list[Pair]
    disagree: list[Pair]
    gone: list[Gone]


def candidates(index: Index) -> Candidates:
    """Look through the person's own notes and rules. Their files are read again; nothing of them is kept."""
    notes = [record for record in index.rows.documents if record.kind != "conversation" and record.origin is None]
    texts = {record.path: text for record in notes if (text := _text(record.path))}
    alike: list[Pair] = []
    disagree: list[Pair] = []
    for first, second, closeness in close_pairs(index):
        words = disagreement(first, second, index, texts, closeness)
        if words:
            disagree.append(Pair(first.path, second.path, closeness, words))
        elif closeness >= ALIKE and not _is_out(first, index) and not _is_out(second, index):
            alike.append(Pair(first.path, second.path, closeness, "likely say the same"))
    return Candidates(alike, disagree, gone_files(notes, texts))


def close_pairs(index: Index) -> list[tuple[AnyRecord, AnyRecord, float]]:
    """The pairs of one project's notes, shared ones among them, from RELATED on, the closest first.

    A record in several languages takes part once. Projects with few notes have no pairs.
    """
    rows = index.rows
    starts = np.searchsorted(rows.row_documents, np.arange(len(rows.documents) + 1))
    places: dict[str, list[int]] = {}
    groups: set[str] = set()
    for place, record in enumerate(rows.documents):
        if record.kind == "conversation" or record.origin is not None:
            continue
        if record.group in groups or starts[place] == starts[place + 1]:
            continue
        groups.update((record.group,) if record.group else ())
        places.setdefault(record.project, []).append(place)
    found: dict[tuple[int, int], float] = {}
    for key, own in places.items():
        chosen = sorted(own + places.get(SHARED, []) if key != SHARED else own)[:MAX_NOTES]
        if len(chosen) >= _LEAST_NOTES:
            means = np.array([_mean(rows, slice(starts[place], starts[place + 1])) for place in chosen])
            for first, second, closeness in _close(means):
                pair = (chosen[first], chosen[second])
                found[pair] = max(closeness, found.get(pair, -1.0))
    ordered = sorted(found.items(), key=lambda item: -item[1])
    return [(rows.documents[first], rows.documents[second], closeness) for (first, second), closeness in ordered]


def disagreement(
    first: AnyRecord, second: AnyRecord, index: Index, texts: Mapping[str, str], closeness: float
) -> str | None:
    """Why two notes on one subject may contradict each other, in words; None where nothing says so.

    Where one is known to have replaced the other, their order is known as well.
    """
    out = [record for record in (first, second) if _is_out(record, index)]
    if len(out) == 1:
        other = second if out[0] is first else first
        successor = index.successions[out[0].path].path
        if successor is None or successor not in index.versions(other.path):
            return f"{Path(out[0].path).name} is superseded, {Path(other.path).name} is not"
    if out or closeness < ALIKE:
        return None
    days = [_latest_day(texts.get(record.path, "")) for record in (first, second)]
    if days[0] and days[1] and days[0] != days[1]:
        older, newer = sorted(zip(days, (first, second), strict=True), key=lambda item: str(item[0]))
        return f"{Path(older[1].path).name} is of {older[0]}, {Path(newer[1].path).name} of {newer[0]}"
    return None


def gone_files(notes: Iterable[AnyRecord], texts: Mapping[str, str]) -> list[Gone]:
    """The notes of projects whose root is there which name files that are not, in order of path.

    A file that stands deeper in the project, or beside the note, is there: people shorten paths.
    """
    found: list[Gone] = []
    trees: dict[str, frozenset[str] | None] = {}
    for record in sorted(notes, key=lambda record: record.path):
        root, text = record.project, texts.get(record.path, "")
        if not text or not is_path(root) or not os.path.isdir(root):  # noqa: PTH112
            continue
        beside = os.path.dirname(record.path)  # noqa: PTH120
        missing = [
            name
            for name in named_files(text)
            if not any(os.path.lexists(os.path.join(place, name)) for place in (root, beside))  # noqa: PTH118
        ]
        if missing:
            if root not in trees:
                trees[root] = _tree(root)
            tree = trees[root]
            missing = [name for name in missing if tree is not None and name not in tree]
        if missing:
            found.append(Gone(record.path, tuple(missing)))
    return found


def named_files(text: str) -> list[str]:
    """The relative paths of files in backticks, once each: a folder, a name and its ending, without line numbers."""
    quoted = (_FILE.fullmatch(found[1].strip()) for found in _QUOTED.finditer(text))
    return list(dict.fromkeys(found[1] for found in quoted if found and ".." not in found[1].split("/")))


def _mean(rows: Rows, of: slice) -> npt.NDArray[np.float32]:
    """The mean vector of a document's rows, float32 [dimension]; of its body where it has one."""
    body = rows.vectors[of][~rows.is_headline[of]]
    mean: npt.NDArray[np.float32] = (body if len(body) else rows.vectors[of]).mean(axis=0)
    return mean


def _close(means: npt.NDArray[np.float32]) -> Iterator[tuple[int, int, float]]:
    """Places of the pairs from RELATED on, once the mean of all is taken off; `means` float32 [notes, dimension]."""
    apart = means - means.mean(axis=0)
    apart /= np.maximum(np.linalg.norm(apart, axis=1, keepdims=True), 1e-9)
    cosines = np.triu(apart @ apart.T, 1)
    for first, second in np.argwhere(cosines >= RELATED).tolist():
        yield first, second, float(cosines[first, second])


def _is_out(record: AnyRecord, index: Index) -> bool:
    """Whether it is superseded or withdrawn."""
    return record.path in index.successions


def _latest_day(text: str) -> str | None:
    """The latest day that a text names, ISO 8601."""
    return max((f"{year}-{int(month):02d}-{int(day):02d}" for year, month, day in _DAY.findall(text)), default=None)


def _tree(root: str) -> frozenset[str] | None:
    """Every file below a root by each ending of its path; None where there are too many to tell that one is gone."""
    endings: set[str] = set()
    count = 0
    for folder, names, files in os.walk(root):
        names[:] = [name for name in names if name not in _NO_FOLDERS]
        count += len(files)
        if count > MAX_FILES:
            return None
        for file in files:
            parts = Path(folder, file).relative_to(root).parts
            endings.update("/".join(parts[start:]) for start in range(len(parts)))
    return frozenset(endings)


def _text(path: str) -> str:
    """A note's frontmatter and body, "" where it cannot be read (any more)."""
    try:
        note = read_note(path)
    except SourceError:
        return ""
    return "\n".join([*note.fields.values(), note.body])
