"""Calibration finds the channels that were made loud, and int8 is the better for it."""

from pathlib import Path

import numpy as np
import pytest

from export import sample
from export.calibrate import Feeds, activation_maxima, loud_channels
from export.proof import encoder
from export.stand_in import LOUD_MIDDLE, LOUD_STATE
from export.weights import Checkpoint
from export.xlmr import build_graph


def feeds(checkpoint: Checkpoint) -> list[Feeds]:
    encode = encoder(checkpoint.tokenizer, 512)
    ids = [np.array([encode(text)], np.int64) for text in sample.CALIBRATION]
    return [{"input_ids": row, "attention_mask": np.ones_like(row)} for row in ids]


def test_the_planted_channels_are_found(tmp_path: Path, checkpoint: Checkpoint) -> None:
    with (tmp_path / "fp32.data").open("wb") as data:
        built = build_graph(checkpoint, "float32", data, "fp32.data")
    (tmp_path / "fp32.onnx").write_bytes(built.file)
    maxima = activation_maxima(tmp_path / "fp32.onnx", built.products, feeds(checkpoint))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["fp32.data", "fp32.onnx"]
    assert maxima["layer0.up"].shape == (checkpoint.config["hidden_size"],)
    assert maxima["layer0.down"].shape == (checkpoint.config["intermediate_size"],)

    loud = loud_channels(maxima)
    loudest, second = LOUD_STATE
    for layer in range(checkpoint.config["num_hidden_layers"]):
        found = loud[f"layer{layer}.up"]
        assert {loudest, second} <= set(found)
        assert max(found, key=lambda channel: found[channel]) == loudest
        assert set(LOUD_MIDDLE) <= set(loud[f"layer{layer}.down"])
    assert all(factor >= 2 and factor & (factor - 1) == 0 for found in loud.values() for factor in found.values())


def test_loud_is_twice_the_98th_percentile() -> None:
    even = np.linspace(1, 1.5, 500, dtype=np.float32)
    planted = even.copy()
    planted[[4, 9, 13]] = [2.5, 6, 50]
    ordinary = float(np.percentile(planted, 98))
    assert loud_channels({"even": even, "planted": planted}) == {
        "planted": {9: 2 ** round(np.log2(6 / ordinary)), 13: 2 ** round(np.log2(50 / ordinary))}
    }


def test_channels_that_are_silent_do_not_make_the_rest_loud() -> None:
    assert loud_channels({"silent": np.zeros(64, np.float32)}) == {}


def test_no_text_is_no_calibration(tmp_path: Path, checkpoint: Checkpoint) -> None:
    with (tmp_path / "fp32.data").open("wb") as data:
        built = build_graph(checkpoint, "float32", data, "fp32.data")
    (tmp_path / "fp32.onnx").write_bytes(built.file)
    with pytest.raises(ValueError, match="at least one text"):
        activation_maxima(tmp_path / "fp32.onnx", built.products, [])
