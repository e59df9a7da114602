"""Succession: which record replaced which, told once all records are known.

A record says only how its successor is called: by a link, a number or a title, and the successor may be written, moved
or replaced long after. So the words are stored with the record, and looked up anew whenever the records have changed.
"""

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePath
from urllib.parse import unquote

from recall.core.types import AnyRecord
from recall.text.clean import one_line
from recall.text.summary import shortened

#: Longest title by which a successor is named.
MAX_TITLE_CHARACTERS = 80

_NUMBER = r"(?:ADR|MADR|RFC|Decision|決定)[-\s#_]*(?P<number>\d{1,5})(?!\d)"
_REFERENCE = re.compile(
    r"!?\[(?P<label>[^\[\]]*)\]\(<?(?P<target>[^()\s<>]+)[^()]*\)"
    r"|\[\[(?P<wiki>[^\[\]|#]+)[^\[\]]*\]\]"
    rf"|(?<![\w./-])(?P<file>[\w./-]{{0,100}}?\d{{1,5}}[-_][\w.-]{{0,100}}\.(?:md|markdown|mdx)\b)|{_NUMBER}",
    re.IGNORECASE,
)
_BARE_NUMBER = re.compile(r"#?(\d{1,5})(?![\d\w]|[-.]\d)")
_NUMBER_IN = re.compile(rf"{_NUMBER}|(?<!\d)(\d{{1,5}})(?!\d)", re.IGNORECASE)
_TITLE_END = re.compile(r"[.。;；(（\[—]|\s[-–]\s")
_QUOTES = "\"'“”‘’「」『』 :："
_SUFFIX = re.compile(r"(?:\.(?:md|markdown|mdx|mdc|html?))?/?$", re.IGNORECASE)
_NAME_NUMBER = re.compile(r"(\d{1,5}) ")


@dataclass(frozen=True, slots=True)
class Reference:
    """How a record names another one: the digits of its number, or its title; and where a link to it leads.

    Both are empty where nothing is named.
    """

    text: str = ""
    target: str = ""


@dataclass(frozen=True, slots=True)
class Succession:
    """What to show for a record that is not in force: its successor's short name ("" for none), and its place."""

    successor: str
    path: str | None


def match_reference(text: str) -> tuple[Reference, int] | None:
    """The reference that a text begins with, and where it ends: a link, a file's name, or a number after ADR."""
    found = _REFERENCE.match(text)
    return (_reference(found), found.end()) if found else None


def find_reference(text: str) -> Reference | None:
    """The first record that a text names by link, file or number; a number without ADR only where it comes first."""
    if (bare := _BARE_NUMBER.match(text)) and not _REFERENCE.match(text):
        return Reference(bare[1])
    found = _REFERENCE.search(text)
    return _reference(found) if found else None


def title_reference(text: str) -> Reference:
    """A text that names a record by its title, up to where the sentence ends."""
    title = one_line(_TITLE_END.split(text, maxsplit=1)[0]).strip(_QUOTES)
    return Reference(shortened(title, MAX_TITLE_CHARACTERS))


def linked_path(path: str, target: str) -> str | None:
    """Where a link in the record at `path` leads: a path that need not exist. None without a link.

    An address on the web or from a repository's root counts by its last part, in the record's own folder.
    """
    target = unquote(re.split("[#?]", target, maxsplit=1)[0]).replace("\\", "/")
    if not target or "\0" in target:
        return None
    if "://" in target or target.startswith("/"):
        target = target.rstrip("/").rsplit("/", 1)[-1]
    return os.path.normpath(PurePath(path).parent / target)


def short_name(name: str) -> str:
    """What a record is called where another is spoken of: its number, else its name."""
    numbered = _NAME_NUMBER.match(name)
    return numbered[1] if numbered else name


def resolve(records: Iterable[AnyRecord]) -> dict[str, Succession]:
    """For each record that is not in force, by its path: the record that stands in its place today.

    Links count within a project; numbers and titles within a folder. Chains are followed to their end; one that ends
    with a record which nothing replaced has no successor; a ring ends before it closes. Where one language version of a
    record is out of force, the others are: translations are updated late.
    """
    known = _Known(records)
    return {
        record.path: known.succession(record) for record in known.all if known.statement(record).successor is not None
    }


class _Known:
    """All records, by what may name them."""

    def __init__(self, records: Iterable[AnyRecord]) -> None:
        self.all = list(records)
        self._by_place: dict[tuple[str, str], AnyRecord] = {}
        self._by_number: dict[tuple[str, str, int], AnyRecord] = {}
        self._by_title: dict[tuple[str, str, str], AnyRecord] = {}
        self._versions: dict[str, list[AnyRecord]] = {}
        self._stated: dict[str, AnyRecord] = {}
        for record in self.all:
            folder = str(PurePath(record.path).parent)
            self._by_place.setdefault((record.project, _place(record.path)), record)
            if (number := short_name(record.name)).isdecimal():
                self._by_number.setdefault((record.project, folder, int(number)), record)
            for title in {record.name, record.name.removeprefix(number), PurePath(record.path).stem}:
                self._by_title.setdefault((record.project, folder, _letters(title)), record)
            if record.group is not None:
                self._versions.setdefault(record.group, []).append(record)
                if record.successor is not None and not (
                    record.group in self._stated and self._stated[record.group].successor
                ):
                    self._stated[record.group] = record

    def statement(self, record: AnyRecord) -> AnyRecord:
        """The version of a record that says what replaced it; the record itself where none does."""
        if record.successor is not None or record.group is None:
            return record
        return self._stated.get(record.group, record)

    def succession(self, record: AnyRecord) -> Succession:
        passed, last = {self._identity(record)}, record
        while True:
            stated = self.statement(last)
            if stated.successor is None:
                return Succession(short_name(last.name), last.path)
            following = self._named(stated, record.language)
            if following is None:
                return Succession(stated.successor, None)
            if (identity := self._identity(following)) in passed:
                return Succession(short_name(last.name), last.path) if last is not record else Succession("", None)
            passed.add(identity)
            last = following

    def _named(self, record: AnyRecord, language: str | None) -> AnyRecord | None:
        """The record that a statement names, in the version of this language if there is one."""
        folder, text = str(PurePath(record.path).parent), record.successor or ""
        found = None
        if record.successor_path is not None:
            found = self._by_place.get((record.project, _place(record.successor_path)))
        if found is None and text.isdecimal():
            found = self._by_number.get((record.project, folder, int(text)))
        if found is None and text:
            found = self._by_title.get((record.project, folder, _letters(text)))
        if found is None or found.group is None:
            return found
        return next((version for version in self._versions[found.group] if version.language == language), found)

    def _identity(self, record: AnyRecord) -> str:
        return record.group if record.group is not None else record.path


def _reference(found: re.Match[str]) -> Reference:
    if found["number"]:
        return Reference(found["number"])
    target = found["target"] or found["wiki"] or found["file"]
    label = one_line(found["label"] or PurePath(target).stem)
    number = _NUMBER_IN.search(label)
    return Reference((number[1] or number[2]) if number else shortened(label, MAX_TITLE_CHARACTERS), target.strip())


def _place(path: str) -> str:
    """A path as links write it: with or without its ending."""
    return _SUFFIX.sub("", path)


def _letters(title: str) -> str:
    """A title in the form in which titles are compared."""
    return "".join(character for character in title.casefold() if character.isalnum())
