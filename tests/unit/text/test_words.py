"""Terms of a text: words, parts of identifiers, pairs of characters where nothing stands between words."""

import pytest

from recall.text.words import MAX_CHARACTERS, MAX_TERM_CHARACTERS, terms


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The Cache is off.", ["the", "cache", "is", "off"]),
        ("maxTokens", ["maxtokens", "max", "tokens"]),
        ("max_tokens", ["maxtokens", "max", "tokens"]),
        ("max-tokens", ["maxtokens", "max", "tokens"]),
        ("MAX_TOKENS", ["maxtokens", "max", "tokens"]),
        ("HTTPServer", ["httpserver", "http", "server"]),
        ("os.path_join", ["ospathjoin", "os", "path", "join"]),
        ("__init__.py", ["initpy", "init", "py"]),
        ("src/api/userStore.ts", ["src", "api", "userstorets", "userstore", "user", "store", "ts"]),
        ("v1.12 is not v11.2", ["v1.12", "v1", "12", "is", "not", "v11.2", "v11", "2"]),
        ("2026-08-14", ["2026.08.14", "2026", "08", "14"]),
        ("don't, don’t", ["dont"]),
        ("--no-verify ...", ["noverify", "no", "verify"]),
        ("ＡＢＣ ①", ["abc", "1"]),
        ("Straße STRASSE", ["strasse"]),
        ("cafe\u0301 café", ["café"]),
        ("pass\u200bword pass\u00adword", ["password"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
    ],
)
def test_words_and_identifiers(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("索引を作る", ["索引", "引を", "を作", "作る"]),
        ("猫、犬", ["猫", "犬"]),
        ("ﾃﾞｰﾀ データ", ["デー", "ータ"]),
        ("useEffectの後", ["useeffect", "use", "effect", "の後"]),
        ("データ・ベース", ["デー", "ータ", "ベー", "ース"]),
        ("数据库", ["数据", "据库"]),
        ("색인을 만든다", ["색인", "인을", "만든", "든다"]),
        ("ฐาน", ["ฐา", "าน"]),
        ("𠮷野家", ["𠮷野", "野家"]),
    ],
)
def test_scripts_without_spaces_give_pairs(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


def test_a_text_without_words_has_no_terms() -> None:
    for text in ("", " \n", "...", "-_-", "🎉🎉", "\ud800\0", "'"):
        assert terms(text) == []


def test_long_words_are_cut_and_long_texts_read_in_part() -> None:
    assert terms("a" * 500) == ["a" * MAX_TERM_CHARACTERS]
    assert terms("x " * MAX_CHARACTERS + "behind") == ["x"]
