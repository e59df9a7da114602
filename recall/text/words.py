"""Words: what a text is searched by beside its meaning. Words and the parts of identifiers, and pairs of characters
where a language writes no spaces."""

import hashlib
import re
import sys
import unicodedata
from array import array
from collections.abc import Iterator

from recall.text.clean import visible

#: So much of a text is read, and so many terms are given at most: a note has 100 to 600 of them.
MAX_CHARACTERS = 8192
MAX_TERMS = 4096
#: Longer words are data (hashes, base64) or generated names; their beginning tells them apart well enough.
MAX_TERM_CHARACTERS = 64

#: Scripts without spaces between words, and Hangul, whose words carry their endings: Thai, Lao, Tibetan, Burmese,
#: Khmer; kana, bopomofo and Hangul; Han with its extensions. A pair of characters stands for a word there.
_UNSPACED = (
    "\u0e01-\u0e7f\u0e80-\u0fff\u1000-\u109f\u1780-\u17ff\u1100-\u11ff\ua960-\ua97f\uac00-\ud7ff"
    "\u3005-\u3007\u3041-\u318f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
_RUN = re.compile(f"(?P<unspaced>[{_UNSPACED}]+)|[^\\s{_UNSPACED}]+")
#: What joins the parts of an identifier: snake_case, kebab-case, dotted.names.
_JOINERS = re.compile(r"[-._]+")
#: Where a part of camelCase or of HTTPServer begins.
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
#: Hiragana is grammar; a pair of them tells nothing of what a message is about.
_GRAMMAR = re.compile("[\u3041-\u309f]+\\Z")
#: What a message names by an identifier: with a digit, an underscore, a hump or a dot inside, or in capitals.
_ASCII_WORD = re.compile(r"(?<![A-Za-z0-9_])[A-Za-z0-9_][A-Za-z0-9_.-]{2,}")
_IDENTIFIER = re.compile(r".*(?:\d|_|[a-z][A-Z]|[A-Za-z]\.[A-Za-z])|[A-Z]{2,}s?\Z")
#: How much an identifier counts, and a pair of characters, of which a word has several. Measured together with
#: `recall.search.lexical`.
_WEIGHT_OF_IDENTIFIER, _WEIGHT_OF_PAIR = 4.0, 0.5
#: Bytes of a fingerprint: among the 250,000 terms of 20,000 documents one in 17,000 is another's too.
_FINGERPRINT_BYTES = 4

#: "don't" is one word, and "note's" is near to "notes".
_DROPPED = "'\u2019\u02bc"


class _Written(dict[int, str | None]):
    """A translation table that fills itself: what belongs to a word stays, anything else becomes a space."""

    def __missing__(self, code: int) -> str | None:
        character = chr(code)
        kept: str | None = " "
        if character in _DROPPED:
            kept = None
        elif character in "-._" or unicodedata.category(character)[0] in "LMN":
            kept = character
        self[code] = kept
        return kept


_WRITTEN = _Written()


def terms(text: str) -> list[str]:
    """The terms of a text, each once, in the order of their first place; at most 4,096, of at most 64 characters.

    Words are folded (NFKC, no case). Of an identifier there is the whole and its parts, and the whole is the same
    however it is written: `maxTokens`, `max_tokens` and `max-tokens` all give `maxtokens`, `max`, `tokens`. Scripts
    without spaces give overlapping pairs of characters, a lone character itself. Nothing is left out as too common:
    that depends on the records. Only the first 8,192 characters are read. Never fails.
    """
    plain = unicodedata.normalize("NFKC", text[:MAX_CHARACTERS])
    plain = unicodedata.normalize("NFKC", visible(plain)[:MAX_CHARACTERS]).translate(_WRITTEN)
    found: dict[str, None] = {}
    for run in _RUN.finditer(plain):
        for term in _pairs(run[0]) if run["unspaced"] else _words(run[0]):
            found[_folded(term)] = None
            if len(found) > MAX_TERMS:
                break
    found.pop("", None)
    return list(found)[:MAX_TERMS]


def weighted_terms(message: str) -> dict[str, float]:
    """The terms that say what a message is about, with how much each counts: identifiers most, grammar not at all."""
    named = {terms(name)[0] for name in identifiers(message)}
    return {
        term: _WEIGHT_OF_IDENTIFIER if term in named else 1.0 if term.isascii() else _WEIGHT_OF_PAIR
        for term in terms(message)
        if len(term) > 2 or not _GRAMMAR.match(term)
    }


def identifiers(text: str) -> list[str]:
    """The names in a text that nobody uses by chance, in order: `maxTokens`, `DATABASE_URL`, `node.js`, E0502, 6543.

    Each has one term at least.
    """
    words = (word.strip(".-") for word in _ASCII_WORD.findall(text))
    return [word for word in dict.fromkeys(words) if _IDENTIFIER.match(word) and terms(word)]


def fingerprint(term: str) -> int:
    """A number below 2**32 that stands for a term: what is stored of texts holds no word in letters."""
    return int.from_bytes(hashlib.blake2b(term.encode(), digest_size=_FINGERPRINT_BYTES).digest(), "little")


def fingerprints(text: str) -> bytes:
    """The fingerprints of a text's terms in ascending order, 4 bytes each, little-endian: no order, no counts."""
    found = array("I", sorted({fingerprint(term) for term in terms(text)}))
    if sys.byteorder == "big":
        found.byteswap()
    return found.tobytes()


def _folded(term: str) -> str:
    return unicodedata.normalize("NFKC", term.casefold())[:MAX_TERM_CHARACTERS]


def _pairs(run: str) -> Iterator[str]:
    return (run[at : at + 2] for at in range(max(1, len(run) - 1)))


def _words(run: str) -> Iterator[str]:
    """An identifier or word as a whole, its parts, and the humps of these."""
    parts = [part for part in _JOINERS.split(run) if part]
    if not parts:
        return
    yield _joined(parts)
    for part in parts:
        yield part
        yield from _HUMP.split(part)


def _joined(parts: list[str]) -> str:
    """The parts without what joined them, but for numbers: 1.12 and 11.2 are two versions."""
    whole = parts[0]
    for part in parts[1:]:
        if len(whole) > MAX_TERM_CHARACTERS:
            break
        whole += f".{part}" if whole[-1].isdigit() and part[0].isdigit() else part
    return whole
