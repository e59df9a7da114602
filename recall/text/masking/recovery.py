"""Recovery codes: the one-time codes that let a person in without the second factor, listed under their name."""

import re
from collections.abc import Iterator

from recall.text.masking.spans import Span

#: Found in text of small letters.
_NAME = re.compile(
    r"(?:recovery|backup|back-up|scratch|emergency|restore|wiederherstellungs|notfall)[ _-]?codes?(?![a-z])"
    r"|(?:リカバリー?|バックアップ|復旧|回復|復元|予備|緊急)[ ・]?コード"
)
_FIRST_LETTERS = ("code", "コード")
_ONE = r"(?:[A-Za-z0-9]{3,8}(?:-[A-Za-z0-9]{3,8}){1,5}|\d{4} \d{4}(?!\d)|\d{3} \d{3}(?!\d)|[A-Za-z0-9]{6,16})(?![\w-])"
_CODE = re.compile(_ONE, re.ASCII)
#: What may stand before the codes of a line and between them.
_MARKER = re.compile(r"[ \t>|*+~`\"'-]*(?:\[[ xX]?\]|\(?\d{1,2}[.):](?=\s))?[ \t~`\"'*|]*")
_BETWEEN = re.compile(
    r"[ \t~`\"'*]*(?:[,;/|、・と]|[ \t]+(?:and|und)(?=[ \t])|[ \t])[ \t~`\"'*|]*(?:\[[ xX]?\][ \t]*)?|[~`\"'*]+(?=$)"
)
_REST = re.compile(
    r"[ \t,;|~`\"'*。.]*(?:[-–—(（:]?\s?(?:un)?(?:used|使用|済|未使用)[^\n]{0,40})?\r?(?=\n|\Z)", re.IGNORECASE
)
_NO_CODES = re.compile(r"[ \t>|:`~*-]*(?:[a-z]{0,10})?\r?")
_LINK = re.compile(r"[^\n:：=→]{0,80}?(?:[:：=→は]|\b(?:are|is)\b)[ \t\"'`*「]{0,4}")
#: So many lines of words may stand between the name and its codes, and so many lines of codes behind it.
_MOST_WORDS, _MOST_LINES = 3, 60
#: What is no code where it stands alone: a date, and a word with a number.
_NO_SINGLE = re.compile(
    r"(?:19|20)\d\d(?:0[1-9]|1[0-2])[0-3]\d|[A-Za-z]{2,}\d+|\d+[A-Za-z]{2,}|\d+-[A-Za-z]+|[A-Za-z]+-\d+", re.ASCII
)


def find_recovery_codes(text: str) -> Iterator[Span]:
    """The recovery codes of a text, each by itself; a list is read once."""
    low = text.lower()
    if len(low) != len(text) or not any(letters in low for letters in _FIRST_LETTERS):
        return
    done = 0
    for name in _NAME.finditer(low):
        if name.start() >= done:
            codes = _behind(text, name.end()) or _below(text, name.end())
            yield from (Span(*code, "recovery-code") for code in codes)
            done = codes[-1][1] if codes else done


def _behind(text: str, end: int) -> list[tuple[int, int]]:
    """The codes in the line of the name."""
    link = _LINK.match(text, end)
    return _accepted(text, _row(text, link.end(), whole=False)) if link else []


def _below(text: str, end: int) -> list[tuple[int, int]]:
    """The codes in the lines under the name, each of which holds nothing else."""
    codes: list[tuple[int, int]] = []
    words = 0
    for _ in range(_MOST_LINES):
        start = text.find("\n", end) + 1
        if not start:
            break
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        row = _row(text, start, whole=True)
        codes += row
        if row or _NO_CODES.fullmatch(text, start, end):
            continue
        words += 1
        if codes or words > _MOST_WORDS:
            break
    return _accepted(text, codes)


def _row(text: str, start: int, *, whole: bool) -> list[tuple[int, int]]:
    """The codes that follow each other from a place on; none where the line has to be of codes and is not."""
    marker = _MARKER.match(text, start)
    at = marker.end() if marker else start
    codes = []
    while code := _CODE.match(text, at):
        if not any(map(str.isdigit, code[0])) and "-" not in code[0]:
            break
        codes.append(code.span())
        at = code.end()
        between = _BETWEEN.match(text, at)
        if between is None:
            break
        at = between.end()
    return codes if codes and (not whole or _REST.match(text, codes[-1][1])) else []


def _accepted(text: str, codes: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The codes that are as long as the first: one list is of one make."""
    alike = [code for code in codes if code[1] - code[0] == codes[0][1] - codes[0][0]]
    with_digits = [code for code in alike if any(map(str.isdigit, text[slice(*code)]))]
    only = len(alike) == 1 and _NO_SINGLE.fullmatch(text[slice(*alike[0])]) is not None
    return alike if len(with_digits) * 2 > len(alike) and not only else []
