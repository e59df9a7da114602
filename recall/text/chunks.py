"""Chunks: the pieces of a record that are embedded, each short enough for the model to read whole."""

#: Characters in a piece, overlap of neighbours, and pieces a note, as issue 2 ("Index") sets them. Characters are
#: Python's, so an accent written as its own code point counts as one.
CHUNK_CHARACTERS = 700
OVERLAP_CHARACTERS = 100
MAX_CHUNKS = 6


def cut(name: str, description: str, body: str) -> list[str]:
    """The chunks of a record, the first one first; none for a record without any text.

    The first chunk is the first 700 characters of name, description and body, joined by newlines, empty parts left
    out. What it did not reach of the body follows in pieces of 700 characters under the name (name, newline, piece;
    the 700 are the piece's own). Each piece starts 100 characters before the end of the one before it. The first of
    them does so too, but never before the start of the body: where the first chunk reached no further than that,
    nothing is repeated. Every chunk holds characters that no earlier one holds. At most 6 chunks; the rest of a
    longer body is not searched.
    """
    joined = "\n".join(part for part in (name, description, body) if part)
    if not joined:
        return []
    chunks = [joined[:CHUNK_CHARACTERS]]
    reached = max(0, CHUNK_CHARACTERS - (len(joined) - len(body)))
    while reached < len(body) and len(chunks) < MAX_CHUNKS:
        start = max(0, reached - OVERLAP_CHARACTERS)
        piece = body[start : start + CHUNK_CHARACTERS]
        chunks.append(f"{name}\n{piece}" if name else piece)
        reached = start + len(piece)
    return chunks
