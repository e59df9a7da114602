"""Decision records: number, title, status, date and successor, in the forms that people write them in.

    MADR 2, 3, 4     `* Status: superseded by [ADR-0005](0005-x.md)`, or `status:` in the frontmatter
    Nygard           a section `## Status`, as adr-tools fills it (`Superceded by [31. Use y](0031-use-y.md)`)
    tables, fields   `| Status | accepted |`, `**Status:** accepted`, `Superseded-by: 0031`, in English or Japanese

Nothing here fails: a text without any of them is a plain rule, which is in force.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from recall.sources.status import OUT_OF_FORCE, Statement, Status, read_status
from recall.sources.succession import Reference, find_reference, title_reference
from recall.text.clean import one_line
from recall.text.summary import first_sentences, plain, visible_lines

_STATUS = re.compile(r"(?:(?:adr|decision|current) )?status|ステータス|状態", re.IGNORECASE)
_SUCCESSOR = re.compile(
    r"(?:super[sc]eded|replaced|obsoleted)[-_ ]?by|successor|置き?換え先|後継(?: ?adr)?", re.IGNORECASE
)
_META = re.compile(
    r"deciders?|decision-makers|consulted|informed|authors?|owner|tags?|id|作成者|決定者|担当.*", re.IGNORECASE
)
_DATE = re.compile(r"date|decided(?: on)?|日付|決定日|作成日", re.IGNORECASE)
_LINKS = re.compile(r"links|related.*|references|more information|関連.*|参照|参考.*|リンク", re.IGNORECASE)
_DECISION = re.compile(r"decisions?|decision (?:outcome|made|taken)|決定(?:事項|内容)?|判断|結論", re.IGNORECASE)
_CONTEXT = re.compile(r"context.*|background|problem.*|背景.*|文脈|コンテキスト|状況|課題|問題|経緯", re.IGNORECASE)
_NOTHING = {"", "-", "—", "none", "n/a", "null", "~", "no", "なし"}

_HEADING = re.compile(r" {0,3}(#{1,6})\s+(.*)")
#: The name of a section without its number, its emoji and what is said behind it: `## 2. Status: accepted`.
_SECTION = re.compile(r"(?:\d{1,2}[.)]\s*)?[^\w]*(.*?)\s*(?:[:：(（]\s*(.*))?$")
_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,3}[.)])\s")
# Possessive (`*+`): a line of 60,000 asterisks must not be tried in every way that two classes can share it.
_PAIR = re.compile(r"[\s>*+|-]*+[*_]*+(\w[\w /-]{0,30}?)[*_]*+\s*+[:：|]\s*+[*_]*+\s*+([^\s|].*)")
_TABLE_RULE = re.compile(r"[\s:|]*-[-\s:|]*$")
#: A line after one as short as this is not the middle of a sentence.
_SHORT_LINE = 40

_NUMBERED = re.compile(
    r"\[?(?:(?:ADR|MADR|RFC|(?:architecture )?decision(?: record)?|決定記録|決定)[\s#_-]*(\d{1,5})\]?"
    r"(?:\s*[.:：)、—–-]+\s*|\s+)"
    r"|(\d{1,5})\s*(?:[.:)—–-]\s+|[：、]\s*))(\S.*)",
    re.IGNORECASE,
)
_FILE_NUMBER = re.compile(r"(?!\d{4}-\d{2}-\d{2})(?:(?:adr|madr|rfc|decision)[-_ ]?)?(\d{1,5})(?!\d)", re.IGNORECASE)
_DAY = re.compile(r"(?<!\d)(\d{4})\s*[-/.年]?\s*(\d{1,2})\s*[-/.月]?\s*(\d{1,2})(?!\d)")


@dataclass(frozen=True, slots=True)
class Decision:
    """What a record says of itself; `status` and `date` (ISO 8601 day) are None where it says nothing.

    `number` is written as in the file's name, else as in the heading; empty for a record without. `successor` is None
    while the record is in force, and an empty Reference where it is not and names nothing in its place.
    """

    number: str
    title: str
    status: Status | None
    date: str | None
    description: str
    successor: Reference | None

    @property
    def name(self) -> str:
        return f"{self.number} {self.title}".strip()


@dataclass(frozen=True, slots=True)
class _Section:
    name: str
    rest: str  # of the heading, behind the name
    lines: Sequence[str]  # with those of its sub-sections


def parse_decision(fields: Mapping[str, str], title: str, body: str, stem: str) -> Decision:
    """The decision in a record: its frontmatter's fields (lower-case keys), title, body, and its file's name.

    `stem` is without the file's ending and language. Without a description in the frontmatter the first sentences of
    the decision stand for it, else those of its context, else those of the text.
    """
    lines = visible_lines(body)
    sections = list(_sections(lines))
    pairs = [*fields.items(), *_pairs(_head(lines))]
    number, words = _number_and_title(plain(fields.get("title", "")) or plain(title) or stem, stem)
    status, successor = _judge(_statements(pairs, sections, lines))
    return Decision(
        number=number,
        title=words,
        status=status,
        date=_date(pairs, sections, stem),
        description=one_line(fields.get("description", "")) or _description(sections, lines),
        successor=successor,
    )


def _number_and_title(title: str, stem: str) -> tuple[str, str]:
    """A heading often repeats the number of the file: as `ADR-0007: `, `7. `, `[ADR 7] `."""
    in_file = _FILE_NUMBER.match(stem)
    numbered = _NUMBERED.match(title)
    digits = (numbered[1] or numbered[2]) if numbered else ""
    if in_file and (not digits or int(digits) == int(in_file[1])):
        digits = in_file[1]
        title = re.sub(rf"^0*{int(digits)}\s+(?=\S)", "", title)
    return digits, numbered[3] if numbered else title


def _judge(statements: Iterable[Statement]) -> tuple[Status | None, Reference | None]:
    """One status of all that is said: the end of a record's life counts before what it was earlier."""
    said = list(statements)
    for status in ("superseded", "withdrawn", "rejected", "deprecated"):
        if any(statement.status == status for statement in said):
            named = (one.successor for one in said if one.status in OUT_OF_FORCE and one.successor)
            return status, next(named, Reference())
    return (said[0].status, None) if said else (None, None)


def _statements(
    pairs: Iterable[tuple[str, str]], sections: Iterable[_Section], lines: Sequence[str]
) -> Iterator[Statement]:
    for key, value in pairs:
        if _STATUS.fullmatch(key) and (said := read_status(value)):
            yield said
        elif _SUCCESSOR.fullmatch(key) and value.strip().lower() not in _NOTHING:
            yield Statement("superseded", find_reference(value) or title_reference(value))
    for section in sections:
        if _STATUS.fullmatch(section.name):
            told = [section.rest, *_beginnings(section.lines)]
            told = [line for line in told if line.strip()]
            for position, line in enumerate(told):
                if said := read_status(line, first=position == 0):
                    yield said
    banners = [*_head(lines), *(line for s in sections if _LINKS.fullmatch(s.name) for line in s.lines)]
    for line in banners:
        said = None if _PAIR.match(line) else read_status(line, first=False)
        if said and said.status == "superseded" and said.successor:
            yield said


def _beginnings(lines: Sequence[str]) -> Iterator[str]:
    """The lines that begin a paragraph or a list item, and those behind a short line."""
    before = ""
    for line in lines:
        if not _HEADING.match(line) and (len(before) <= _SHORT_LINE or _ITEM.match(line)):
            yield line
        before = line.strip()


def _sections(lines: Sequence[str]) -> Iterator[_Section]:
    headings = [
        (at, len(found[1]), found[2].rstrip(" \t#")) for at, line in enumerate(lines) if (found := _HEADING.match(line))
    ]
    for position, (at, level, text) in enumerate(headings):
        end = next((later for later, other, _ in headings[position + 1 :] if other <= level), len(lines))
        if named := _SECTION.match(plain(text)):
            yield _Section(named[1], named[2] or "", lines[at + 1 : end])


def _head(lines: Sequence[str]) -> Sequence[str]:
    """What stands between the title and the first section."""
    headings = [at for at, line in enumerate(lines) if _HEADING.match(line)]
    titled = bool(headings) and not any(line.strip() for line in lines[: headings[0]])
    end = headings[1:] if titled else headings
    return lines[headings[0] + 1 if titled else 0 : end[0] if end else len(lines)]


def _pairs(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Key and value of each line that is a field, of table rows with two cells, and of tables with one row."""
    for at, line in enumerate(lines):
        if found := _PAIR.match(line):
            yield plain(found[1]), found[2].rstrip(" \t|")
        if "|" in line and at + 2 < len(lines) and _TABLE_RULE.match(lines[at + 1]):
            yield from zip(_cells(line), _cells(lines[at + 2]), strict=False)


def _cells(row: str) -> list[str]:
    return [cell.strip() for cell in row.strip().strip("|").split("|")]


def _date(pairs: Iterable[tuple[str, str]], sections: Iterable[_Section], stem: str) -> str | None:
    told = [value for key, value in pairs if _DATE.fullmatch(key)]
    for section in sections:
        if _DATE.fullmatch(section.name):
            told += [section.rest, *section.lines]
    days = (_day(text) for text in [*told, stem])
    return next(filter(None, days), None)


def _day(text: str) -> str | None:
    found = _DAY.search(text)
    if found is None:
        return None
    try:
        return date(*map(int, found.groups())).isoformat()
    except ValueError:
        return None


def _description(sections: Sequence[_Section], lines: Sequence[str]) -> str:
    """The first sentences of what was decided, else of why, else of what stands first and is no field."""
    own = [section for section in sections if not _is_field(section.name)]
    told = [section.lines for wanted in (_DECISION, _CONTEXT) for section in own if wanted.fullmatch(section.name)]
    head = [line for line in _head(lines) if not ((pair := _PAIR.match(line)) and _is_field(plain(pair[1])))]
    for text in [*told, head, *(section.lines for section in own[1:])]:
        if summary := first_sentences("\n".join(text)):
            return summary
    return ""


def _is_field(name: str) -> bool:
    return any(key.fullmatch(name) for key in (_STATUS, _SUCCESSOR, _DATE, _META))
