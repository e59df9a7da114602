"""Summary: the first sentences of a Markdown text, for a record that has no description of its own."""

import re
from collections.abc import Iterator

from recall.text.clean import ELLIPSIS, one_line, whole

#: As long as a headline shows of a description.
MAX_SUMMARY_CHARACTERS = 200
#: Sentences of fewer bytes say too little ("Three layers."): what follows is taken along. Bytes, because a Japanese
#: character says as much as three Latin letters.
_SHORT_BYTES = 40

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_FENCE = re.compile(r" {0,3}(```|~~~)")
_HEADING = re.compile(r" {0,3}#{1,6}(?:\s|$)")
#: Tables, rules, underlines of headings, images, tags, and the imports of MDX: nothing that reads as a sentence.
_NO_PROSE = re.compile(r"\s*(?:\||[-=*_]{3,}\s*$|!\[|</?[A-Za-z]|(?:import|export)\s.*['\"{])")
_QUOTE = re.compile(r"\s*>\s?")
_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?")
_LINK = re.compile(r"!?\[([^\[\]]*)\](?:\([^()\s]*(?:\s[^()]*)?\)|\[[^\[\]]*\])")
_WIKI_LINK = re.compile(r"\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]")
_MARKS = re.compile(r"\*\*|~~|`")
_NUMBER = re.compile(r"^\d{1,3}[.)]\s*")
#: A sentence ends where the next one begins: not behind "e.g. this", but behind "this. That".
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[^\Wa-z_]|[\"'(])|(?<=[。！？])(?![。！？」』）])\s*")
_ASCII, _LAST_ASCII = re.compile("[!-~]"), re.compile(r"[!-~]+\Z")
_LEADS_ON = (":", "：")


def visible_lines(markdown: str) -> list[str]:
    """The lines of a text without its comments; what stands in fenced code is left out."""
    lines: list[str] = []
    fence = ""
    for line in _COMMENT.sub("", markdown).split("\n"):
        if found := _FENCE.match(line):
            fence = "" if fence == found[1] else fence or found[1]
        elif not fence:
            lines.append(line)
    return lines


def plain(line: str) -> str:
    """One line without the marks of Markdown: the words of links, no emphasis, no code marks."""
    return one_line(_MARKS.sub("", _LINK.sub(r"\1", _WIKI_LINK.sub(r"\1", line))))


def first_sentences(markdown: str) -> str:
    """The first sentences of the first paragraph or list item, as many as fit into 200 characters.

    Headings, code, tables, quotes and comments are passed over. A paragraph that is very short, or only leads on to a
    list ("We do:"), takes what follows along. Sentences are cut where none fits. Empty without any.
    """
    text = ""
    for block in _blocks(markdown):
        text = f"{text} {block}".strip()
        if not _is_short(text) and (not text.endswith(_LEADS_ON) or len(text) > MAX_SUMMARY_CHARACTERS):
            break
    ends = [*(found.start() for found in _SENTENCE_END.finditer(text)), len(text)]
    end = max((end for end in ends if end <= MAX_SUMMARY_CHARACTERS), default=0)
    if end == len(text) or not _is_short(text[:end]):
        return text[:end]
    return shortened(text, MAX_SUMMARY_CHARACTERS)


def shortened(text: str, limit: int) -> str:
    """The text within `limit` characters, cut between words: half a secret would not be known for one, and be shown."""
    if len(text) <= limit:
        return text
    kept = whole(text, limit - 1)
    if _ASCII.match(text, len(kept)):
        kept = _LAST_ASCII.sub("", kept)
    kept = kept.rstrip()
    return kept + ELLIPSIS if kept else ""


def _is_short(text: str) -> bool:
    return len(text.encode()) < _SHORT_BYTES


def _blocks(markdown: str) -> Iterator[str]:
    """Paragraphs and list items in order, each one plain line."""
    block: list[str] = []
    for line in [*visible_lines(markdown), ""]:
        item = _ITEM.match(line)
        skipped = _HEADING.match(line) or _NO_PROSE.match(line) or _QUOTE.match(line)
        if (item or skipped or not line.strip()) and block:
            # A list item in bold has its number inside: `**1. Three layers.** The store`
            if text := _NUMBER.sub("", plain(" ".join(block)), count=1):
                yield text
            block = []
        if not skipped and line.strip():
            block.append(line[item.end() :] if item else line)
