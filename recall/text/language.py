"""Language: which one a text is written in, told by its script alone."""

import re

#: So much of a text tells. A record's beginning is in the language of the record.
_SAMPLE_CHARACTERS = 4000
#: One hiragana weighs as much as so many words in Latin letters: it is grammar, while words and names in Latin letters
#: stand in every Japanese text about software ("useEffect の cleanup"), and single Japanese words in English ones.
_HIRAGANA_WEIGHT = 4

_HIRAGANA = re.compile("[ぁ-ゖ]")
_KATAKANA = re.compile("[ァ-ヺｦ-ﾝ]")
_HAN = re.compile("[㐀-䶿一-鿿々]")
_HANGUL = re.compile("[가-힣]")
_CYRILLIC_WORD = re.compile("[Ѐ-ӿ]+")
_LATIN_WORD = re.compile("[A-Za-zÀ-ɏ]+")


def language_of(text: str) -> str | None:
    """`ja`, `zh`, `ko`, `ru`, or `en` for any language in Latin letters; None for a text without letters of these.

    Languages that share a script are not told apart: `en` says no more than "neither of the others".
    """
    sample = text[:_SAMPLE_CHARACTERS]

    def count(pattern: re.Pattern[str]) -> int:
        return len(pattern.findall(sample))

    kana = _HIRAGANA_WEIGHT * count(_HIRAGANA) + count(_KATAKANA)
    han = count(_HAN)
    weights = {
        "en": count(_LATIN_WORD),
        "ja": kana + han if kana else 0,
        "zh": han,
        "ko": count(_HANGUL),
        "ru": count(_CYRILLIC_WORD),
    }
    language = max(weights, key=weights.__getitem__)
    return language if weights[language] else None
