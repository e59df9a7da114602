"""Writer of an ONNX file straight from numpy weights: the nodes in one file, the large tensors in another beside it.

A value, the node that makes it and the tensors that help to make it share one name with suffixes: `layer3.up`,
`layer3.up.weight`, `layer3.up.bias`.

Matrices come in four precisions. float32 and float16 are plain MatMul, which every provider of onnxruntime takes. int8
is DynamicQuantizeMatMul (a scale for each column; one scale for the whole activation tensor), int4 is MatMulNBits (a
scale for every 32 weights; activations in 8 bits, with a scale for every 32 of a row): both are onnxruntime's own, for
CPUs.
"""

from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO, Literal, NamedTuple

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper

Precision = Literal["float32", "float16", "int8", "int4"]

#: The domain of onnxruntime's own operators.
FUSED = "com.microsoft"

#: Weights that share one scale in 4-bit products and in tables. onnxruntime takes powers of two from 16 on.
BLOCK = 32

# Fixed versions, not the newest that the installed onnx knows: a file must be the same bytes everywhere.
# The first that have 4-bit integers.
OPSET = 21
_IR_VERSION = 10

_INLINE_BYTES = 1024  # smaller tensors stay in the graph file
_ROWS_AT_ONCE = 8192  # a vocabulary of a quarter of a million rows would need gigabytes for what lies between
_ALIGNMENT = 4096  # a page: onnxruntime maps each external tensor from the file instead of reading it


class Value(NamedTuple):
    """An input or output of a graph: its name, a TensorProto type, and its sizes (a text where any size may come)."""

    name: str
    kind: int
    shape: Sequence[int | str]

    def proto(self) -> onnx.ValueInfoProto:
        return helper.make_tensor_value_info(self.name, self.kind, self.shape)


def quantize(matrix: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """int8[inputs, outputs] and float32[outputs] scales for `matrix` float32[inputs, outputs]; `inputs` is even.

    CPUs with AVX2 but without VNNI add neighbouring pairs of products in 16 bits and clip the sum. The scales are
    chosen so that two neighbouring weights of a column never exceed 128 together: 255 * 128 always fits, and every
    CPU computes the same integers.
    """
    size = np.abs(matrix)
    scale = np.maximum(size.max(0) / 127, (size[0::2] + size[1::2]).max(0) / 127.9).astype(np.float32)
    scale[scale == 0] = 1  # a column of zeros
    whole = np.rint(matrix / scale).astype(np.int8)
    pairs = np.abs(whole.astype(np.int16)).reshape(-1, 2, matrix.shape[1]).sum(1)
    if pairs.max() > 128:
        raise AssertionError("a pair of weights could overflow 16 bits")
    return whole, scale


def quantize_blocks(rows: NDArray[np.float32], bits: int) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
    """Codes uint8[rows, columns] of 0..2^bits - 1 and scales float32[rows, columns / 32]: (code - 2^(bits-1)) * scale.

    The value furthest from zero gets the code 0, so that all codes are in use. `columns` is a multiple of 32.
    """
    count, columns = rows.shape
    codes = np.empty((count, columns), np.uint8)
    scales = np.empty((count, columns // BLOCK), np.float32)
    half = 1 << (bits - 1)
    for start in range(0, count, _ROWS_AT_ONCE):
        part = slice(start, start + _ROWS_AT_ONCE)
        blocks = rows[part].reshape(-1, columns // BLOCK, BLOCK)
        furthest = np.take_along_axis(blocks, np.abs(blocks).argmax(2)[:, :, None], 2)
        scale = furthest / np.float32(-half)
        scale[scale == 0] = 1  # a block of zeros
        whole = np.clip(np.rint(blocks / scale) + half, 0, 2 * half - 1)
        codes[part], scales[part] = whole.reshape(-1, columns), scale[:, :, 0]
    return codes, scales


def pack_pairs(codes: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """4-bit codes uint8[..., columns] two in a byte, the first in the low half: uint8[..., columns / 2]."""
    packed: NDArray[np.uint8] = codes[..., 0::2] | (codes[..., 1::2] << np.uint8(4))
    return packed


class Writer:
    """Collects the nodes of a graph and writes its large tensors to `data` as they come.

    `data_name`: how the graph calls the file that `data` is. `loud`: for a product, by its output's name, the channels
    of its input whose activations are far larger than the others', each with the power of two that it is divided by on
    its way into an int8 product (the weights are multiplied by it): one scale serves the whole tensor, and such a
    channel would use up its resolution. `products` maps the output of each product to its input, for calibration.
    """

    def __init__(
        self,
        precision: Precision,
        data: BinaryIO,
        data_name: str,
        loud: Mapping[str, Mapping[int, int]] | None = None,
    ) -> None:
        self.precision = precision
        self.products: dict[str, str] = {}
        self._data = data
        self._data_name = data_name
        self._loud = loud or {}
        self._size = 0
        self._nodes: list[onnx.NodeProto] = []
        self._tensors: list[onnx.TensorProto] = []

    @property
    def float_kind(self) -> int:
        """The TensorProto type of activations."""
        return int(TensorProto.FLOAT16 if self.precision == "float16" else TensorProto.FLOAT)

    def node(
        self, kind: str, inputs: Sequence[str], output: str | Sequence[str], *, fused: bool = False, **attributes: Any
    ) -> str:
        """Add one node and return its (first) output. `fused`: an operator of onnxruntime's own."""
        outputs = [output] if isinstance(output, str) else list(output)
        domain = FUSED if fused else ""
        self._nodes.append(helper.make_node(kind, inputs, outputs, name=outputs[0], domain=domain, **attributes))
        return outputs[0]

    def split(self, source: str, outputs: Sequence[str], name: str, axis: int) -> list[str]:
        """Cut `source` into parts of equal size along `axis`."""
        parts = list(outputs)
        self._nodes.append(helper.make_node("Split", [source], parts, name=name, axis=axis, num_outputs=len(parts)))
        return parts

    def tensor(self, name: str, values: NDArray[np.generic]) -> str:
        """Add a constant as it is."""
        raw = np.ascontiguousarray(values).astype(values.dtype.newbyteorder("<"), copy=False)
        return self.raw_tensor(name, helper.np_dtype_to_tensor_dtype(values.dtype), values.shape, raw)

    def floats(self, name: str, values: NDArray[np.floating]) -> str:
        """Add a constant in the type of the activations."""
        return self.tensor(name, values.astype(np.float16 if self.precision == "float16" else np.float32))

    def raw_tensor(self, name: str, kind: int, shape: Sequence[int], raw: bytes | NDArray[np.generic]) -> str:
        """Add a constant from its little-endian bytes, for types that numpy does not have."""
        size = raw.nbytes if isinstance(raw, np.ndarray) else len(raw)
        proto = onnx.TensorProto(name=name, data_type=kind, dims=shape)
        if size < _INLINE_BYTES:
            proto.raw_data = raw.tobytes() if isinstance(raw, np.ndarray) else raw
        else:
            padding = -self._size % _ALIGNMENT
            self._data.write(bytes(padding))
            self._size += padding
            proto.data_location = TensorProto.EXTERNAL
            place = {"location": self._data_name, "offset": str(self._size), "length": str(size)}
            for key, value in place.items():
                proto.external_data.add(key=key, value=value)
            self._data.write(raw.tobytes() if isinstance(raw, np.ndarray) else raw)
            self._size += size
        self._tensors.append(proto)
        return name

    def product(
        self,
        source: str,
        output: str,
        matrix: NDArray[np.float32],
        *,
        bias: NDArray[np.float32] | None = None,
        precision: Precision | None = None,
    ) -> str:
        """`source` [..., inputs] times `matrix` float32[inputs, outputs] plus `bias` [outputs].

        `precision`: another one than the graph's, among int8, int4 and float32 (whose activations are alike).
        """
        self.products[output] = source
        match precision or self.precision:
            case "int8":
                return self._product_int8(source, output, matrix, bias)
            case "int4":
                return self.product_blocks(source, output, matrix, bits=4, bias=bias)
        added = [] if bias is None else [self.floats(f"{output}.bias", bias)]
        factors = [source, self.floats(f"{output}.weight", matrix)]
        if not added:
            return self.node("MatMul", factors, output)
        return self.node("Add", [self.node("MatMul", factors, f"{output}.product"), *added], output)

    def _product_int8(
        self, source: str, output: str, matrix: NDArray[np.float32], bias: NDArray[np.float32] | None
    ) -> str:
        added = [] if bias is None else [self.tensor(f"{output}.bias", bias)]
        loud = self._loud.get(output)
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

    def product_blocks(
        self,
        source: str,
        output: str,
        matrix: NDArray[np.float32],
        *,
        bits: int,
        bias: NDArray[np.float32] | None = None,
    ) -> str:
        """A product with weights of 4 or 8 bits in blocks of 32 (MatMulNBits); its input is quantised by 32 as well."""
        self.products[output] = source
        inputs, outputs = matrix.shape
        codes, scale = quantize_blocks(np.ascontiguousarray(matrix.T), bits)
        packed = pack_pairs(codes) if bits == 4 else codes
        parts = [
            self.tensor(f"{output}.weight", packed.reshape(outputs, inputs // BLOCK, -1)),
            self.tensor(f"{output}.scale", scale.reshape(-1)),
        ]
        if bias is not None:
            parts += ["", "", self.tensor(f"{output}.bias", bias)]  # no zero points, no order of groups
        # The level at which activations become 8-bit integers.
        layout = {"K": inputs, "N": outputs, "bits": bits, "block_size": BLOCK, "accuracy_level": 4}
        return self.node("MatMulNBits", [source, *parts], output, fused=True, **layout)

    def rows(self, ids: str, output: str, table: NDArray[np.float32], *, bits: int | None = None) -> str:
        """The rows of `table` float32[rows, columns] that the value `ids` names, in the type of the activations.

        `bits`: 4 or 8 stores the table in blocks of 32 with float16 scales; None stores it as it is.
        """
        if bits is None:
            return self.node("Gather", [self.floats(f"{output}.table", table), ids], output)
        codes, scale = quantize_blocks(table, bits)
        packed = pack_pairs(codes) if bits == 4 else codes
        parts = [
            self.tensor(f"{output}.table", packed),
            ids,
            self.tensor(f"{output}.scale", scale.astype(np.float16)),
        ]
        layout = {"block_size": BLOCK, "bits": bits, "gather_axis": 0, "quantize_axis": 1}
        found = self.node("GatherBlockQuantized", parts, f"{output}.half", fused=True, **layout)
        return self.node("Cast", [found], output, to=TensorProto.FLOAT)

    def graph(self, name: str, inputs: Sequence[Value], outputs: Sequence[Value]) -> bytes:
        """The graph file. Raises ValueError where a name stands for two values: onnxruntime would refuse the file."""
        made = [value.name for value in inputs] + [output for node in self._nodes for output in node.output if output]
        made += [tensor.name for tensor in self._tensors]
        twice = {value for value in made if made.count(value) > 1} if len(set(made)) < len(made) else set()
        missing = {value.name for value in outputs} - set(made)
        if twice or missing:
            raise ValueError(f"values that are made twice: {sorted(twice)}, outputs that none makes: {sorted(missing)}")
        graph = helper.make_graph(
            self._nodes, name, [value.proto() for value in inputs], [value.proto() for value in outputs], self._tensors
        )
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(FUSED, 1)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=_IR_VERSION, producer_name="recall")
        return bytes(model.SerializeToString(deterministic=True))
