import pytest

from recall.text.clean import cut_bytes, one_line, visible, whole


@pytest.mark.parametrize(
    "separator", ["\n", "\r\n", "\r", "\v", "\f", "\x1c", "\x85", "\u2028", "\u2029", "\t", " \n "]
)
def test_every_kind_of_line_break_becomes_one_space(separator: str) -> None:
    assert one_line(f"one{separator}two") == "one two"


@pytest.mark.parametrize("space", ["\u00a0", "\u3000", "\u2003", "  "])
def test_every_kind_of_space_becomes_one_space(space: str) -> None:
    assert one_line(f"{space}one{space}{space}two{space}") == "one two"


@pytest.mark.parametrize(
    "hidden",
    [
        *("\x00", "\x1b", "\x7f", "\x9b"),  # control
        *("\u202e", "\u2066", "\u2069", "\u200f", "\u061c"),  # bidirectional
        *("\u200b", "\u200c", "\u200d", "\u2060", "\ufeff", "\u00ad"),  # zero width
        *("\u115f", "\u1160", "\u3164", "\uffa0", "\u2800", "\u034f"),  # blank letters
        *("\ufe0f", "\U000e0100", "\U000e0041", "\U000e007f", "\U000e0fff"),  # selectors, tags
        *("\ud800", "\udfff", "\ufffe", "\U000e0001"),  # halves, noncharacters
    ],
)
def test_characters_that_show_nothing_go(hidden: str) -> None:
    assert one_line(f"pass{hidden}word{hidden}") == "password"
    assert visible(f"a\n{hidden}b") == "a\nb"


def test_text_that_people_write_stays() -> None:
    text = "日本語（ひらがな）と한국어, émigré, שלום, 👍🏽 🇯🇵 ½ — “quoted” <b>&amp;</b>"
    assert one_line(text) == text


def test_an_accent_that_is_its_own_character_stays() -> None:
    assert one_line("cafe\u0301 か\u3099") == "cafe\u0301 か\u3099"


def test_visible_text_keeps_its_lines_and_indentation() -> None:
    assert visible("a\n\tb\u2028c\x0cd") == "a\n\tb\nc\nd"


def test_a_text_that_fits_is_not_cut() -> None:
    assert cut_bytes("日本", 6) == "日本"


def test_a_cut_text_ends_with_an_ellipsis_that_is_counted() -> None:
    assert cut_bytes("abcdefgh", 7) == "abcd…"
    assert cut_bytes("日本語", 8) == "日…"


def test_nothing_is_left_where_the_ellipsis_does_not_fit() -> None:
    assert cut_bytes("日本語", 2) == ""
    assert cut_bytes("日本語", 3) == "…"


def test_no_space_stands_before_the_ellipsis() -> None:
    assert cut_bytes("one two three", 7) == "one…"


@pytest.mark.parametrize(
    "character",
    [
        "e\u0301",
        "か\u3099",
        "ｶ\uff9e",
        "👍🏽",
        "👩\u200d👩\u200d👧",
        "🇯🇵",
        "❤\ufe0f",
        "각",
    ],
)
def test_a_cut_takes_all_of_what_is_read_as_one_character(character: str) -> None:
    for end in range(1, 1 + len(character)):
        assert whole("a" + character + "b", end) == "a"
    assert whole("a" + character + "b", 1 + len(character)) == "a" + character


def test_the_second_of_two_flags_is_cut_whole() -> None:
    assert whole("🇯🇵🇰🇷🇩🇪", 3) == "🇯🇵"
    assert whole("🇯🇵🇰🇷🇩🇪", 4) == "🇯🇵🇰🇷"


def test_a_heap_of_marks_is_cut_anywhere() -> None:
    heap = "a" + "\u0301" * 1000
    assert whole(heap, 500) == heap[:500]
