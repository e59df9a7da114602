"""Proof of an exported graph: how far its outputs are from the published model's, run by torch in float32.

Every text of a sample goes through the graph alone and again in a padded batch; both must be what torch makes of the
text alone. Vectors are compared by their cosine (of a vector for each token the lowest), weights of tokens by their
correlation.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from export.weights import Checkpoint, SourceError

Ids = list[int]
Values = Mapping[str, NDArray[np.float32]]
#: From the ids of one text to its outputs: [width], [tokens] or [tokens, width].
Reference = Callable[[Ids], Values]

#: Outputs that are one number for each token.
_WEIGHTS = ("sparse",)

_TEXTS_PER_BATCH = 4


@dataclass(frozen=True)
class Worst:
    """The text on which an output is furthest from the reference. `figure`: a cosine or a correlation."""

    output: str
    figure: float
    tokens: int
    text: str
    padded: bool
    averaged: bool = False

    @property
    def weights(self) -> bool:
        """Whether `figure` is a correlation of weights of tokens."""
        return self.output in _WEIGHTS

    def __str__(self) -> str:
        kind = "correlation" if self.weights else "mean cosine" if self.averaged else "cosine"
        excerpt = " ".join(self.text.split())
        excerpt = excerpt if len(excerpt) <= 40 else f"{excerpt[:39]}…"
        place = "in a batch" if self.padded else "alone"
        return f"{self.output}: lowest {kind} {self.figure:.6f} ({excerpt!r}, {self.tokens} tokens, {place})"


@dataclass(frozen=True)
class Expected:
    """A text, its ids, and what the reference makes of it.

    `averaged`: whether the vectors of a text's tokens are judged by their mean cosine and not by the lowest.
    """

    text: str
    ids: Ids
    values: Values
    averaged: bool = False


def expect(
    texts: Sequence[str], encode: Callable[[str], Ids], reference: Reference, *, averaged: bool = False
) -> list[Expected]:
    """Run the reference over `texts`."""
    return [Expected(text, ids, reference(ids), averaged) for text, ids in ((text, encode(text)) for text in texts)]


def encoder(tokenizer: Path, max_tokens: int) -> Callable[[str], Ids]:
    """From text to ids with the special tokens, at most `max_tokens`, by a tokenizer.json."""
    from tokenizers import Tokenizer

    library = Tokenizer.from_file(str(tokenizer))
    library.no_padding()
    library.enable_truncation(max_tokens)

    def encode(text: str) -> Ids:
        ids: Ids = library.encode(text).ids
        return ids

    return encode


def measure(graph: Path, expected: Sequence[Expected]) -> list[Worst]:
    """The worst text for each output of `graph`."""
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # asked at import only, see recall/embed/__init__.py
    import onnxruntime

    runtime: Any = onnxruntime  # its annotations export none of its names
    session = runtime.InferenceSession(str(graph), providers=["CPUExecutionProvider"])
    outputs = list(expected[0].values)
    worst: dict[str, Worst] = {}
    for batch in _batches(expected):
        longest = max(len(case.ids) for case in batch)
        ids, mask = (np.zeros((len(batch), longest), np.int64) for _ in range(2))
        for row, case in enumerate(batch):
            ids[row, : len(case.ids)], mask[row, : len(case.ids)] = case.ids, 1
        found = dict(zip(outputs, session.run(outputs, {"input_ids": ids, "attention_mask": mask}), strict=True))
        for row, case in enumerate(batch):
            for name, values in case.values.items():
                figure = likeness(name, found[name][row], values, averaged=case.averaged)
                if name not in worst or figure < worst[name].figure:
                    worst[name] = Worst(
                        name, figure, len(case.ids), case.text, len(batch) > 1, case.averaged and values.ndim > 1
                    )
    return list(worst.values())


def likeness(
    output: str, found: NDArray[np.float32], expected: NDArray[np.float32], *, averaged: bool = False
) -> float:
    """Lowest cosine, or correlation, of a text's output; what `found` has for padding is held to be zeros.

    `averaged`: of many cosines the mean.
    """
    if not np.isfinite(found).all():
        return -1.0
    if output in _WEIGHTS:
        found, beyond = found[: len(expected)], found[len(expected) :]
        if beyond.any():
            return -1.0
        if expected.std() == 0 or found.std() == 0:  # no token counts: nothing to correlate
            return 1.0 if np.allclose(found, expected, atol=1e-3) else 0.0
        return float(np.corrcoef(found, expected)[0, 1])
    if expected.ndim == 1:
        return float(_cosines(found[None], expected[None])[0])
    found = found[: len(expected)]
    present = np.abs(expected).max(1) > 0
    if found[~present].any():
        return -1.0
    cosines = _cosines(found[present], expected[present])
    return float(cosines.mean() if averaged else cosines.min())


def _cosines(left: NDArray[np.float32], right: NDArray[np.float32]) -> NDArray[np.float64]:
    first, second = left.astype(np.float64), right.astype(np.float64)
    lengths = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
    found: NDArray[np.float64] = (first * second).sum(1) / np.maximum(lengths, 1e-30)
    return found


def _batches(expected: Sequence[Expected]) -> Iterator[Sequence[Expected]]:
    """Every text alone, then all again in batches whose texts differ in length."""
    for case in expected:
        yield [case]
    by_length = sorted(expected, key=lambda case: len(case.ids))
    step = -(-len(by_length) // _TEXTS_PER_BATCH)
    for start in range(step):
        yield by_length[start::step]


def torch_reference(checkpoint: Checkpoint) -> Reference:
    """The published model run by transformers in float32, with bge-m3's heads where the checkpoint has them.

    Raises SourceError where torch or transformers are not installed.
    """
    try:
        import torch
        import transformers
    except ImportError:
        raise SourceError("The proof needs torch and transformers: install recall with the extra `export`.") from None
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    folder = checkpoint.tokenizer.parent
    model = transformers.AutoModel.from_pretrained(
        folder, local_files_only=True, dtype=torch.float32, add_pooling_layer=False
    ).eval()
    heads = [
        None if head is None else {name: torch.from_numpy(head[name]) for name in ("weight", "bias")}
        for head in (checkpoint.sparse, checkpoint.multi_vector)
    ]

    def run(ids: Ids) -> Values:
        with torch.inference_mode():
            tokens = torch.tensor([ids])
            state = model(input_ids=tokens, attention_mask=torch.ones_like(tokens)).last_hidden_state[0]
            sparse, multi_vector = heads
            if sparse is None or multi_vector is None:
                return {"last_hidden_state": state.numpy()}
            vectors = torch.nn.functional.normalize(torch.nn.functional.linear(state, **multi_vector), dim=-1)
            vectors[0] = 0  # the reference drops the first token
            weights = torch.relu(torch.nn.functional.linear(state, **sparse))[:, 0]
            dense = torch.nn.functional.normalize(state[0], dim=-1)
            return {"dense": dense.numpy(), "sparse": weights.numpy(), "multi_vector": vectors.numpy()}

    return run
