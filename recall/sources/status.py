"""Status: what one line says about whether a decision is in force, and what replaced it."""

import re
from typing import Literal, NamedTuple

from recall.sources.succession import Reference, find_reference, match_reference, title_reference

Status = Literal["proposed", "accepted", "partially superseded", "superseded", "rejected", "withdrawn", "deprecated"]

#: Records of these are not in force. One that was superseded in part is, for the rest.
OUT_OF_FORCE: frozenset[Status] = frozenset({"superseded", "rejected", "withdrawn", "deprecated"})

#: How a status begins, tried in this order: what is said of a part, or refused, is not said of the whole.
_BEGINNINGS: tuple[tuple[Status, str], ...] = (
    (
        "partially superseded",
        r"part(?:ly|ial(?:ly)?)[- ](?:super[sc]|replaced)|super[sc]eded[- ]in[- ]part|部分的|一部",
    ),
    (
        "superseded",
        r"super[sc]eded|replaced|obsoleted|置き?換え(?:済|られ|\W|$)|置換(?:済|され)|supersede ?(?:済|され)",
    ),
    ("rejected", r"rejected|declined|却下|不採用|棄却|見送り|採用(?:しない|せず)"),
    ("withdrawn", r"withdrawn|retracted|cancell?ed|abandoned|撤回|取り?下げ|破棄|中止"),
    ("deprecated", r"deprecated|obsolete\b|retired|廃止|非推奨|失効|無効"),
    ("proposed", r"proposed|draft|pending|(?:in|under) (?:review|discussion)|提案|草案|下書き|検討|承認待ち|起案"),
    ("accepted", r"accepted|approved|adopted|decided|implemented|active\b|in force|承認|採用|採択|決定|有効|確定"),
)
#: What may stand before it: `Accepted, later superseded by`, `This ADR has been superseded by`.
_BEFORE = re.compile(
    r"(?:accepted|approved|承認(?:済み?)?|採用)\W*(?:\d[\d/.-]*\W+)?(?:(?:but|and|now|later|then)\s+)?(?=super[sc]eded|replaced)"
    r"|th(?:is|e) (?:adr|record|decision|document) (?:is|was|has been) (?:now )?",
    re.IGNORECASE,
)
#: Behind a status that is not the first line of its section hardly more stands: else it is prose.
_ENDS_SHORTLY = re.compile(r"\W*(?:$|\d|(?:by|on|since|in favou?r)\b)|\s*[:(（—–]|[- ]?by\b|済", re.IGNORECASE)
#: In Japanese the successor stands first: `ADR-0031 により置き換え`.
_REPLACED_BY_IT = re.compile(
    r"\s*(?:により|によって|に|で|へ)\s*(?:全面的に|完全に)?\s*(?:置き?換え|置換|差し替え|上書き|取って代わら|廃止|撤回|supersede)",
    re.IGNORECASE,
)
_BY = re.compile(r"[-\s_]*by\b[\s:：]*", re.IGNORECASE)
_HANDED_OVER = re.compile(r"(?:\bby\b|\bin favou?r of\b|\breplaced with\b|\buse\b|→|->|=>|後継)[\s:：]*", re.IGNORECASE)

#: No one says more of a status in one line; the rest could only cost time.
_LONGEST_LINE = 400

_STRUCK = re.compile(r"~~.*?~~")
_MARKS = re.compile(r"\*\*|`")
_BEFORE_WORDS = re.compile(r"^[^\w\[（(「]+")
_OPENING = "[(（「"


class Statement(NamedTuple):
    """A status, and the successor that the same line names; None for none."""

    status: Status
    successor: Reference | None


def read_status(line: str, *, first: bool = True) -> Statement | None:
    """What a line says, in English or Japanese, whatever marks it wears; None where it says nothing.

    The word must begin the line: a sentence that only speaks of a superseded record is none. Lines that are not the
    `first` of their section count only where the word stands (almost) alone or names a successor.
    """
    text = _BEFORE_WORDS.sub("", _MARKS.sub("", _STRUCK.sub("", line[:_LONGEST_LINE])))
    if not text or text.startswith("{") or text.count("|") > 1:  # a template's list of choices
        return None
    reference = match_reference(text)
    if reference and _REPLACED_BY_IT.match(text, reference[1]):
        return Statement("superseded", reference[0])
    words = text.lstrip(_OPENING)
    if before := _BEFORE.match(words):
        words = words[before.end() :]
    for status, pattern in _BEGINNINGS:
        if found := re.match(pattern, words, re.IGNORECASE):
            rest = words[found.end() :]
            if not first and not _ENDS_SHORTLY.match(rest):
                return None
            return Statement(status, _successor(status, text, rest))
    return None


def _successor(status: Status, text: str, rest: str) -> Reference | None:
    if status == "superseded":
        by = _BY.match(rest)
        named = rest[by.end() :] if by else rest.lstrip(" :：-→>（(")
        # In `[superseded by 0031](0031-x.md)` the link begins before the words.
        around = match_reference(text)
        found = around[0] if around else find_reference(named)
        return found or (title_reference(named) if by else None)
    if status in OUT_OF_FORCE:
        for over in _HANDED_OVER.finditer(rest):
            if found := find_reference(rest[over.end() :]):
                return found
        for position in range(len(rest)):
            if (named_first := match_reference(rest[position:])) and _REPLACED_BY_IT.match(
                rest, position + named_first[1]
            ):
                return named_first[0]
    return None
