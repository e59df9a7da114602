"""Chunks cover a text without a gap, overlap as set, and never only repeat."""

from hypothesis import given
from hypothesis import strategies as st

from recall.text.chunks import CHUNK_CHARACTERS, MAX_CHUNKS, OVERLAP_CHARACTERS, cut

NAMES = st.text("nN日", min_size=1, max_size=20)
DESCRIPTIONS = st.one_of(st.just(""), st.integers(1, 1500).map("d".__mul__))
#: Bodies in which every place is different.
BODIES = st.integers(0, 6000).map(lambda length: "".join(f"{number:05d}" for number in range(length // 5 + 1))[:length])


@given(NAMES, DESCRIPTIONS, BODIES)
def test_chunks_cover_the_body_and_overlap_by_100(name: str, description: str, body: str) -> None:
    first, *rest = cut(name, description, body)
    assert len(first) <= CHUNK_CHARACTERS
    assert 1 + len(rest) <= MAX_CHUNKS
    before = len("\n".join(part for part in (name, description) if part)) + 1
    reached = min(len(body), max(0, len(first) - before))
    for chunk in rest:
        piece = chunk.removeprefix(name + "\n")
        start = body.index(piece)
        assert len(piece) == CHUNK_CHARACTERS or start + len(piece) == len(body)
        assert start == max(0, reached - OVERLAP_CHARACTERS)
        assert start + len(piece) > reached
        reached = start + len(piece)
    assert reached == len(body) or len(rest) == MAX_CHUNKS - 1
