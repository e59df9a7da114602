"""The writer: products and tables run by onnxruntime against numpy, and the files that they are in."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from onnx import TensorProto

from export.writer import BLOCK, Precision, Value, Writer, pack_pairs, quantize, quantize_blocks

os.environ["ORT_DISABLE_TELEMETRY"] = "1"
import onnxruntime

RANDOM = np.random.default_rng(3)
#: Largest error of a product, as a part of the outputs' root mean square.
ERRORS: dict[Precision, float] = {"float32": 1e-5, "float16": 5e-3, "int8": 0.1, "int4": 0.5}


def run(folder: Path, writer: Writer, inputs: list[Value], outputs: list[Value], feeds: dict[str, Any]) -> Any:
    (folder / "graph.onnx").write_bytes(writer.graph("test", inputs, outputs))
    runtime: Any = onnxruntime
    session = runtime.InferenceSession(str(folder / "graph.onnx"), providers=["CPUExecutionProvider"])
    return session.run(None, feeds)[0]


def product(
    folder: Path, precision: Precision, matrix: NDArray[np.float32], values: NDArray[np.float32], **options: Any
) -> Any:
    with (folder / "graph.data").open("wb") as data:
        writer = Writer(precision, data, "graph.data", options.pop("loud", None))
        writer.product("values", "found", matrix, **options)
    half = precision == "float16"
    kind = TensorProto.FLOAT16 if half else TensorProto.FLOAT
    inputs = [Value("values", kind, ["texts", "tokens", len(matrix)])]
    outputs = [Value("found", kind, ["texts", "tokens", matrix.shape[1]])]
    return run(folder, writer, inputs, outputs, {"values": values.astype(np.float16 if half else np.float32)})


@pytest.mark.parametrize("precision", ERRORS)
@pytest.mark.parametrize("biased", [False, True])
def test_a_product_is_that_of_numpy_in_every_precision(tmp_path: Path, precision: Precision, biased: bool) -> None:
    matrix = RANDOM.standard_normal((128, 96)).astype(np.float32)
    values = RANDOM.standard_normal((2, 5, 128)).astype(np.float32)
    bias = RANDOM.standard_normal(96).astype(np.float32) if biased else None
    expected = values @ matrix + (0 if bias is None else bias)
    found = product(tmp_path, precision, matrix, values, bias=bias)
    assert np.abs(found - expected).max() < ERRORS[precision] * np.sqrt((expected**2).mean())


def test_quieter_channels_take_most_of_the_int8_error_away(tmp_path: Path) -> None:
    matrix = RANDOM.standard_normal((256, 64)).astype(np.float32)
    values = RANDOM.standard_normal((1, 20, 256)).astype(np.float32)
    values[..., 7] *= 32
    expected = values @ matrix
    plain, quieter = (
        np.abs(product(tmp_path, "int8", matrix, values, loud=loud) - expected).mean()
        for loud in ({}, {"found": {7: 16}})
    )
    assert quieter < plain / 3


@given(st.integers(1, 20), st.integers(1, 8), st.floats(1e-3, 1e3), st.integers(0, 2**32 - 1))
def test_pairs_of_int8_weights_never_exceed_128(pairs: int, columns: int, size: float, seed: int) -> None:
    random = np.random.default_rng(seed)
    matrix = (random.standard_normal((2 * pairs, columns)) * size).astype(np.float32)
    matrix[random.random(matrix.shape) < 0.2] = 0
    whole, scale = quantize(matrix)
    sums = np.abs(whole.astype(int)).reshape(pairs, 2, columns).sum(1)
    assert sums.max() <= 128
    assert np.abs(whole * scale - matrix).max() <= scale.max() / 2 * 1.001


@given(st.sampled_from([4, 8]), st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_a_block_keeps_its_largest_value_and_is_off_by_one_step_at_most(bits: int, blocks: int, seed: int) -> None:
    rows = np.random.default_rng(seed).standard_normal((3, blocks * BLOCK)).astype(np.float32)
    codes, scale = quantize_blocks(rows, bits)
    half = 2 ** (bits - 1)
    found = (codes.reshape(3, blocks, BLOCK).astype(np.float32) - half) * scale[:, :, None]
    shaped = rows.reshape(found.shape)
    assert np.abs(found - shaped).max() <= np.abs(scale).max() * 1.001
    furthest = np.abs(shaped).argmax(2)[:, :, None]
    assert np.allclose(np.take_along_axis(found, furthest, 2), np.take_along_axis(shaped, furthest, 2), rtol=1e-5)


def test_blocks_of_zeros_stay_zeros(tmp_path: Path) -> None:
    assert not product(tmp_path, "int8", np.zeros((64, 4), np.float32), np.ones((1, 1, 64), np.float32)).any()
    assert not product(tmp_path, "int4", np.zeros((64, 4), np.float32), np.ones((1, 1, 64), np.float32)).any()


@pytest.mark.parametrize(("bits", "error"), [(None, 0.0), (8, 0.02), (4, 0.3)])
def test_rows_of_a_table(tmp_path: Path, bits: int | None, error: float) -> None:
    table = RANDOM.standard_normal((50, 64)).astype(np.float32)
    with (tmp_path / "graph.data").open("wb") as data:
        writer = Writer("int8" if bits else "float32", data, "graph.data")
        writer.rows("ids", "found", table, bits=bits)
    ids = np.array([[3, 49, 0]])
    inputs, outputs = [Value("ids", TensorProto.INT64, ["a", "b"])], [Value("found", TensorProto.FLOAT, ["a", "b", 64])]
    assert np.abs(run(tmp_path, writer, inputs, outputs, {"ids": ids}) - table[ids]).max() <= error


def test_the_first_of_two_codes_is_in_the_low_half() -> None:
    assert pack_pairs(np.array([[1, 2, 15, 0]], np.uint8)).tolist() == [[0x21, 0x0F]]


def test_large_tensors_lie_at_page_boundaries_of_the_second_file(tmp_path: Path) -> None:
    matrix = RANDOM.standard_normal((100, 37)).astype(np.float32)
    product(tmp_path, "float32", matrix, np.ones((1, 1, 100), np.float32), bias=np.ones(37, np.float32))
    product_of = onnx.load(str(tmp_path / "graph.onnx"), load_external_data=False)
    places = {
        tensor.name: {entry.key: entry.value for entry in tensor.external_data}
        for tensor in product_of.graph.initializer
    }
    assert places["found.bias"] == {}
    assert int(places["found.weight"]["offset"]) % 4096 == 0
    assert places["found.weight"]["location"] == "graph.data"


def test_a_name_for_two_values_is_refused(tmp_path: Path) -> None:
    with (tmp_path / "graph.data").open("wb") as data:
        writer = Writer("float32", data, "graph.data")
    value = Value("values", TensorProto.FLOAT, ["any"])
    writer.node("Relu", ["values"], "found")
    with pytest.raises(ValueError, match="outputs that none makes: \\['other'\\]"):
        writer.graph("test", [value], [Value("other", TensorProto.FLOAT, ["any"])])
    writer.node("Abs", ["values"], "found")
    with pytest.raises(ValueError, match="made twice: \\['found'\\]"):
        writer.graph("test", [value], [Value("found", TensorProto.FLOAT, ["any"])])
