"""Words of texts in any language, for methods that compare spelling: what BM25 counts, and what a person would grep."""

import re
import unicodedata

#: Scripts that are written without spaces. Single characters say little, so that overlapping pairs stand for words.
_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\u3005\uac00-\ud7a3"
_PIECE = re.compile(f"[{_CJK}]+|[^\\W_{_CJK}]+")
_IS_CJK = re.compile(f"[{_CJK}]")
#: What a person would search for: runs of kanji, katakana and hangul. Hiragana is mostly grammar.
_MEANT = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\u3005]{2,}|[\u30a1-\u30ff]{2,}|[\uac00-\ud7a3]{2,}")
#: Words of English that are in every text. Other languages' cost their searches little: they count once each.
_FUNCTION_WORDS = frozenset(
    """about after again all also and any are back been before being but can cant could did didn didnt does doesn doesnt
    doing don done dont each ever every for from gets getting going got had has have having here how into its just keep
    know let like made make may might more most much must need not now off once one only other our out over own put
    really same say should some still such take than that thats the their them then there these they thing things this
    those too two under until use used using very want was way were what whats when where which while who whose why will
    with without would yes yet you your ours without something anything everything nothing someone because instead
    already always never whenever wherever whatever""".split()
)
_SHORTEST = 3


def normal(text: str) -> str:
    """The form in which texts are compared: compatibility forms resolved, small letters."""
    return unicodedata.normalize("NFKC", text).casefold()


def tokens(text: str) -> list[str]:
    """Every word in order; overlapping pairs of characters where a script has no spaces."""
    found: list[str] = []
    for piece in _PIECE.findall(normal(text)):
        if _IS_CJK.match(piece) and len(piece) > 1:
            found += [piece[place : place + 2] for place in range(len(piece) - 1)]
        else:
            found.append(piece)
    return found


def keywords(text: str) -> list[str]:
    """The words that say what a text is about, each once, in order: no function words, none of one or two letters."""
    comparable = normal(text)
    words = [piece for piece in _PIECE.findall(comparable) if not _IS_CJK.match(piece)]
    kept = [word for word in words if len(word) >= _SHORTEST and word not in _FUNCTION_WORDS]
    return list(dict.fromkeys([*kept, *_MEANT.findall(comparable)]))
