"""Weights of embeddinggemma-300m: the encoder's layers, and the two dense layers behind it as one matrix.

A folder in the hub's layout holds config.json, tokenizer.json and model.safetensors, and of the layers behind the
encoder 2_Dense/model.safetensors and 3_Dense/model.safetensors.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from export.stand_in import cut_tokenizer
from export.weights import CONFIG, TOKENIZER, Checkpoint, LazyTensors, Origin, SourceError, Tensors, read_checkpoint

Matrix = NDArray[np.float32]
Maxima = Mapping[str, NDArray[np.float32]]

#: After pooling one after the other; there is no activation between them.
DENSE = ("2_Dense/model.safetensors", "3_Dense/model.safetensors")

#: A channel may be divided by so many times more, or less, than the median channel.
_FURTHEST = 8.0

#: The configuration of the stand-in with random weights.
_SMALL: dict[str, Any] = {
    "architectures": ["Gemma3TextModel"],
    "model_type": "gemma3_text",
    "use_bidirectional_attention": True,
    "hidden_activation": "gelu_pytorch_tanh",
    "attention_bias": False,
    "attn_logit_softcapping": None,
    "rope_scaling": None,
    "hidden_size": 96,
    "intermediate_size": 160,
    "num_hidden_layers": 3,
    "layer_types": ["sliding_attention", "sliding_attention", "full_attention"],
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 32,
    "query_pre_attn_scalar": 32,
    "sliding_window": 16,
    "rope_local_base_freq": 10_000.0,
    "rope_theta": 1_000_000.0,
    "rms_norm_eps": 1e-06,
    "max_position_embeddings": 2048,
    "vocab_size": 8_000,
    "bos_token_id": 0,
    "eos_token_id": 2,
    "pad_token_id": 1,
}

#: How much of a channel's loudness moves from the activations into the weights, as an exponent (0 nothing, 1 all).
#: Distance of the vectors (1 - cosine) when only the second products of the feed-forward blocks are int8, which make
#: most of it: 58 in 10,000 at 0.5, 25 at 0.7, 23 at 0.85, 26 at 1. The others are best between 0.7 and 0.85 as well.
BALANCE = 0.8


@dataclass(frozen=True)
class Shape:
    """Sizes of a Gemma 3 text encoder.

    `window`: tokens at least so far apart do not see each other in the layers that are not among `full_layers`.
    `bases`: of the rotation by position, in layers with the window and in full ones. `query_scale` is part of the
    scores.
    """

    layers: int
    hidden: int
    heads: int
    key_heads: int
    head_width: int
    feed_forward: int
    max_tokens: int
    window: int
    full_layers: frozenset[int]
    bases: tuple[float, float]
    query_scale: float
    epsilon: float

    @property
    def group(self) -> int:
        """Heads of queries that share one of keys and values."""
        return self.heads // self.key_heads


def read_shape(config: Mapping[str, Any]) -> Shape:
    """The sizes in a config.json. Raises SourceError for another architecture."""
    if config.get("model_type") != "gemma3_text" or not config.get("use_bidirectional_attention"):
        raise SourceError(
            "The model should be a Gemma 3 text encoder with attention in both directions, but config.json names "
            f"{config.get('model_type')}, {config.get('use_bidirectional_attention')}."
        )
    unknown = [
        name
        for name, usual in (
            ("hidden_activation", "gelu_pytorch_tanh"),
            ("attention_bias", False),
            ("attn_logit_softcapping", None),
            ("rope_scaling", None),
        )
        if config.get(name, usual) != usual
    ]
    if unknown:
        raise SourceError(f"config.json gives {unknown[0]} a value that this export does not know.")
    try:
        layers = int(config["num_hidden_layers"])
        kinds = config["layer_types"]
        return Shape(
            layers=layers,
            hidden=int(config["hidden_size"]),
            heads=int(config["num_attention_heads"]),
            key_heads=int(config["num_key_value_heads"]),
            head_width=int(config["head_dim"]),
            feed_forward=int(config["intermediate_size"]),
            max_tokens=int(config["max_position_embeddings"]),
            # The configuration counts both sides together; transformers takes a token itself and half on each side.
            window=int(config["sliding_window"]) // 2 + 1,
            full_layers=frozenset(layer for layer in range(layers) if kinds[layer] == "full_attention"),
            bases=(float(config["rope_local_base_freq"]), float(config["rope_theta"])),
            query_scale=float(config["query_pre_attn_scalar"]) ** -0.5,
            epsilon=float(config["rms_norm_eps"]),
        )
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise SourceError(f"config.json of the model cannot be used ({error!r}).") from None


@dataclass(frozen=True)
class Gemma:
    """A model as published. `head`: what the mean of the token vectors is multiplied by, float32[hidden, hidden]."""

    checkpoint: Checkpoint
    shape: Shape
    head: Matrix

    @property
    def files(self) -> dict[str, Path]:
        """What was read, by its path in the repository."""
        folder = self.checkpoint.tokenizer.parent
        return {path.relative_to(folder).as_posix(): path for path in self.checkpoint.files} | {
            name: folder / name for name in DENSE
        }


def read_gemma(folder: Path, origin: Origin) -> Gemma:
    """The model in `folder`. Raises SourceError."""
    checkpoint = read_checkpoint(folder, origin, heads=False)
    head = np.eye(1)
    for name in DENSE:
        if not (folder / name).is_file():
            raise SourceError(f"{folder} should hold {name}, but does not; give the folder of the whole model.")
        matrix = LazyTensors(folder / name)["linear.weight"].T.astype(np.float64)
        head = matrix if head.shape == (1, 1) else head @ matrix
    return Gemma(checkpoint, read_shape(checkpoint.config), head.astype(np.float32))


@dataclass(frozen=True)
class Layer:
    """The weights of one layer, matrices as float32[inputs, outputs], and gains of norms with the 1 added."""

    before_attention: Matrix
    query: Matrix
    key: Matrix
    value: Matrix
    query_norm: Matrix
    key_norm: Matrix
    attended: Matrix
    after_attention: Matrix
    before_feed: Matrix
    gate: Matrix
    up: Matrix
    down: Matrix
    after_feed: Matrix


def read_layer(tensors: Tensors, layer: int) -> Layer:
    """One layer from the published tensors."""
    name = f"layers.{layer}."

    def matrix(part: str) -> Matrix:
        return tensors[f"{name}{part}_proj.weight"].T

    def gain(part: str) -> Matrix:
        return 1 + tensors[f"{name}{part}norm.weight"]

    return Layer(
        before_attention=gain("input_layer"),
        query=matrix("self_attn.q"),
        key=matrix("self_attn.k"),
        value=matrix("self_attn.v"),
        query_norm=gain("self_attn.q_"),
        key_norm=gain("self_attn.k_"),
        attended=matrix("self_attn.o"),
        after_attention=gain("post_attention_layer"),
        before_feed=gain("pre_feedforward_layer"),
        gate=matrix("mlp.gate"),
        up=matrix("mlp.up"),
        down=matrix("mlp.down"),
        after_feed=gain("post_feedforward_layer"),
    )


def balance(weights: Layer, shape: Shape, name: str, maxima: Maxima) -> Layer:
    """The same layer with channels of about equal loudness before each product.

    `maxima`: of each product's input, see export/calibrate.py, under the names in export/gemma.py. Each channel is
    divided where it is made (a norm's gain, or a column of the product before) and multiplied where it is used, so
    that the graph computes the same and needs no further operator.
    """
    joined = _factors(maxima[f"{name}.qkv"], weights.query, weights.key, weights.value)
    feed = _factors(maxima[f"{name}.feed"], weights.gate, weights.up)
    down = _factors(maxima[f"{name}.down"], weights.down)
    # One head of values serves a group of heads, so that they share its factors: [heads of values, group, width].
    parts = (shape.key_heads, shape.group, shape.head_width)
    loudest = maxima[f"{name}.attended"].reshape(parts).max(1)
    rows = np.abs(weights.attended).max(1).reshape(parts).max(1)
    value = _factors(loudest.reshape(-1), rows.reshape(-1, 1))
    attended = np.broadcast_to(value.reshape(shape.key_heads, 1, -1), parts).reshape(-1)
    return replace(
        weights,
        before_attention=weights.before_attention / joined,
        query=weights.query * joined[:, None],
        key=weights.key * joined[:, None],
        value=weights.value * joined[:, None] / value,
        attended=weights.attended * attended[:, None],
        before_feed=weights.before_feed / feed,
        gate=weights.gate * feed[:, None],
        up=weights.up * feed[:, None] / down,
        down=weights.down * down[:, None],
    )


def _factors(loudest: NDArray[np.float32], *matrices: Matrix) -> Matrix:
    """What to divide each channel by, float32[channels] with a geometric mean of 1."""
    weights = np.max([np.abs(matrix).max(1) for matrix in matrices], axis=0)
    smallest = np.finfo(np.float32).tiny
    logarithm = BALANCE * np.log(np.maximum(loudest, smallest)) - (1 - BALANCE) * np.log(np.maximum(weights, smallest))
    # A channel that calibration hardly saw must not become loud in other texts, nor one that it saw once too often eat
    # up the resolution of the weights.
    logarithm = np.clip(logarithm - np.median(logarithm), -np.log(_FURTHEST), np.log(_FURTHEST))
    factors: Matrix = np.exp(logarithm - logarithm.mean()).astype(np.float32)
    return factors


def write_stand_in(folder: Path, tokenizer: Path, seed: int) -> None:
    """Make `folder` look like a download of the model, with a few small layers of random weights.

    The norms have loud channels, as the real ones do. `tokenizer`: one of XLM-RoBERTa's vocabulary, which is cut.
    """
    from safetensors.numpy import save_file

    folder.mkdir(parents=True)
    (folder / CONFIG).write_text(json.dumps(_SMALL, indent=2), "utf-8")
    (folder / TOKENIZER).write_text(cut_tokenizer(tokenizer, _SMALL["vocab_size"]), "utf-8")
    random = np.random.default_rng(seed)
    save_file(dict(_tensors(random)), folder / "model.safetensors")
    width = _SMALL["hidden_size"]
    for name, (outputs, inputs) in zip(DENSE, ((2 * width, width), (width, 2 * width)), strict=True):
        (folder / name).parent.mkdir()
        save_file({"linear.weight": _random(random, outputs, inputs)}, folder / name)


def _tensors(random: np.random.Generator) -> Iterator[tuple[str, Matrix]]:
    shape = read_shape(_SMALL)
    hidden, queries, keys = shape.hidden, shape.heads * shape.head_width, shape.key_heads * shape.head_width
    sizes = {
        "self_attn.q": (queries, hidden),
        "self_attn.k": (keys, hidden),
        "self_attn.v": (keys, hidden),
        "self_attn.o": (hidden, queries),
        "mlp.gate": (shape.feed_forward, hidden),
        "mlp.up": (shape.feed_forward, hidden),
        "mlp.down": (hidden, shape.feed_forward),
    }
    yield "embed_tokens.weight", _random(random, _SMALL["vocab_size"], hidden)
    for layer in range(shape.layers):
        for part, (outputs, inputs) in sizes.items():
            yield f"layers.{layer}.{part}_proj.weight", _random(random, outputs, inputs)
        for part in ("input_layer", "pre_feedforward_layer"):
            gain = _random(random, hidden)
            gain[[3, 17]] += 8
            yield f"layers.{layer}.{part}norm.weight", gain
        # What a layer adds is kept small beside what there was: else rounding errors grow from layer to layer.
        for part in ("post_attention_layer", "post_feedforward_layer"):
            yield f"layers.{layer}.{part}norm.weight", _random(random, hidden) - np.float32(0.7)
        for part in ("q", "k"):
            yield f"layers.{layer}.self_attn.{part}_norm.weight", _random(random, shape.head_width)
    yield "norm.weight", _random(random, hidden)


def _random(random: np.random.Generator, *shape: int) -> Matrix:
    return random.standard_normal(shape, np.float32) / np.float32(shape[-1] ** 0.5)
