"""Random weights in the layout of the hub, so that the whole export can be tried without the real ones.

They behave like trained ones where it matters to an export: activations keep their size from layer to layer, and a few
channels before the feed-forward matrices, the same in all layers, are far louder than the others, so that calibration
has something to find.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from export.weights import CONFIG, ENCODER, MULTI_VECTOR, SPARSE, TOKENIZER

#: How much louder the loud channels are: of a layer's state before its feed-forward block, and of that block's middle.
LOUD_STATE = {5: 12.0, 11: 6.0}
LOUD_MIDDLE = {7: 8.0}

_DEVIATION = 0.02  # of tables, norms and biases: what XLM-RoBERTa's own are initialised with
# How much larger the outputs of a matrix are than its inputs. Attention must choose and weigh, else the first token of
# every text ends up alike; larger gains of the others make a chaos in which rounding errors grow from layer to layer.
_CHOICE_GAIN = 2.0  # queries and keys
_MIX_GAIN = 0.7  # values and what is made of them
_GAIN = 0.3
_SPECIAL = 4  # <s>, <pad>, </s>, <unk> stand before all pieces


_ATTENTION = ("self.query", "self.key", "self.value", "output.dense")


@dataclass(frozen=True)
class Size:
    """Sizes of an encoder; `vocabulary` counts the special tokens."""

    layers: int
    hidden: int
    heads: int
    feed_forward: int
    vocabulary: int
    positions: int


SIZES = {
    "small": Size(layers=3, hidden=128, heads=4, feed_forward=256, vocabulary=8_000, positions=514),
    "full": Size(layers=24, hidden=1024, heads=16, feed_forward=4096, vocabulary=250_002, positions=8194),
}


def write_stand_in(folder: Path, size: Size, tokenizer: Path, seed: int) -> None:
    """Make `folder` look like a download of bge-m3 of that size.

    `tokenizer`: XLM-RoBERTa's tokenizer.json, whose vocabulary is cut to the most frequent pieces where it is larger.
    """
    from safetensors.numpy import save_file

    folder.mkdir(parents=True)
    (folder / CONFIG).write_text(json.dumps(_config(size), indent=2), "utf-8")
    (folder / TOKENIZER).write_text(cut_tokenizer(tokenizer, size.vocabulary), "utf-8")
    random = np.random.default_rng(seed)
    save_file(dict(_encoder(size, random)), folder / ENCODER[0])
    sparse = dict(_linear("", 1, size.hidden, random, gain=1.0))
    sparse["bias"] += 1  # most tokens count
    save_file(sparse, folder / SPARSE[0])
    save_file(dict(_linear("", size.hidden, size.hidden, random, gain=1.0)), folder / MULTI_VECTOR[0])


def _config(size: Size) -> dict[str, Any]:
    return {
        "architectures": ["XLMRobertaModel"],
        "model_type": "xlm-roberta",
        "hidden_act": "gelu",
        "hidden_size": size.hidden,
        "intermediate_size": size.feed_forward,
        "layer_norm_eps": 1e-05,
        "max_position_embeddings": size.positions,
        "num_attention_heads": size.heads,
        "num_hidden_layers": size.layers,
        "bos_token_id": 0,
        "pad_token_id": 1,
        "eos_token_id": 2,
        "type_vocab_size": 1,
        "vocab_size": size.vocabulary,
    }


def cut_tokenizer(tokenizer: Path, vocabulary: int) -> str:
    """tokenizer.json with the first pieces only (they are sorted by frequency) and <mask> as the last of them."""
    content = json.loads(tokenizer.read_text("utf-8"))
    pieces = content["model"]["vocab"]
    if len(pieces) > vocabulary:
        content["model"]["vocab"] = [*pieces[: vocabulary - 1], pieces[-1]]
        for token in content["added_tokens"]:
            if token["id"] >= _SPECIAL:
                token["id"] = vocabulary - 1
    return json.dumps(content, ensure_ascii=False)


Named = Iterator[tuple[str, NDArray[np.float32]]]


def _encoder(size: Size, random: np.random.Generator) -> Named:
    for name, rows in (("word", size.vocabulary), ("position", size.positions), ("token_type", 1)):
        yield f"embeddings.{name}_embeddings.weight", _normal(random, rows, size.hidden)
    yield from _norm("embeddings.LayerNorm.", size.hidden, random, 0)
    for layer in range(size.layers):
        name = f"encoder.layer.{layer}"
        gains = dict(zip(_ATTENTION, (_CHOICE_GAIN, _CHOICE_GAIN, _MIX_GAIN, _MIX_GAIN), strict=True))
        for part, gain in gains.items():
            yield from _linear(f"{name}.attention.{part}.", size.hidden, size.hidden, random, gain)
        yield from _norm(f"{name}.attention.output.LayerNorm.", size.hidden, random, 1)
        up = dict(_linear(f"{name}.intermediate.dense.", size.feed_forward, size.hidden, random))
        for channel, factor in LOUD_MIDDLE.items():
            up[f"{name}.intermediate.dense.weight"][channel] *= factor
        yield from up.items()
        down = dict(_linear(f"{name}.output.dense.", size.hidden, size.feed_forward, random))
        # Gelu's outputs have a mean, which would be the same vector for every token and soon all that there is.
        down[f"{name}.output.dense.bias"] -= down[f"{name}.output.dense.weight"] @ _mean_of_gelu(size)
        yield from down.items()
        # Turned down again, else the factors of all layers would multiply and one channel be all there is.
        yield from _norm(f"{name}.output.LayerNorm.", size.hidden, random, -1)


def _linear(prefix: str, outputs: int, inputs: int, random: np.random.Generator, gain: float = _GAIN) -> Named:
    yield f"{prefix}weight", _normal(random, outputs, inputs) * np.float32(gain / inputs**0.5 / _DEVIATION)
    yield f"{prefix}bias", _normal(random, outputs)


def _norm(prefix: str, width: int, random: np.random.Generator, loudness: int) -> Named:
    """A layer norm whose loud channels are turned up (1), left alone (0) or turned down (-1)."""
    weight = 1 + _normal(random, width)
    for channel, factor in LOUD_STATE.items():
        weight[channel] *= factor**loudness
    yield f"{prefix}weight", weight
    yield f"{prefix}bias", _normal(random, width)


def _mean_of_gelu(size: Size) -> NDArray[np.float32]:
    """What comes out of gelu on the average, [feed_forward], for normal inputs as `_encoder` makes them."""
    state = np.ones(size.hidden)
    state[list(LOUD_STATE)] = list(LOUD_STATE.values())
    deviation = np.full(size.feed_forward, _GAIN * np.sqrt((state**2).mean()))
    deviation[list(LOUD_MIDDLE)] *= list(LOUD_MIDDLE.values())
    mean: NDArray[np.float32] = (deviation**2 / np.sqrt(2 * np.pi * (1 + deviation**2))).astype(np.float32)
    return mean


def _normal(random: np.random.Generator, *shape: int) -> NDArray[np.float32]:
    return random.standard_normal(shape, np.float32) * np.float32(_DEVIATION)
