"""Passwords told by a sentence around the word: `use "..." as password`, `... をパスワードに`.

Only what stands near the word is read, so a text of nothing but the word costs no more than its length.
"""

import re
from collections.abc import Iterator

from recall.text.masking.judge import is_password
from recall.text.masking.shape import find, shape
from recall.text.masking.spans import Span

#: So many characters are read before the word and behind it.
_BEFORE, _BEHIND = 120, 300
_QUOTED = r"\"[^\"\n]{3,80}\"|'[^'\n]{3,80}'|`[^`\n]{3,80}`|“[^”\n]{3,80}”|「[^」\n]{3,80}」|『[^』\n]{3,80}』"
_VALUE = rf"({_QUOTED}|[!#-&(-;=?-_a-~]{{3,99}}[!#-&(*+/-9=?-_a-~])"
_USER = r"[\"'`「]?[\w.@+-]{1,60}[\"'`」]?"

_AS = re.compile(
    rf"(?P<verb>\b(?:us(?:e|es|ed|ing)|set|enter|type|try|with|pick(?:ed)?|cho[o]?se(?:n)?|put|give)\s(?:[a-z]{{1,10}}\s){{0,2}})?"
    rf"(?<![^\s(]){_VALUE}\s(?:as|for)\s"
    r"(?:(?:the|a|my|our|your|its|new|default|initial|temporary|root|admin|user|db|database|login|wi-?fi|account"
    r"|shared|ssh|sudo)\s){0,4}$",
    re.IGNORECASE,
)
_LINKS = re.compile(r" (?:as|for) ", re.IGNORECASE)
#: Words that make another thing of it: `as password hash`.
_OF_IT = re.compile(
    r"[ _-]?(?:hash|manager|field|input|prompt|polic|kdf|store|salt|file|column|name|param|key|variable|encod|protect)"
    r"|の?(?:ハッシュ|管理|欄|項目|入力|ポリシー)",
    re.IGNORECASE,
)
_INTO = re.compile(rf"{_VALUE}\s?を\s?(?:(?:新しい|新|初期|仮の?|共通の?|管理者の?|root ?の?)\s?)?$")
_INTO_BEHIND = re.compile(r"\s?(?:に(?!は?使わ|は?し?ない|は?含|は?入れ)|として)")
_CHANGED = re.compile(
    r"s?(?:\s(?:for|of|on|to)\s[^\n]{1,40}?)?"
    r"(?:\s(?:(?:has|had|have)\sbeen|was|is|got|were|will\sbe|been)\s(?:\w{2,12}ly\s)?)?"
    rf"(?:\s?(?:changed|updated|rotated|reset|switched|replaced|set|moved))?"
    rf"(?:\sfrom|\s?[:：])\s{_VALUE}\s(?:to|->|→)\s{_VALUE}",
    re.IGNORECASE,
)
#: Behind an arrow a word with a number is a type or a step of a flow, unless the name says that it is the new one.
_ARROW = re.compile(rf"\s?(?:→|⇒|->|=>)\s?{_VALUE}")
_WORD_WITH_NUMBER = re.compile(r"[A-Za-z_]+\d{1,3}", re.ASCII)
_NEW = re.compile(r"(?:new|old|current|新しい|新|現在の|今の|古い|旧)\s?$", re.IGNORECASE)
_STATED = re.compile(rf"\slautete?(?:\s?:)?\s{_VALUE}", re.IGNORECASE)
_CHANGED_JA = re.compile(rf"\s?[をがは]、?\s?{_VALUE}\s?から\s?{_VALUE}\s?(?:に|へ)")
_ENDS = r"(?=[ \t]*(?:です|でした|だ|。|、|\)|）|$))"
_NAME_OF_PATH = re.compile(r"[\\/]|\.[A-Za-z]\w{0,4}$|^v\d|^[A-Za-z]+_\w*$", re.ASCII)
_ALGORITHM = re.compile(
    r"(?:ed|x|curve)\d{3,5}|(?:rsa|dsa|aes|sha|hmac|ecdsa|chacha|secp|p|base)[_-]?\d{2,4}|id_|\.(?:pem|key|pub|asc)$"
    r"|[\\/]|_\d*$",
    re.ASCII | re.IGNORECASE,
)
_VARIABLE = re.compile(r"[A-Z0-9]+(?:_[A-Z0-9]+)+")
_USER_AND = re.compile(
    r"(?:ユーザー?名?|ユーザーid|アカウント名?|ログイン名?|ログインid|メールアドレス|(?<![a-z])id)\s?(?:と|/|／|・|、|および|及び|&)\s?$"
    r"|(?<![a-z])(?:user(?:[ -]?name)?|log-?in|account|e-?mail|id)\s(?:and|&)\s(?:the\s)?$",
    re.IGNORECASE,
)
_ANDS = ("と", "/", "／", "・", "、", "および", "及び", "&", "and", "the")
_BOTH = re.compile(
    rf"(?:\s?[はが]、?\s?|\s(?:is|are|was|were)\s|\s?[:=：]\s?){_USER}\s?(?:と|/|／|,|、|・|\sand\s)\s?{_VALUE}",
    re.IGNORECASE,
)
#: `パス` is a path too and `鍵` a door's, so the value looks like neither, and the sentence ends behind it.
_SHORT = (
    shape(
        "password",
        "パスは パスが",
        rf"(?<![ァ-ヶー一-龠])パス[はが][ \u3000]?(?:[\w.@+-]{{1,60}}[ ]?[と/][ ]?)?"
        rf"[「\"'`]?([!#-&(*+\-.0-~]{{6,60}}?)[」\"'`]?{_ENDS}",
        lambda value: is_password(value, named_plainly=False) and _NAME_OF_PATH.search(value) is None,
        re.MULTILINE,
    ),
    shape(
        "password",
        "鍵は 鍵： 鍵:",
        rf"(?<![ァ-ヶー一-龠])鍵[ \u3000]?[は:：][ \u3000]?[「\"'`]?([!#-&(*+\--~]{{6,80}}?)[」\"'`]?{_ENDS}",
        lambda value: is_password(value, named_plainly=False) and _ALGORITHM.search(value) is None,
        re.MULTILINE,
    ),
)
#: What every sentence of `_behind` goes on with; most have none, and are done with here.
_GOES_ON = re.compile(r"s?[\s:：→⇒=-]|[をがは]、?\s?[\"'`「『“!-~]")
_END_OF_SENTENCE = re.compile(r"[ \t]*(?:です|でした|だ|。|[.]?[ \t]*$)", re.MULTILINE)


def find_short(text: str) -> Iterator[Span]:
    """The passwords that are told by `パス` or `鍵` alone."""
    return find(_SHORT, text)


def find_around(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The passwords in the sentence around the word for one that stands at `start` to `end`."""
    before = text[max(0, start - _BEFORE) : start]
    if "を" in before[-10:] or _LINKS.search(before, max(0, len(before) - 40)):
        yield from _before(text, before, start - len(before), end)
    if before.rstrip().endswith(_ANDS) and _USER_AND.search(before):
        both = _BOTH.match(text, end, end + _BEHIND)
        if both and (_is_told(both[1]) or (_may_be(both[1]) and _ends(text, both.end()) and "は" in both[0])):
            yield _inside(*both.span(1), text)
    if _GOES_ON.match(text, end):
        yield from _behind(text, before, end)


def _behind(text: str, before: str, end: int) -> Iterator[tuple[int, int]]:
    """The passwords behind the word: what it was and became, or what it is."""
    for pattern in (_CHANGED, _CHANGED_JA):
        changed = pattern.match(text, end, end + _BEHIND)
        if changed and (_is_told(changed[1]) or _is_told(changed[2])):
            yield from (_inside(*changed.span(at), text) for at in (1, 2) if _may_be(changed[at]))
    stated = _STATED.match(text, end, end + _BEHIND)
    if stated and (
        _is_told(stated[1]) or (stated[1][0].isupper() and _ends(text, stated.end()) and _may_be(stated[1]))
    ):
        yield _inside(*stated.span(1), text)
    arrow = _ARROW.match(text, end, end + _BEHIND)
    if arrow and _is_made(arrow[1]) and (_NEW.search(before[-8:]) or not _WORD_WITH_NUMBER.fullmatch(arrow[1])):
        yield _inside(*arrow.span(1), text)


def _before(text: str, before: str, at: int, end: int) -> Iterator[tuple[int, int]]:
    """The password before the word: `before` is what stands there, from position `at` of the text."""
    if _OF_IT.match(text, end):
        return
    used = _AS.search(before)
    if used and (_is_told(used[2]) if used["verb"] else _is_made(used[2])):
        yield _inside(at + used.start(2), at + used.end(2), text)
    into = _INTO.search(before)
    if into and _INTO_BEHIND.match(text, end) and _is_told(into[1]):
        yield _inside(at + into.start(1), at + into.end(1), text)


def _ends(text: str, at: int) -> bool:
    """Whether the sentence ends at a place."""
    return _END_OF_SENTENCE.match(text, at) is not None


def _bare(value: str) -> str:
    return value[1:-1] if value[0] in "\"'`“「『" else value


def _is_told(value: str) -> bool:
    """Whether it is a password where quotes do as much as the word itself."""
    return is_password(_bare(value), named_plainly=_bare(value) != value)


def _is_made(value: str) -> bool:
    return is_password(_bare(value), named_plainly=False)


def _may_be(value: str) -> bool:
    return is_password(_bare(value), named_plainly=True) and not _VARIABLE.fullmatch(_bare(value))


def _inside(start: int, end: int, text: str) -> tuple[int, int]:
    """The place without its quotes."""
    return (start + 1, end - 1) if text[start] in "\"'`“「『" else (start, end)
