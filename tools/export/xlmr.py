"""The XLM-RoBERTa and BERT encoder as an ONNX graph, from numpy weights.

Inputs `input_ids` and `attention_mask` int64[texts, tokens]. Texts shorter than the longest are padded on the right:
token i of a text has position i whatever stands beside it. What comes out is `last_hidden_state` float32[texts, tokens,
width], or the three outputs of bge-m3 (export/heads.py).

float32 and float16 are made of standard operators alone, so that the providers for GPUs take the whole graph. The mask
is -10,000 where a token is padding (the exponential of it is 0 in both), and the query is scaled by its weights, before
float16 could overflow; softmax and layer norm keep their sums in 32 bits by themselves. int8 and int4 use fused
operators of onnxruntime for CPUs where those are faster.

Figures of int8 at the size of bge-m3 (24 layers, random weights, two cores with AVX-512 VNNI; milliseconds of processor
time, the least of many runs in turns): with SkipLayerNormalization and BiasGelu for what stands here 69 and not 61 for
a question of 25 tokens, 586 and not 473 for ten in one call, the same for a chunk of 266. QAttention instead of
MultiHeadAttention: 72 and not 75 for a question, but 731 and not 698 for a chunk, and 70 MB more at 512 tokens. Weights
in 4 bits (MatMulNBits) take twice the time of int8. A vocabulary in 8 bits keeps a cosine of 0.999 (24 layers, 256
wide), one in 4 bits 0.995.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto

from export.heads import add_heads
from export.weights import Checkpoint, SourceError, Tensors
from export.writer import Precision, Value, Writer

#: Bits of the vocabulary's table; None leaves it in the type of the activations.
VOCABULARY_BITS: dict[Precision, int | None] = {"float32": None, "float16": None, "int8": 8, "int4": 4}

_MASKED = -10_000.0


@dataclass(frozen=True)
class Shape:
    """Sizes of an encoder. `first`: the position of the first token."""

    layers: int
    hidden: int
    heads: int
    positions: int
    first: int
    epsilon: float

    @property
    def max_tokens(self) -> int:
        """The longest text, special tokens included."""
        return self.positions - self.first


class Graph(NamedTuple):
    """A graph file, and the inputs of its products for calibration."""

    file: bytes
    products: Mapping[str, str]


def read_shape(config: Mapping[str, Any]) -> Shape:
    """The sizes in a config.json. Raises SourceError for another architecture."""
    kind = config.get("model_type")
    if kind not in ("xlm-roberta", "roberta", "bert") or config.get("hidden_act", "gelu") != "gelu":
        raise SourceError(f"The model should be an XLM-RoBERTa or BERT encoder with gelu, but config.json says {kind}.")
    if config.get("position_embedding_type", "absolute") != "absolute":
        raise SourceError("The model should have absolute positions, but config.json names another kind.")
    try:
        # RoBERTa counts positions from the one after the padding token's id.
        first = 0 if kind == "bert" else int(config["pad_token_id"]) + 1
        return Shape(
            layers=int(config["num_hidden_layers"]),
            hidden=int(config["hidden_size"]),
            heads=int(config["num_attention_heads"]),
            positions=int(config["max_position_embeddings"]),
            first=first,
            epsilon=float(config["layer_norm_eps"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise SourceError(f"config.json of the model cannot be used ({error!r}).") from None


def build_graph(
    checkpoint: Checkpoint,
    precision: Precision,
    data: BinaryIO,
    data_name: str,
    loud: Mapping[str, Mapping[int, int]] | None = None,
) -> Graph:
    """The encoder, with bge-m3's heads where the checkpoint has them; tensors go to `data`. Raises SourceError."""
    shape = read_shape(checkpoint.config)
    writer = Writer(precision, data, data_name, loud)
    encoder = _Encoder(writer, shape, checkpoint.encoder)
    sizes = ["texts", "tokens"]
    plain = checkpoint.sparse is None or checkpoint.multi_vector is None
    state = encoder.write("last_hidden_state" if plain and precision != "float16" else "encoded")
    if checkpoint.sparse is not None and checkpoint.multi_vector is not None:
        outputs = add_heads(writer, state, checkpoint.sparse, checkpoint.multi_vector, shape.hidden)
    else:
        if precision == "float16":
            writer.node("Cast", [state], "last_hidden_state", to=TensorProto.FLOAT)
        outputs = [Value("last_hidden_state", TensorProto.FLOAT, [*sizes, shape.hidden])]
    inputs = [Value(name, TensorProto.INT64, sizes) for name in ("input_ids", "attention_mask")]
    return Graph(writer.graph("encoder", inputs, outputs), writer.products)


class _Encoder:
    """Writes the layers one after the other."""

    def __init__(self, writer: Writer, shape: Shape, tensors: Tensors) -> None:
        self._writer = writer
        self._shape = shape
        self._tensors = tensors
        known = ("", "roberta.", "bert.")
        word = "embeddings.word_embeddings.weight"
        self._prefix = next((prefix for prefix in known if prefix + word in tensors), "")
        self._fused = writer.precision in ("int8", "int4")

    def write(self, output: str) -> str:
        """The whole encoder; `output` is the name of the last layer's state."""
        mask = self._mask()
        state = self._embeddings()
        for layer in range(self._shape.layers):
            last = layer == self._shape.layers - 1
            state = self._layer(layer, state, mask, output if last else f"layer{layer}")
        return state

    def _tensor(self, name: str) -> NDArray[np.float32]:
        return self._tensors[self._prefix + name]

    def _mask(self) -> str:
        """What attention takes: 1 and 0 for each token where it is fused, else what is added to the scores."""
        if self._fused:
            return self._writer.node("Cast", ["attention_mask"], "mask", to=TensorProto.INT32)
        write = self._writer
        present = write.node("Cast", ["attention_mask"], "mask.present", to=write.float_kind)
        absent = write.node("Sub", [write.floats("mask.one", np.ones(1)), present], "mask.absent")
        row = write.node("Mul", [absent, write.floats("mask.low", np.array([_MASKED]))], "mask.row")
        return write.node("Unsqueeze", [row, write.tensor("mask.axes", np.array([1, 2]))], "mask")

    def _embeddings(self) -> str:
        write = self._writer
        table = self._tensor("embeddings.word_embeddings.weight")
        words = write.rows("input_ids", "words", table, bits=VOCABULARY_BITS[write.precision])
        # The type of every token is 0, so that its vector is part of the position's.
        places = self._tensor("embeddings.position_embeddings.weight")[self._shape.first :]
        places = places + self._tensor("embeddings.token_type_embeddings.weight")[0]
        stored = places if write.precision == "float32" else places.astype(np.float16)
        length = write.node("Shape", ["input_ids"], "length", start=1, end=2)
        parts = [write.tensor("places.table", stored), write.tensor("places.first", np.zeros(1, np.int64)), length]
        if self._fused:
            used = write.node("Cast", [write.node("Slice", parts, "places.half")], "places", to=TensorProto.FLOAT)
        else:
            used = write.node("Slice", parts, "places")
        return self._normalized_sum(words, used, "embedded", norm="embeddings.LayerNorm")

    def _layer(self, layer: int, state: str, mask: str, output: str) -> str:
        name, prefix = f"encoder.layer.{layer}", f"layer{layer}"
        mixed = self._attention(f"{name}.attention.self", state, mask, prefix)
        attended = self._product(mixed, f"{prefix}.attended", f"{name}.attention.output.dense")
        middle = self._normalized_sum(attended, state, f"{prefix}.middle", f"{name}.attention.output.LayerNorm")
        up = self._product(middle, f"{prefix}.up", f"{name}.intermediate.dense")
        active = self._writer.node("Gelu", [up], f"{prefix}.active")
        down = self._product(active, f"{prefix}.down", f"{name}.output.dense")
        return self._normalized_sum(down, middle, output, f"{name}.output.LayerNorm")

    def _product(self, source: str, output: str, name: str) -> str:
        matrix, bias = self._tensor(f"{name}.weight").T, self._tensor(f"{name}.bias")
        return self._writer.product(source, output, matrix, bias=bias)

    def _attention(self, name: str, state: str, mask: str, prefix: str) -> str:
        write, heads = self._writer, self._shape.heads
        width = self._shape.hidden // heads
        matrices = [self._tensor(f"{name}.{part}.weight") for part in ("query", "key", "value")]
        biases = [self._tensor(f"{name}.{part}.bias") for part in ("query", "key", "value")]
        if not self._fused:
            matrices[0], biases[0] = matrices[0] / np.float32(width**0.5), biases[0] / np.float32(width**0.5)
        joined = write.product(state, f"{prefix}.qkv", np.concatenate(matrices).T, bias=np.concatenate(biases))
        names = [f"{prefix}.{part}" for part in ("query", "key", "value")]
        parts = write.split(joined, names, f"{prefix}.split", axis=2)
        if self._fused:
            inputs = [*parts, "", mask]  # no bias: it is in the products
            return write.node("MultiHeadAttention", inputs, f"{prefix}.mixed", fused=True, num_heads=heads)
        apart = write.tensor(f"{prefix}.apart", np.array([0, 0, heads, width]))
        orders = ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3])
        query, key, value = (
            write.node(
                "Transpose", [write.node("Reshape", [part, apart], f"{part}.apart")], f"{part}.turned", perm=order
            )
            for part, order in zip(parts, orders, strict=True)
        )
        scores = write.node("MatMul", [query, key], f"{prefix}.scores")
        masked = write.node("Add", [scores, mask], f"{prefix}.masked")
        shares = write.node("Softmax", [masked], f"{prefix}.shares", axis=-1)
        found = write.node("MatMul", [shares, value], f"{prefix}.found")
        turned = write.node("Transpose", [found], f"{prefix}.found.turned", perm=[0, 2, 1, 3])
        together = write.tensor(f"{prefix}.together", np.array([0, 0, self._shape.hidden]))
        return write.node("Reshape", [turned, together], f"{prefix}.mixed")

    def _normalized_sum(self, left: str, right: str, output: str, norm: str) -> str:
        """LayerNorm(left + right)."""
        write = self._writer
        # On CPUs `Sum`, though it adds two: onnxruntime makes SkipLayerNormalization of an `Add` here, which a
        # GPU is faster with, but takes a CPU six times as long (a tenth of the whole encoder).
        total = write.node("Sum" if self._fused else "Add", [left, right], f"{output}.sum")
        parts = [write.floats(f"{output}.{end}", self._tensor(f"{norm}.{end}")) for end in ("weight", "bias")]
        return write.node("LayerNormalization", [total, *parts], output, axis=-1, epsilon=self._shape.epsilon)
