"""A model's encoder on one device: token ids to vectors, with padding before and pooling after the graph."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recall.core.errors import ModelError
from recall.embed.batches import Batch, Limits, plan
from recall.embed.manifest import Device, Manifest, Pooling
from recall.embed.session import Graph, Output, Stop

#: Bounds of a batch by device: padded tokens, texts, share of padding. The CPU's were measured on a 1,024 wide int8
#: encoder: eight texts of 25 tokens take 0.76 of the time that they take alone, of 50 tokens 0.9, of 100 and more 0.95,
#: and from 1,600 tokens a call is slower. The GPU's are untried.
_CPU = (256, 16, 0.25)
_GPU = (16384, 64, 1.0)

#: The smallest cosine between a text's vectors in a batch and alone; below it, texts go alone. An int8 graph has one
#: scale for the activations of a whole call: a plain one was reported at 0.976, one with its loud channels tamed has
#: 0.99999.
_LEAST_COSINE = 0.999


@dataclass(frozen=True, slots=True)
class Heads:
    """All that one run gave for a text.

    `dense`: float32[dimension] of length 1. `tokens`: float32[tokens, width], each row of length 1, the multi-vector
    head where the graph has one, else the token vectors that the dense one was pooled from, else none (0 rows).
    `sparse`: the largest weight of each token id that has one above 0; None where the graph has no such head. Special
    tokens such as <s> and the prefix are left out of both: what all texts share tells nothing.
    """

    dense: NDArray[np.float32]
    tokens: NDArray[np.float32]
    sparse: dict[int, float] | None


class Encoder:
    """A loaded graph with the manifest's pooling. All methods may be called from several threads at once."""

    def __init__(self, graph: Graph, manifest: Manifest, device: Device) -> None:
        self.device = device
        self.limits = limits(device, graph.masked, manifest.max_tokens)
        self._graph = graph
        self._manifest = manifest

    @property
    def batches(self) -> bool:
        """Whether texts share a call."""
        return self.limits.texts > 1

    def check_batches(self, samples: Sequence[Sequence[int]]) -> None:
        """Send each text alone from now on, if the samples' vectors depend on what shares their call.

        Raises what `embed` does.
        """
        if not self.batches:
            return
        alone = np.concatenate([self.embed([sample]) for sample in samples])
        if not (alone * self.embed(samples)).sum(axis=1).min() >= _LEAST_COSINE:  # also where it is not a number
            self.limits = limits(self.device, False, self._manifest.max_tokens)

    def embed(self, texts: Sequence[Sequence[int]], stop: Stop | None = None) -> NDArray[np.float32]:
        """float32[len(texts), dimension], each row of length 1, for texts as token ids.

        Raises Interrupted, ModelError where the graph does not fit its manifest, and what the device raises.
        """
        vectors = np.empty((len(texts), self._manifest.dimension), np.float32)
        for batch in plan([len(text) for text in texts], self.limits):
            members = [texts[row] for row in batch.rows]
            output = self._graph.run(*pad(members, batch), stop=stop)
            vectors[list(batch.rows)] = self._pool(output, members)
        return vectors

    def heads(
        self,
        texts: Sequence[Sequence[int]],
        special: frozenset[int],
        prefix: Sequence[int] = (),
        stop: Stop | None = None,
    ) -> list[Heads]:
        """What each head of the graph gives for each text, without the tokens of `special` and of the `prefix`, which
        is given as ids.

        Raises what `embed` does.
        """
        found: dict[int, Heads] = {}
        for batch in plan([len(text) for text in texts], self.limits):
            members = [texts[row] for row in batch.rows]
            ids, mask = pad(members, batch)
            output = self._graph.run(ids, mask, heads=True, stop=stop)
            dense = self._pool(output, members)
            for place, row in enumerate(batch.rows):
                kept = _own(members[place], special, prefix)
                sparse = None if output.sparse is None else _weights(output.sparse[place], members[place], kept)
                found[row] = Heads(dense[place], self._tokens(output, place, batch.tokens, kept), sparse)
        return [found[row] for row in range(len(texts))]

    def _pool(self, output: Output, texts: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        rank = 2 if self._manifest.pooling == "none" else 3
        shape = output.dense.shape
        if len(shape) != rank or shape[-1] != self._manifest.dimension:
            wanted = "[texts, dimension]" if rank == 2 else "[texts, tokens, dimension]"
            raise ModelError(
                f"The output {self._manifest.outputs.dense} of the model {self._manifest.name} should have the shape "
                f"{wanted} with dimension {self._manifest.dimension}, but has {list(shape)}; correct pooling, "
                "dimension or [outputs] in its manifest."
            )
        vectors = pool(output.dense, [len(text) for text in texts], self._manifest.pooling)
        if self.device != "cpu" and not np.isfinite(vectors).all():
            raise ArithmeticError("the device gave numbers that are not finite")
        return vectors

    def _tokens(self, output: Output, place: int, tokens: int, kept: NDArray[np.bool_]) -> NDArray[np.float32]:
        """See `Heads`. `tokens`: of the batch; `kept`: which of the text's own are no special ones."""
        vectors = output.multi_vector
        if vectors is None and self._manifest.pooling != "none":
            vectors = output.dense
        if vectors is None:
            return np.empty((0, self._manifest.dimension), np.float32)
        # Exports that follow the published bge-m3 to the letter give no vector for the first token, which is <s>.
        ahead = tokens - vectors.shape[1]
        return unit(vectors[place, : len(kept) - ahead][kept[ahead:]])


def limits(device: Device, masked: bool, longest: int) -> Limits:
    """How large a batch may be.

    Without a mask (`masked`) each text goes alone. On the CPU a batch is to end soon, because a question may wait for
    it, and padding costs as much as text; a GPU wants much at once and few shapes.
    """
    if not masked:
        return Limits(tokens=longest, texts=1, longest=longest)
    tokens, texts, waste = _CPU if device == "cpu" else _GPU
    return Limits(tokens=tokens, texts=texts, longest=longest, waste=waste, few_shapes=device != "cpu")


def pad(texts: Sequence[Sequence[int]], batch: Batch) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Ids and mask, int64 of the batch's shape. Rows beyond the texts hold one token: attention to none is NaN."""
    ids = np.zeros((batch.texts, batch.tokens), np.int64)
    mask = np.zeros_like(ids)
    mask[:, 0] = 1
    for row, text in enumerate(texts):
        ids[row, : len(text)] = text
        mask[row, : len(text)] = 1
    return ids, mask


def pool(dense: NDArray[np.float32], lengths: Sequence[int], pooling: Pooling) -> NDArray[np.float32]:
    """float32[texts, dimension] of length 1 from a graph's dense output (see `Outputs`); `lengths` in tokens."""
    if pooling == "none":
        return unit(dense[: len(lengths)])
    if pooling == "cls":
        return unit(dense[: len(lengths), 0])
    return unit(np.stack([dense[row, :length].mean(axis=0) for row, length in enumerate(lengths)]))


def unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """The rows brought to length 1; a row of zeros stays."""
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    scaled: NDArray[np.float32] = vectors / np.maximum(length, np.finfo(np.float32).tiny)
    return scaled


def _own(text: Sequence[int], special: frozenset[int], prefix: Sequence[int]) -> NDArray[np.bool_]:
    """Which tokens are the text's own. The last of the prefix may have become one with the text's first."""
    ahead = 0
    while ahead < min(len(prefix), len(text)) and text[ahead] == prefix[ahead]:
        ahead += 1
    return np.array([place >= ahead and token not in special for place, token in enumerate(text)], bool)


def _weights(row: NDArray[np.float32], text: Sequence[int], kept: NDArray[np.bool_]) -> dict[int, float]:
    """The largest weight above 0 of each id, from the weights [tokens] or [tokens, 1] of one text."""
    found: dict[int, float] = {}
    for token, weight, keep in zip(text, row.reshape(len(row))[: len(text)].tolist(), kept, strict=True):
        if keep and weight > found.get(token, 0.0):
            found[token] = weight
    return found
