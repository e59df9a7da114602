"""Whatever a note holds: one line stays one line, and a cut is a whole part of the text within its bytes."""

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from recall.text.clean import ELLIPSIS, cut_bytes, one_line, whole
from recall.text.decode import decode_note

#: Any code point, lone surrogates too, with those that matter here made frequent.
ANY = st.text(
    st.one_of(
        st.characters(), st.characters(categories=["Cc", "Cf", "Cs", "Zs", "Zl", "Zp", "Mn"]), st.sampled_from("ab")
    )
)
CLUSTERS = st.lists(
    st.sampled_from(["a", "e\u0301", "か\u3099", "日", "👍🏽", "👩\u200d👩\u200d👧", "🇯🇵", "ｶ\uff9e", " "]), max_size=30
)


@given(ANY)
def test_one_line_is_one_line_of_characters_that_can_be_seen(text: str) -> None:
    line = one_line(text)
    assert len(line.splitlines()) <= 1
    assert not {unicodedata.category(character) for character in line} & {"Cc", "Cf", "Cs", "Zl", "Zp"}
    assert line == line.strip()
    assert "  " not in line
    line.encode()


@given(ANY)
def test_one_line_is_the_same_the_second_time(text: str) -> None:
    assert one_line(one_line(text)) == one_line(text)


@given(ANY, st.integers(0, 60))
def test_a_cut_text_keeps_its_limit_and_begins_like_the_text(text: str, limit: int) -> None:
    line = one_line(text)
    cut = cut_bytes(line, limit)
    assert len(cut.encode()) <= limit
    assert cut in {line, ""} or (cut.endswith(ELLIPSIS) and line.startswith(cut.removesuffix(ELLIPSIS)))
    assert (cut == line) == (len(line.encode()) <= limit)


@given(CLUSTERS, st.integers(0, 60))
def test_a_cut_never_parts_what_is_read_as_one_character(clusters: list[str], end: int) -> None:
    starts = {len("".join(clusters[:count])) for count in range(len(clusters) + 1)}
    part = whole("".join(clusters), end)
    assert len(part) in starts
    assert len(part) == max(start for start in starts if start <= end)


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r\ufeff")))
def test_valid_utf_8_is_read_as_utf_8(text: str) -> None:
    assert decode_note(text.encode()) == text


@given(st.binary(max_size=200))
def test_any_bytes_are_text_or_refused_in_words(data: bytes) -> None:
    try:
        text = decode_note(data)
    except ValueError as error:
        assert str(error).isprintable() and "UTF-8" in str(error)
    else:
        assert "\r" not in text and "\0" not in text
        text.encode()
