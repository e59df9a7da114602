"""Which texts share a call of the encoder, and how far they are padded. Pure: lengths in, batches out."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

#: Lengths in tokens that texts are padded to on a GPU, which prepares itself anew for each shape; doubled from there.
SIZES = (16, 32, 64, 128, 256, 384, 512)


@dataclass(frozen=True, slots=True)
class Limits:
    """How large a batch may be.

    `tokens`: bound of texts times padded length, which one text alone may exceed; `texts`: bound of their number;
    `waste`: the largest share of padding. `longest`: tokens that the model takes at most. `few_shapes`: pad to SIZES
    and to numbers of texts that are powers of two.
    """

    tokens: int
    texts: int
    longest: int
    waste: float = 1.0
    few_shapes: bool = False


class Batch(NamedTuple):
    """Texts of one call by their place in the list, the longest first, and the padded shape [texts, tokens]."""

    rows: tuple[int, ...]
    texts: int
    tokens: int


def plan(lengths: Sequence[int], limits: Limits) -> list[Batch]:
    """Batches in which every text appears once. `lengths` in tokens, each 1 or more.

    The longest texts come first, so that a device that has too little memory for them fails at once; where each goes
    alone, the order is kept.
    """
    order = list(range(len(lengths)))
    if limits.texts > 1:
        order.sort(key=lambda row: -lengths[row])
    batches: list[Batch] = []
    rows: list[int] = []
    for row in order:
        if rows and not _fits([lengths[other] for other in (*rows, row)], limits):
            batches.append(_batch(rows, lengths, limits))
            rows = []
        rows.append(row)
    if rows:
        batches.append(_batch(rows, lengths, limits))
    return batches


def padded(length: int, limits: Limits) -> int:
    """The tokens that a batch has whose longest text has `length`."""
    if not limits.few_shapes:
        return length
    size = next((size for size in SIZES if size >= length), SIZES[-1])
    while size < length:
        size *= 2
    return max(length, min(size, limits.longest))


def _fits(lengths: list[int], limits: Limits) -> bool:
    """Whether texts of these lengths, the longest first, may share a call."""
    tokens, texts = padded(lengths[0], limits), _texts(len(lengths), limits)
    if len(lengths) > limits.texts or texts * tokens > limits.tokens:
        return False
    return sum(lengths) >= (1 - limits.waste) * len(lengths) * lengths[0]


def _texts(count: int, limits: Limits) -> int:
    return 1 << (count - 1).bit_length() if limits.few_shapes else count


def _batch(rows: list[int], lengths: Sequence[int], limits: Limits) -> Batch:
    return Batch(tuple(rows), _texts(len(rows), limits), padded(lengths[rows[0]], limits))
