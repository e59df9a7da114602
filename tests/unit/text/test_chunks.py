from recall.text.chunks import CHUNK_CHARACTERS, MAX_CHUNKS, OVERLAP_CHARACTERS, cut


def numbered(length: int) -> str:
    """Text in which every place is different."""
    return "".join(f"{number:05d}" for number in range(length // 5 + 1))[:length]


def test_a_short_note_is_one_chunk_of_name_description_and_body() -> None:
    assert cut("name", "what it says", "the body") == ["name\nwhat it says\nthe body"]


def test_empty_parts_leave_no_empty_line() -> None:
    assert cut("name", "", "the body") == ["name\nthe body"]
    assert cut("name", "what it says", "") == ["name\nwhat it says"]
    assert cut("", "", "the body") == ["the body"]
    assert cut("", "", "") == []


def test_a_note_of_exactly_700_characters_is_one_chunk() -> None:
    body = numbered(CHUNK_CHARACTERS - len("name\n"))
    assert cut("name", "", body) == ["name\n" + body]


def test_one_character_more_makes_a_second_chunk_that_overlaps_the_first_by_100() -> None:
    body = numbered(CHUNK_CHARACTERS - len("name\n") + 1)
    first, second = cut("name", "", body)
    assert first == "name\n" + body[:-1]
    assert second == "name\n" + body[-1 - OVERLAP_CHARACTERS :]


def test_pieces_of_700_overlap_by_100_and_carry_the_name() -> None:
    name, description, body = "name", "d" * 94, numbered(2000)
    chunks = cut(name, description, body)
    assert chunks[0] == f"{name}\n{description}\n{body[:600]}"
    assert chunks[1] == f"{name}\n{body[500:1200]}"
    assert chunks[2] == f"{name}\n{body[1100:1800]}"
    assert chunks[3] == f"{name}\n{body[1700:2000]}"
    assert len(chunks) == 4


def test_the_last_piece_may_end_with_the_body_and_nothing_follows_that_would_only_repeat() -> None:
    body = numbered(700 - len("name\n") + 600)
    _, second = cut("name", "", body)
    assert second.endswith(body[-5:])
    assert len(second) == len("name\n") + 700


def test_a_body_that_the_first_chunk_did_not_reach_is_cut_from_its_start() -> None:
    body = numbered(900)
    chunks = cut("name", "d" * 800, body)
    assert chunks[0] == "name\n" + "d" * 695
    assert chunks[1:] == ["name\n" + body[:700], "name\n" + body[600:]]


def test_a_body_that_the_first_chunk_barely_reached_is_cut_from_its_start() -> None:
    body = numbered(300)
    chunks = cut("name", "d" * 644, body)
    assert chunks[0].endswith("d\n" + body[:50])
    assert chunks[1:] == ["name\n" + body]


def test_a_note_has_at_most_6_chunks() -> None:
    chunks = cut("name", "", numbered(100_000))
    assert len(chunks) == MAX_CHUNKS
    assert chunks[-1] == "name\n" + numbered(100_000)[695 + 4 * 600 - 100 :][:700]


def test_characters_are_counted_not_bytes() -> None:
    assert len(cut("名前", "", "あ" * 697)) == 1
    assert len(cut("名前", "", "あ" * 698)) == 2
