"""Sparse weights: what a model with such a head thinks of each of a text's tokens, kept beside its sketch.

Two texts match by the sum, over the tokens that both have, of the products of their weights. Models without the head
keep two bytes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

#: The heaviest tokens of a text that are kept, 6 bytes each: a chunk of 700 characters has about as many.
MOST = 128
_COUNT = 2  # bytes at the end that say how many there are
_EACH = 6
#: No weight is stored heavier: half a float holds it with ease; trained weights are below 1.
HEAVIEST = 1000.0
#: The most bytes that they add to a sketch.
LARGEST = MOST * _EACH + _COUNT


@dataclass(frozen=True, slots=True, eq=False)
class Sparse:
    """The weights of texts side by side: `tokens` uint32 [any], `weights` float32 [any], `owners` int64 [any] the text
    of each, of `texts` texts."""

    tokens: NDArray[np.uint32]
    weights: NDArray[np.float32]
    owners: NDArray[np.int64]
    texts: int

    def match(self, asked: Mapping[int, float]) -> NDArray[np.float32]:
        """How well each text matches a question's weights by token id: float32 [texts], 0 without a common token."""
        if not asked or not len(self.tokens):
            return np.zeros(self.texts, np.float32)
        ids = np.array(sorted(asked), np.uint32)
        values = np.array([asked[int(token)] for token in ids], np.float32)
        places = np.minimum(np.searchsorted(ids, self.tokens), len(ids) - 1)
        products = np.where(ids[places] == self.tokens, values[places] * self.weights, 0)
        return np.bincount(self.owners, products, minlength=self.texts).astype(np.float32)


def attach(sketch: bytes, weights: Mapping[int, float] | None) -> bytes:
    """A sketch with its text's weights behind it; one that is empty stays so."""
    if not sketch:
        return sketch
    known = {token: min(weight, HEAVIEST) for token, weight in (weights or {}).items() if weight == weight}  # noqa: PLR0124
    heaviest = sorted(known.items(), key=lambda item: (-item[1], item[0]))[:MOST]
    tokens = np.array([token for token, _ in heaviest], "<u4").tobytes()
    values = np.array([weight for _, weight in heaviest], "<f2").tobytes()
    return sketch + tokens + values + len(heaviest).to_bytes(_COUNT, "little")


def detach(stored: Sequence[bytes]) -> tuple[list[memoryview], Sparse]:
    """The sketches, none of them empty, and the weights of what `attach` made. Raises ValueError for anything else.

    They are views: nine hundred sketches of ten kilobytes would take milliseconds to copy.
    """
    counts = [int.from_bytes(one[-_COUNT:], "little") for one in stored]
    ends = [len(one) - _COUNT - count * _EACH for one, count in zip(stored, counts, strict=True)]
    if any(end < 1 for end in ends):
        raise ValueError("a sketch without its sparse weights")
    halves = [end + 4 * count for end, count in zip(ends, counts, strict=True)]
    views = [memoryview(one) for one in stored]
    tokens = b"".join(view[end:half] for view, end, half in zip(views, ends, halves, strict=True))
    values = b"".join(view[half:-_COUNT] for view, half in zip(views, halves, strict=True))
    return [view[:end] for view, end in zip(views, ends, strict=True)], Sparse(
        np.frombuffer(tokens, "<u4").astype(np.uint32),
        np.frombuffer(values, "<f2").astype(np.float32),
        np.repeat(np.arange(len(stored)), counts),
        len(stored),
    )
