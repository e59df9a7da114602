"""Packs: what a model made of one record's texts, as it travels between machines.

For each text, one after the other: its SHA-256 (32 bytes), the lengths of what follows (two unsigned 32-bit numbers,
little-endian), the vector and the sketch as the index stores them.
"""

import struct
from collections.abc import Mapping

from recall.store.entries import STORED_FLOAT

_HEAD = struct.Struct("<32sII")
#: Most texts of one record: a body of 8,192 characters makes some twenty chunks, in scripts without spaces forty.
MAX_TEXTS = 64
#: Longest vector (8,192 numbers; bge-m3 has 1,024) and sketch in bytes, with room beyond what `recall.late` makes.
MAX_VECTOR, MAX_SKETCH = 8192 * STORED_FLOAT.itemsize, 32_768
#: Most bytes of a pack that is taken from the server.
MAX_PACK = 2 * 1024 * 1024


def pack(texts: Mapping[bytes, tuple[bytes, bytes]]) -> bytes:
    """Vector and sketch of each text by its digest, in order of the digests; equal content makes equal bytes."""
    parts: list[bytes] = []
    for digest, (vector, sketch) in sorted(texts.items()):
        parts += (_HEAD.pack(digest, len(vector), len(sketch)), vector, sketch)
    return b"".join(parts)


def unpack(data: bytes) -> dict[bytes, tuple[bytes, bytes]]:
    """What `pack` was given; nothing at all where the bytes are not of this form or a part is too long."""
    found: dict[bytes, tuple[bytes, bytes]] = {}
    place = 0
    while place < len(data):
        if len(found) == MAX_TEXTS or len(data) - place < _HEAD.size:
            return {}
        digest, vector, sketch = _HEAD.unpack_from(data, place)
        place += _HEAD.size
        if vector > MAX_VECTOR or sketch > MAX_SKETCH or len(data) - place < vector + sketch:
            return {}
        found[digest] = data[place : place + vector], data[place + vector : place + vector + sketch]
        place += vector + sketch
    return found
