"""embeddinggemma-300m as an ONNX graph, from numpy weights: Gemma 3 with attention in both directions, and its head.

Inputs `input_ids` and `attention_mask` int64[texts, tokens]; texts shorter than the longest are padded on the right.
Outputs, both float32 and of length 1:

* `dense` [texts, width]: the mean of a text's token vectors, through both dense layers.
* `multi_vector` [texts, tokens, width]: the token vectors before that head. Rows of padding are zeros.

float32 and float16 are made of standard operators alone, so that the providers for GPUs take the whole graph. The state
that runs through the layers grows to 160,000, which float16 cannot hold: there the products with weights and in
attention are float16, all between them float32. int8 and int4 use the fused operators of onnxruntime for CPUs.

How int8 comes about, with the lowest cosine to the published model over 59 notes, texts and programs of up to 512
tokens, and the milliseconds for 25 and for 266 tokens on two cores:

* A scale for each column of weights and one for the whole activation tensor: 0.965 (23, 238). A scale for every 32 of
  both (MatMulNBits): 0.999 (45, 524), which takes longer than float32 (36, 300).
* Balanced channels (export/gemma_weights.py) cost no time: 0.981. The second product of a feed-forward block is the
  worst: its input differs far more between tokens than any other. Each token brought to one size before it: 0.991, and
  0.997 when calibration sees more than the fixed sample.
* By blocks instead, for a tenth of the time, and the first product by blocks as well, for a fifth to a half: over 76
  questions and 38 notes the mean cosine is 0.9995, where it was 0.9985, and a score is off by 0.0018 instead of 0.0030,
  which decides whether a note is among the first three. Attention by blocks as well brings next to nothing more.

In int4 the vocabulary, which is two thirds of all weights, has 4 bits (0.993 by itself) and the matrices 8 by blocks:
with 4 bits for them as well the lowest cosine was 0.938.
"""

from collections.abc import Mapping
from typing import BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto

from export.gemma_weights import Gemma, Layer, Maxima, balance, read_layer
from export.writer import Precision, Value, Writer

OUTPUTS = ("dense", "multi_vector")

#: Bits of the vocabulary's table; None leaves it in the type of the products.
VOCABULARY_BITS: dict[Precision, int | None] = {"float32": None, "float16": None, "int8": 8, "int4": 4}

#: Added to scores of what must not be seen. Finite: a row of padding may see nothing, and must not become NaN.
_HIDDEN = -1e9

#: torch's smallest length: a vector of zeros stays one.
_SMALLEST_LENGTH = 1e-12


class Graph(NamedTuple):
    """A graph file, and the inputs of its products for calibration."""

    file: bytes
    products: Mapping[str, str]


def build_graph(
    model: Gemma, precision: Precision, data: BinaryIO, data_name: str, maxima: Maxima | None = None
) -> Graph:
    """The whole model; tensors go to `data`. `maxima`: of the products' inputs, to balance the weights by, if any.

    Raises SourceError for weights of another kind.
    """
    writer = Writer(precision, data, data_name)
    _Encoder(writer, model, maxima).write()
    sizes = ["texts", "tokens"]
    inputs = [Value(name, TensorProto.INT64, sizes) for name in ("input_ids", "attention_mask")]
    width = model.shape.hidden
    outputs = [
        Value("dense", TensorProto.FLOAT, ["texts", width]),
        Value("multi_vector", TensorProto.FLOAT, [*sizes, width]),
    ]
    return Graph(writer.graph("embeddinggemma", inputs, outputs), writer.products)


class _Encoder:
    """Writes the embeddings, the layers one after the other, and the head."""

    def __init__(self, writer: Writer, model: Gemma, maxima: Maxima | None) -> None:
        self._writer = writer
        self._model = model
        self._shape = model.shape
        self._maxima = maxima
        self._fused = writer.precision in ("int8", "int4")

    def write(self) -> None:
        """The whole graph."""
        write, tensors = self._writer, self._model.checkpoint.encoder
        write.node("Cast", ["attention_mask"], "mask", to=TensorProto.FLOAT)
        self._masks()
        self._rotations()
        state, added = self._embeddings(), ""
        for layer in range(self._shape.layers):
            weights = read_layer(tensors, layer)
            if self._maxima:
                weights = balance(weights, self._shape, f"layer{layer}", self._maxima)
            state, added = self._layer(layer, weights, state, added)
        final, _ = self._norm_of_sum(state, added, 1 + tensors["norm.weight"], "final")
        self._head(final)

    def _masks(self) -> None:
        """What is added to scores: `unseen.full` [texts, 1, 1, tokens], `unseen.near` [texts, 1, rows, tokens].

        Scores of the heads that share a head of keys lie one below the other, [texts, key heads, rows = group * tokens,
        tokens], so that the window's mask stands there once for each of them.
        """
        write = self._writer
        hidden = write.tensor("unseen.hidden", np.array(_HIDDEN, np.float32))
        absent = write.node("Sub", [write.tensor("unseen.one", np.array(1, np.float32)), "mask"], "unseen.absent")
        row = write.node("Mul", [absent, hidden], "unseen.row")
        full = write.node("Unsqueeze", [row, self._integers("unseen.axes", 1, 2)], "unseen.full")
        length = write.node("Shape", ["input_ids"], "unseen.length", start=1, end=2)
        tokens = write.node("Squeeze", [length], "unseen.tokens")
        bounds = [
            write.tensor(f"unseen.{name}", np.array(value, np.int64)) for name, value in (("from", 0), ("step", 1))
        ]
        places = write.node("Range", [bounds[0], tokens, bounds[1]], "unseen.places")
        column = write.node("Unsqueeze", [places, self._integers("unseen.last", 1)], "unseen.column")
        distance = write.node("Abs", [write.node("Sub", [places, column], "unseen.difference")], "unseen.distance")
        window = write.tensor("unseen.window", np.array(self._shape.window, np.int64))
        far = write.node("GreaterOrEqual", [distance, window], "unseen.far")
        outside = write.node(
            "Where", [far, hidden, write.tensor("unseen.nothing", np.array(0, np.float32))], "unseen.outside"
        )
        once = write.node("Add", [full, outside], "unseen.once")
        write.node("Concat", [once] * self._shape.group, "unseen.near", axis=2)

    def _rotations(self) -> None:
        """Cosines and sines of every position's angles, [tokens, head width / 2]; all positions where fused."""
        write, shape = self._writer, self._shape
        if self._fused:
            self._integers("turn.first", 0)
        exponents = np.arange(0, shape.head_width, 2, dtype=np.float32) / np.float32(shape.head_width)
        for kind, base in zip(("near", "full"), shape.bases, strict=True):
            speeds = (1 / np.float32(base) ** exponents).astype(np.float32)
            angles = np.arange(shape.max_tokens, dtype=np.float32)[:, None] * speeds
            for part, values in (("cos", np.cos(angles)), ("sin", np.sin(angles))):
                name = f"turn.{kind}.{part}"
                if self._fused:
                    write.tensor(name, values)
                else:
                    table = [write.tensor(f"{name}.table", values), self._integers(f"{name}.first", 0)]
                    write.node("Slice", [*table, "unseen.length"], name)

    def _embeddings(self) -> str:
        write = self._writer
        table = self._model.checkpoint.encoder["embed_tokens.weight"]
        words = write.rows("input_ids", "words", table, bits=VOCABULARY_BITS[write.precision])
        if write.precision == "float16":
            words = write.node("Cast", [words], "words.full", to=TensorProto.FLOAT)
        return write.node(
            "Mul", [words, write.tensor("words.gain", np.array(self._shape.hidden**0.5, np.float32))], "embedded"
        )

    def _layer(self, layer: int, weights: Layer, state: str, added: str) -> tuple[str, str]:
        """One layer on the sum of `state` and `added`; returns two such values."""
        write, name = self._writer, f"layer{layer}"
        calm, state = self._norm_of_sum(state, added, weights.before_attention, f"{name}.calm")
        mixed = self._attention(name, "full" if layer in self._shape.full_layers else "near", weights, calm)
        attended = self._product(mixed, f"{name}.attended", weights.attended)
        attended = self._norm(attended, weights.after_attention, f"{name}.attended.norm")
        calm, state = self._norm_of_sum(state, attended, weights.before_feed, f"{name}.middle")

        matrix = np.concatenate([weights.gate, weights.up], axis=1)
        joined = self._product(calm, f"{name}.feed", matrix, by_blocks=self._fused)
        gate, up = write.split(joined, [f"{name}.gate", f"{name}.up"], f"{name}.feed.split", axis=2)
        gate = write.node("Gelu", [gate], f"{name}.gate.active", approximate="tanh")
        active = write.node("Mul", [gate, up], f"{name}.active")
        down = self._product(active, f"{name}.down", weights.down, by_blocks=self._fused)
        return state, self._norm(down, weights.after_feed, f"{name}.down.norm")

    def _attention(self, name: str, kind: str, weights: Layer, calm: str) -> str:
        write, shape = self._writer, self._shape
        width, keys = shape.head_width, shape.key_heads
        joined = np.concatenate([weights.query, weights.key, weights.value], axis=1)
        product = self._product(calm, f"{name}.qkv", joined)
        parts = [f"{name}.{part}" for part in ("query", "key", "value")]
        lengths = self._integers(f"{name}.lengths", shape.heads * width, keys * width, keys * width)
        write.node("Split", [product, lengths], parts, axis=2)
        scaled = weights.query_norm * np.float32(shape.query_scale)
        query = self._turned(self._norm(self._apart(parts[0], shape.heads), scaled, f"{parts[0]}.norm"), kind)
        key = self._turned(self._norm(self._apart(parts[1], keys), weights.key_norm, f"{parts[1]}.norm"), kind)
        value = write.node("Transpose", [self._apart(parts[2], keys)], f"{parts[2]}.rows", perm=[0, 2, 1, 3])
        groups = self._integers(f"{name}.groups", 0, keys, -1, width)
        query = self._half(write.node("Reshape", [query, groups], f"{parts[0]}.grouped"))
        key = self._half(write.node("Transpose", [key], f"{parts[1]}.columns", perm=[0, 1, 3, 2]))
        scores = self._full(write.node("MatMul", [query, key], f"{name}.scores"))
        masked = write.node("Add", [scores, f"unseen.{kind}"], f"{name}.masked")
        shares = self._half(write.node("Softmax", [masked], f"{name}.shares", axis=-1))
        found = self._full(write.node("MatMul", [shares, self._half(value)], f"{name}.found"))
        heads = self._integers(f"{name}.heads", 0, shape.heads, -1, width)
        found = write.node("Reshape", [found, heads], f"{name}.found.heads")
        found = write.node("Transpose", [found], f"{name}.found.rows", perm=[0, 2, 1, 3])
        together = self._integers(f"{name}.together", 0, 0, shape.heads * width)
        return write.node("Reshape", [found, together], f"{name}.mixed")

    def _apart(self, source: str, heads: int) -> str:
        """[texts, tokens, heads, head width]."""
        target = self._integers(f"{source}.parts", 0, 0, heads, self._shape.head_width)
        return self._writer.node("Reshape", [source, target], f"{source}.apart")

    def _turned(self, source: str, kind: str) -> str:
        """Each pair of a head's halves turned by the token's angles: [texts, heads, tokens, head width]."""
        write, cos, sin = self._writer, f"turn.{kind}.cos", f"turn.{kind}.sin"
        rows = write.node("Transpose", [source], f"{source}.rows", perm=[0, 2, 1, 3])
        if self._fused:
            return write.node("RotaryEmbedding", [rows, "turn.first", cos, sin], f"{source}.turned", fused=True)
        left, right = write.split(rows, [f"{source}.left", f"{source}.right"], f"{source}.halves", axis=3)
        terms = [
            write.node("Mul", [half, table], f"{half}.{table[-3:]}") for half in (left, right) for table in (cos, sin)
        ]
        turned = [
            write.node("Sub", [terms[0], terms[3]], f"{source}.turned.left"),
            write.node("Add", [terms[2], terms[1]], f"{source}.turned.right"),
        ]
        return write.node("Concat", turned, f"{source}.turned", axis=3)

    def _head(self, final: str) -> None:
        write = self._writer
        column = write.node("Unsqueeze", ["mask", self._integers("head.last", 2)], "head.mask")
        present = write.node("Mul", [final, column], "head.present")
        self._unit_length(present, "multi_vector")
        # The head is linear and the length is taken away, so that the sum stands for the mean.
        total = write.node("ReduceSum", [present, self._integers("head.tokens", 1)], "head.sum", keepdims=0)
        size = write.node("ReduceSum", ["mask", self._integers("head.places", 1)], "head.count", keepdims=1)
        mean = write.node("Div", [total, size], "head.mean")
        matrix = write.tensor("head.weight", self._model.head)
        self._unit_length(write.node("MatMul", [mean, matrix], "head.vector"), "dense")

    def _norm(self, source: str, gain: NDArray[np.float32], output: str) -> str:
        """`source` with a mean square of 1 (last axis), times `gain`."""
        write = self._writer
        weight = write.tensor(f"{output}.gain", gain)
        if self._fused:
            epsilon = self._shape.epsilon
            return write.node("SimplifiedLayerNormalization", [source, weight], output, axis=-1, epsilon=epsilon)
        square = write.node("Pow", [source, write.tensor(f"{output}.two", np.array(2, np.float32))], f"{output}.square")
        mean = write.node("ReduceMean", [square, self._integers(f"{output}.axis", -1)], f"{output}.mean", keepdims=1)
        least = write.tensor(f"{output}.epsilon", np.array(self._shape.epsilon, np.float32))
        root = write.node("Sqrt", [write.node("Add", [mean, least], f"{output}.sum")], f"{output}.root")
        return write.node("Mul", [write.node("Div", [source, root], f"{output}.even"), weight], output)

    def _norm_of_sum(self, state: str, added: str, gain: NDArray[np.float32], output: str) -> tuple[str, str]:
        """The norm of `state` plus `added` (if any), and that sum."""
        write = self._writer
        if not added:
            return self._norm(state, gain, output), state
        total = f"{output}.state"
        if not self._fused:
            return self._norm(write.node("Add", [state, added], total), gain, output), total
        inputs = [state, added, write.tensor(f"{output}.gain", gain)]
        outputs = [output, "", "", total]
        epsilon = self._shape.epsilon
        return write.node("SkipSimplifiedLayerNormalization", inputs, outputs, fused=True, epsilon=epsilon), total

    def _product(self, source: str, output: str, matrix: NDArray[np.float32], *, by_blocks: bool = False) -> str:
        """`by_blocks`: 8 bits with a scale for every 32 weights, see the module's docstring."""
        if by_blocks or self._writer.precision == "int4":
            return self._writer.product_blocks(source, output, matrix, bits=8)
        return self._full(self._writer.product(self._half(source), output, matrix))

    def _half(self, source: str) -> str:
        """As float16 in that precision, as it is in others."""
        return self._cast(source, "half", TensorProto.FLOAT16)

    def _full(self, source: str) -> str:
        return self._cast(source, "full", TensorProto.FLOAT)

    def _cast(self, source: str, suffix: str, kind: int) -> str:
        if self._writer.precision != "float16":
            return source
        return self._writer.node("Cast", [source], f"{source}.{suffix}", to=kind)

    def _unit_length(self, vectors: str, output: str) -> str:
        """Each vector (the last axis) divided by its length."""
        write = self._writer
        length = write.node("ReduceL2", [vectors, self._integers(f"{output}.axis", -1)], f"{output}.length", keepdims=1)
        smallest = write.tensor(f"{output}.smallest", np.array(_SMALLEST_LENGTH, np.float32))
        return write.node("Div", [vectors, write.node("Max", [length, smallest], f"{output}.divisor")], output)

    def _integers(self, name: str, *values: int) -> str:
        return self._writer.tensor(name, np.array(values, np.int64))
