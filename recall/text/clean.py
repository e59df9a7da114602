"""Clean text: only characters that a person can see, one line where one line is promised, cut at whole characters."""

import re
import unicodedata

ELLIPSIS = "…"

#: Characters that show nothing although Unicode does not class them as format characters: fillers, joiners, variation
#: selectors (Default_Ignorable_Code_Point of DerivedCoreProperties.txt), the blank braille pattern, noncharacters.
#: Text can be hidden in them, or a line made to look empty.
_INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\u2800\u3164\ufe00-\ufe0f\uffa0\ufff0-\ufff8"
    "\ufdd0-\ufdef\ufffe\uffff\U000e0000-\U000e0fff]"
)
#: What belongs to the character before it besides marks (category M): emoji skin tones, half-width voicing marks,
#: the vowels and finals of decomposed Hangul.
_EXTENDS = re.compile("[\U0001f3fb-\U0001f3ff\uff9e\uff9f\u1160-\u11ff\u200d]")
_JOINER = "\u200d"
_REGIONAL_INDICATORS = re.compile(r"[\U0001f1e6-\U0001f1ff]+\Z")
#: How far back a cut looks for a whole character. Longer heaps of marks are no one's writing and are cut anywhere.
_LONGEST_CLUSTER = 40


class _Visible(dict[int, str | None]):
    """A translation table that fills itself: code point -> itself, a space or newline, or None to drop it."""

    def __missing__(self, code: int) -> str | None:
        character = chr(code)
        kept: str | None = character
        if character.isspace():
            if unicodedata.category(character) != "Zs" and character not in "\n\t":
                kept = "\n"
        elif unicodedata.category(character) in {"Cc", "Cf", "Cs"} or _INVISIBLE.match(character):
            kept = None
        self[code] = kept
        return kept


_VISIBLE = _Visible()


def visible(text: str) -> str:
    """The text without control, format, bidirectional and invisible characters and without lone surrogates.

    White space stays; line and paragraph separators of any kind become newlines. Emoji sequences fall apart into
    their emoji.
    """
    return text.translate(_VISIBLE)


def one_line(text: str) -> str:
    """The visible text as a single line: runs of white space of any kind become one space, none at the ends."""
    return " ".join(visible(text).split())


def cut_bytes(text: str, limit: int) -> str:
    """The text, or as much of it as fits into `limit` UTF-8 bytes together with the ellipsis that then ends it.

    Empty when not even the ellipsis fits.
    """
    encoded = text.encode("utf-8", "surrogatepass")
    if len(encoded) <= limit:
        return text
    room = limit - len(ELLIPSIS.encode())
    if room < 0:
        return ""
    fitting = len(encoded[:room].decode("utf-8", "ignore"))
    return whole(text, fitting).rstrip() + ELLIPSIS


def whole(text: str, end: int) -> str:
    """The first `end` characters of the text, fewer where that would part what is read as one character.

    A letter keeps its marks, an emoji its skin tone and joined parts, a flag its second half.
    """
    if end >= len(text):
        return text
    for cut in range(end, max(0, end - _LONGEST_CLUSTER), -1):
        if not _parts_a_character(text, cut):
            return text[:cut]
    return text[:end] if end > _LONGEST_CLUSTER else ""


def _parts_a_character(text: str, cut: int) -> bool:
    """Whether the character before position `cut` goes on behind it."""
    before, after = text[cut - 1], text[cut]
    if unicodedata.category(after).startswith("M") or _EXTENDS.match(after) or before == _JOINER:
        return True
    if _REGIONAL_INDICATORS.match(after):
        flags = _REGIONAL_INDICATORS.search(text[max(0, cut - _LONGEST_CLUSTER) : cut])
        return flags is not None and len(flags.group()) % 2 == 1
    return False
