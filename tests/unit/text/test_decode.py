import pytest

from recall.text.decode import decode_note

JAPANESE = "# 方針\n\nテストは先に書く。ログに本文を残さない。\n"


@pytest.mark.parametrize(
    "encoding",
    [
        "utf-8",
        "utf-8-sig",
        "utf-16",
        "utf-16-le",
        "utf-16-be",
        "utf-32",
        "cp932",
        "euc_jp",
    ],
)
def test_a_japanese_note_reads_the_same_in_every_encoding(encoding: str) -> None:
    assert decode_note(JAPANESE.encode(encoding)) == JAPANESE


@pytest.mark.parametrize("mark", [b"\xff\xfe", b"\xfe\xff"])
def test_utf_16_is_told_by_its_mark(mark: bytes) -> None:
    encoding = "utf-16-le" if mark == b"\xff\xfe" else "utf-16-be"
    assert decode_note(mark + "naïve 日本 😀".encode(encoding)) == "naïve 日本 😀"


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_english_utf_16_without_a_mark_is_told_by_its_zero_bytes(encoding: str) -> None:
    assert decode_note("Use tabs.\r\nNever spaces.".encode(encoding)) == "Use tabs.\nNever spaces."


def test_line_ends_of_all_systems_become_newlines() -> None:
    assert decode_note(b"a\r\nb\rc\nd\r\n\r\n") == "a\nb\nc\nd\n\n"


def test_an_empty_file_is_an_empty_text() -> None:
    assert decode_note(b"") == ""


def test_valid_utf_8_is_never_taken_for_japanese_encodings() -> None:
    text = "ｶﾀｶﾅ ¿Qué? ÀÉÎ 漢字かな"
    assert decode_note(text.encode()) == text


@pytest.mark.parametrize(
    "data",
    [
        b"plain text with a \0 in it",
        b"even plain text with \0 ",
        b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0>\0",
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01",
        b"PK\x03\x04\x14\0\0\0\x08\0",
        b"\xff\xfea\0\0\0",
    ],
)
def test_a_binary_file_is_refused_in_words(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"^is not text .*UTF-8"):
        decode_note(data)


@pytest.mark.parametrize("data", ["élan vital, déjà vu".encode("cp1252"), b"cut in half \xe6\x97", b"\x80\x81\xfe"])
def test_other_eight_bit_text_is_refused_in_words(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"^is not UTF-8 text .*save the note as UTF-8"):
        decode_note(data)


@pytest.mark.parametrize("data", [b"\xff\xfea", b"\xfe\xff\xd8\x00", b"\xef\xbb\xbf\xff"])
def test_a_mark_with_something_else_behind_it_is_refused_in_words(data: bytes) -> None:
    with pytest.raises(ValueError, match="begins like UTF"):
        decode_note(data)
