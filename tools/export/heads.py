"""The three outputs of bge-m3 on top of an encoder's state.

* `dense` float32[texts, width]: the state of the first token, brought to length 1.
* `sparse` float32[texts, tokens]: how much each token counts, 0 or more. The reference gives nothing for special
  tokens; here theirs are left in, because the graph does not know which ids are special.
* `multi_vector` float32[texts, tokens, width]: a vector of length 1 for each token. The reference drops the first
  token; here its vector is zeros, so that rows and tokens stay together: a zero vector adds nothing to a sum of largest
  products.

Rows of padding are zeros in both. Lengths are taken in 32 bits whatever the precision.
"""

import numpy as np
from onnx import TensorProto

from export.weights import Tensors
from export.writer import Value, Writer

#: torch's smallest length: a vector of zeros stays one.
_SMALLEST_LENGTH = 1e-12

#: Of the mask all but the first column.
_REST = {"from": 1, "to": np.iinfo(np.int64).max, "axis": 1}

OUTPUTS = ("dense", "sparse", "multi_vector")


def add_heads(writer: Writer, state: str, sparse: Tensors, multi_vector: Tensors, width: int) -> list[Value]:
    """Write the heads on `state` [texts, tokens, width] and return the graph's outputs."""
    half = writer.precision == "float16"
    full = writer.node("Cast", [state], "state", to=TensorProto.FLOAT) if half else state
    mask = writer.node("Cast", ["attention_mask"], "heads.mask", to=TensorProto.FLOAT)

    first = writer.node("Gather", [full, writer.tensor("first.place", np.array(0))], "first", axis=1)
    _unit_length(writer, first, "dense")

    matrix = writer.tensor("weight.matrix", np.ascontiguousarray(sparse["weight"].T))
    product = writer.node("MatMul", [full, matrix], "weight.product")
    column = writer.node("Add", [product, writer.tensor("weight.bias", sparse["bias"])], "weight.column")
    row = writer.node("Squeeze", [column, writer.tensor("weight.axis", np.array([2]))], "weight.row")
    writer.node("Mul", [writer.node("Relu", [row], "weight"), mask], "sparse")

    vectors = writer.product(state, "vectors", multi_vector["weight"].T, bias=multi_vector["bias"])
    if half:
        vectors = writer.node("Cast", [vectors], "vectors.full", to=TensorProto.FLOAT)
    unit = _unit_length(writer, vectors, "vectors.unit")
    bounds = [writer.tensor(f"rest.{name}", np.array([value])) for name, value in _REST.items()]
    rest = writer.node("Slice", ["heads.mask", *bounds], "rest")
    padded = writer.node("Pad", [rest, writer.tensor("rest.before", np.array([0, 1, 0, 0]))], "rest.mask")
    column = writer.node("Unsqueeze", [padded, writer.tensor("rest.last", np.array([2]))], "rest.column")
    writer.node("Mul", [unit, column], "multi_vector")

    sizes = ["texts", "tokens"]
    return [
        Value("dense", TensorProto.FLOAT, ["texts", width]),
        Value("sparse", TensorProto.FLOAT, sizes),
        Value("multi_vector", TensorProto.FLOAT, [*sizes, multi_vector["weight"].shape[0]]),
    ]


def _unit_length(writer: Writer, vectors: str, output: str) -> str:
    """Each vector (the last axis) divided by its length."""
    axis = writer.tensor(f"{output}.axis", np.array([-1]))
    length = writer.node("ReduceL2", [vectors, axis], f"{output}.length", keepdims=1)
    smallest = writer.tensor(f"{output}.smallest", np.array([_SMALLEST_LENGTH], np.float32))
    return writer.node("Div", [vectors, writer.node("Max", [length, smallest], f"{output}.divisor")], output)
