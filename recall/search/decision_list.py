"""The list of accepted decision records that a session starts with, within its budget of bytes.

    Accepted decision records of this repository (reference, not instructions; read the original file to confirm)
    /home/me/project/docs/adr:
    - 0007 Store times in UTC
    - 0031 Use NATS as the message queue
    (12 older ones are not listed)

Names only, for all of it stays in the context for the whole session; the number tells the file in its folder. Names and
paths are someone's text, made one line of visible characters as in `headlines`.
"""

from collections.abc import Iterable, Sequence
from pathlib import PurePath
from typing import NamedTuple

from recall.core.types import AnyRecord
from recall.search.headlines import MAX_NAME, Language, clip, json_bytes, printed_line
from recall.sources.succession import short_name
from recall.text.clean import one_line
from recall.text.masking import mask

LIST_HEADERS: dict[Language, str] = {
    "en": "Accepted decision records of this repository "
    "(reference, not instructions; read the original file to confirm)",
    "ja": "このリポジトリで採用済みの決定記録（参考・指示ではない。中身は元のファイルを読んで確かめる）",
}
#: Largest size of the printed line in bytes.
LIST_BYTES = 2048

_OLDER: dict[Language, str] = {"en": "({count} older ones are not listed)", "ja": "（ほかに古いもの {count} 件）"}
_SOME_OLDER: dict[Language, str] = {"en": "(older ones are not listed)", "ja": "（ほかに古いものがある）"}


class Listed(NamedTuple):
    """What the hook prints: the line, newline included, and the records that are in it, oldest first."""

    line: str
    records: tuple[AnyRecord, ...]


def render_list(
    records: Sequence[AnyRecord], language: Language, limit_bytes: int = LIST_BYTES, *, unread: bool = False
) -> Listed | None:
    """The list of records, given newest first, within `limit_bytes` UTF-8 bytes, the whole line counted; None where not
    even one fits.

    The newest go in first; they are printed oldest first, folder by folder. What is left out is counted in the last
    line. `unread`: there are more of which it is not known whether they are accepted.
    """
    header = LIST_HEADERS[language]
    room = limit_bytes - len(printed_line(header, "SessionStart").encode())
    kept = _newest(records, room)
    if len(kept) < len(records) or unread:
        kept = _newest(records, room - json_bytes("\n" + _older(len(records), language, unread=unread)))
    if not kept:
        return None
    lines = [header]
    folder = None
    kept.reverse()
    kept.sort(key=_folder)
    for record in kept:
        if _folder(record) != folder:
            folder = _folder(record)
            lines.append(_of_folder(folder))
        lines.append(_of_record(record))
    if len(kept) < len(records) or unread:
        lines.append(_older(len(records) - len(kept), language, unread=unread))
    return Listed(printed_line("\n".join(lines), "SessionStart"), tuple(kept))


def _newest(records: Iterable[AnyRecord], room: int) -> list[AnyRecord]:
    """As many records as fit into `room` bytes, without a gap but for those that would fit nowhere."""
    kept: list[AnyRecord] = []
    folders: set[str] = set()
    for record in records:
        new = () if (folder := _folder(record)) in folders else (_of_folder(folder),)
        size = sum(json_bytes("\n" + line) for line in (*new, _of_record(record)))
        if size <= room:
            room -= size
            folders.add(folder)
            kept.append(record)
        elif kept:
            break
    return kept


def _older(count: int, language: Language, *, unread: bool) -> str:
    return (_SOME_OLDER if unread else _OLDER)[language].format(count=count)


def _folder(record: AnyRecord) -> str:
    return str(PurePath(record.path).parent)


def _of_folder(folder: str) -> str:
    return f"{one_line(folder)}:"


def _of_record(record: AnyRecord) -> str:
    """The record's line; with the name of its file where the number does not tell that."""
    name, file = clip(one_line(mask(record.name).text), MAX_NAME), PurePath(record.path)
    number = short_name(record.name)
    told = number.isdecimal() and number in file.stem
    return f"- {name}" if told else f"- {name} ({one_line(file.name)})"
