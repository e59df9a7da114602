"""Decoding: the text of a note from its bytes, whatever editor wrote them, or a refusal in words."""

import re
import unicodedata

_BOMS = (
    # UTF-32 first: its little-endian mark begins with that of UTF-16.
    (b"\xff\xfe\x00\x00", "utf-32-le"),
    (b"\x00\x00\xfe\xff", "utf-32-be"),
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)
_KANA = re.compile("[ぁ-ゖァ-ヺ]")
_BINARY = "is not text (it holds zero bytes): delete it, or save the note as UTF-8 text"


def decode_note(data: bytes) -> str:
    """The text of a note, line ends as `\\n`, without a byte order mark.

    Unicode by its byte order mark; UTF-16 without one where zero bytes show it; UTF-8; else the two older Japanese
    encodings, EUC-JP and Windows' Shift_JIS. ValueError, as a reason to print, for everything else.
    """
    text = _decode(data)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _decode(data: bytes) -> str:
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return _strictly(data[len(mark) :], encoding)
    if 0 in data:
        return _utf_16_without_mark(data)
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        text = _japanese(data)
        if text is None:
            found = f"byte {error.start + 1} is wrong"
            raise ValueError(f"is not UTF-8 text ({found}): save the note as UTF-8") from None
        return text


def _strictly(data: bytes, encoding: str) -> str:
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        found = f"begins like {encoding.upper()} text but does not go on so: save the note as UTF-8"
        raise ValueError(found) from None
    if "\0" in text:
        raise ValueError(_BINARY)
    return text


def _utf_16_without_mark(data: bytes) -> str:
    """UTF-16 has its zero bytes on one side of each pair, where plain letters, spaces and line ends stand.

    Where they are few, other bytes must show that it is not plain text with a zero byte in it, which would become
    a row of senseless kanji.
    """
    sides = {position % 2 for position, byte in enumerate(data) if byte == 0}
    evident = 4 * data.count(0) >= len(data) or not data.isascii()
    if evident and len(data) % 2 == 0 and len(sides) == 1:
        text = data.decode("utf-16-be" if sides == {0} else "utf-16-le", "replace")
        if all(map(_is_written, text)):
            return text
    raise ValueError(_BINARY)


def _is_written(character: str) -> bool:
    """Whether people write this character: bytes that only look like UTF-16 soon yield one that nobody does."""
    return character in "\t\n\r\f" or (
        character != "\N{REPLACEMENT CHARACTER}" and unicodedata.category(character) not in {"Cc", "Cn", "Co"}
    )


def _japanese(data: bytes) -> str | None:
    """Text in EUC-JP or Shift_JIS, None for neither.

    Other eight-bit text decodes as kanji now and then; kana show that it is Japanese. EUC-JP comes first: hardly any
    Shift_JIS text is valid in it, while the reverse often is, as half-width katakana.
    """
    for encoding in ("euc_jp", "cp932"):
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        if _KANA.search(text):
            return text
    return None
