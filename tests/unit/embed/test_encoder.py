"""Padding, pooling and the heads, against the same arithmetic in numpy."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto

from recall.core.errors import ModelError
from recall.embed.batches import Batch
from recall.embed.encoder import Encoder, limits, pad, pool, unit
from recall.embed.manifest import Device, Manifest, Outputs, Pooling
from recall.embed.session import OnnxRuntime
from tiny_model import NARROW, WIDTH, Shape, Weights, encode, tiny_model

TEXTS = ["one", "two three four five six seven eight", "", "nine nine ten", "unheard of"]
IDS = [encode(text) for text in TEXTS]
SPECIAL = frozenset([0, 2])


def load(manifest: Manifest, device: Device = "cpu") -> Encoder:
    graph = OnnxRuntime().load(manifest.variants[0].weights, manifest.outputs, "cpu", 1)
    return Encoder(graph, manifest, device)


def expected(pooling: Pooling) -> list[np.ndarray]:
    states = [Weights().tokens(ids) for ids in IDS]
    return [unit(rows.mean(axis=0) if pooling == "mean" else rows[0]) for rows in states]


@pytest.mark.parametrize("device", ["cpu", "cuda"])
@pytest.mark.parametrize(
    ("pooling", "name"),
    [("mean", "last_hidden_state"), ("cls", "last_hidden_state"), ("none", "sentence_embedding")],
)
def test_every_pooling_gives_the_vectors_of_numpy_whatever_the_padding(
    pooling: Pooling, name: str, device: Device, tmp_path: Path
) -> None:
    vectors = load(tiny_model(tmp_path, pooling, Outputs(name)), device).embed(IDS)
    assert vectors.dtype == np.float32
    assert np.allclose(vectors, expected(pooling), atol=1e-6)


def test_a_graph_without_a_mask_gets_each_text_alone(tmp_path: Path) -> None:
    encoder = load(tiny_model(tmp_path, shape=Shape(masked=False)))
    assert not encoder.batches
    vectors = encoder.embed(IDS)
    assert np.allclose(vectors, expected("mean"), atol=1e-6)
    assert all(np.array_equal(vectors[row], encoder.embed([ids])[0]) for row, ids in enumerate(IDS))


def test_a_graph_that_mixes_up_the_texts_of_a_call_gets_each_alone(tmp_path: Path) -> None:
    encoder = load(tiny_model(tmp_path, shape=Shape(mixing=True)))
    assert encoder.batches
    assert not np.allclose(encoder.embed(IDS * 2), expected("mean") * 2, atol=1e-2)
    encoder.check_batches(IDS)
    assert not encoder.batches
    assert np.allclose(encoder.embed(IDS * 2), expected("mean") * 2, atol=1e-6)


def test_a_graph_that_keeps_them_apart_goes_on_with_batches(tmp_path: Path) -> None:
    encoder = load(tiny_model(tmp_path))
    encoder.check_batches(IDS)
    assert encoder.batches


@pytest.mark.parametrize("pooling", ["mean", "cls"])
def test_names_and_half_precision_of_another_export_change_nothing(pooling: Pooling, tmp_path: Path) -> None:
    shape = Shape(tokens="token_embeddings", real=TensorProto.FLOAT16)
    vectors = load(tiny_model(tmp_path, pooling, Outputs("token_embeddings"), shape)).embed(IDS)
    assert (vectors * expected(pooling)).sum(axis=1).min() > 0.9999


def test_heads_hold_the_sparse_weights_and_the_token_vectors_without_special_tokens(tmp_path: Path) -> None:
    outputs = Outputs("last_hidden_state", "sparse_weights", "token_vectors")
    encoder = load(tiny_model(tmp_path, "cls", outputs))
    for ids, dense, heads in zip(IDS, expected("cls"), encoder.heads(IDS, SPECIAL), strict=True):
        states = Weights().tokens(ids)[1:-1]
        weights: dict[int, float] = {}
        for token, weight in zip(ids[1:-1], (states @ Weights().sparse)[:, 0].tolist(), strict=True):
            if weight > 0:
                weights[token] = max(weight, weights.get(token, 0.0))
        assert np.allclose(heads.dense, dense, atol=1e-6)
        assert heads.tokens.shape == (len(ids) - 2, NARROW)
        assert np.allclose(heads.tokens, unit(states @ Weights().multi_vector), atol=1e-6)
        assert heads.sparse == pytest.approx(weights, abs=1e-6)


def test_a_multi_vector_head_that_leaves_the_first_token_out_gives_the_same(tmp_path: Path) -> None:
    outputs = Outputs("last_hidden_state", None, "token_vectors")
    whole = load(tiny_model(tmp_path / "whole", "cls", outputs)).heads(IDS, SPECIAL)
    later = load(tiny_model(tmp_path / "later", "cls", outputs, Shape(ahead=1))).heads(IDS, SPECIAL)
    for one, two in zip(whole, later, strict=True):
        assert np.allclose(one.tokens, two.tokens, atol=1e-6)
        assert one.sparse is two.sparse is None


def test_without_a_multi_vector_head_the_token_vectors_stand_for_it(tmp_path: Path) -> None:
    for ids, heads in zip(IDS, load(tiny_model(tmp_path)).heads(IDS, SPECIAL), strict=True):
        assert np.allclose(heads.tokens, unit(Weights().tokens(ids)[1:-1]), atol=1e-6)


def test_a_finished_vector_alone_leaves_no_token_vectors(tmp_path: Path) -> None:
    (heads,) = load(tiny_model(tmp_path, "none", Outputs("sentence_embedding"))).heads(IDS[:1], SPECIAL)
    assert heads.tokens.shape == (0, WIDTH)


@pytest.mark.parametrize(
    ("pooling", "name", "dimension", "found"),
    [
        ("none", "last_hidden_state", WIDTH, r"\[texts, dimension\] with dimension 8, but has \[1, 3, 8\]"),
        ("mean", "sentence_embedding", WIDTH, r"\[texts, tokens, dimension\] with dimension 8, but has \[1, 8\]"),
        ("cls", "last_hidden_state", 9, r"dimension 9, but has \[1, 3, 8\]"),
    ],
)
def test_a_manifest_that_does_not_fit_the_graph_is_said(
    pooling: Pooling, name: str, dimension: int, found: str, tmp_path: Path
) -> None:
    manifest = dataclasses.replace(tiny_model(tmp_path, pooling, Outputs(name)), dimension=dimension)
    with pytest.raises(ModelError, match=found):
        load(manifest).embed(IDS[:1])


def test_numbers_that_are_not_finite_are_a_failure_of_a_device_but_go_through_on_the_cpu(tmp_path: Path) -> None:
    weights = Weights()
    weights.vocabulary[4:] = np.nan
    manifest = tiny_model(tmp_path, weights=weights)
    assert np.isnan(load(manifest).embed(IDS[:1])).all()
    with pytest.raises(ArithmeticError):
        load(manifest, "cuda").embed(IDS[:1])


def test_rows_beyond_the_texts_attend_to_one_token() -> None:
    ids, mask = pad([[5, 6, 7], [8]], Batch((0, 1), 4, 5))
    assert ids.tolist() == [[5, 6, 7, 0, 0], [8, 0, 0, 0, 0], [0] * 5, [0] * 5]
    assert mask.tolist() == [[1, 1, 1, 0, 0], [1, 0, 0, 0, 0], [1, 0, 0, 0, 0], [1, 0, 0, 0, 0]]


def test_a_row_of_zeros_stays_finite() -> None:
    assert np.array_equal(pool(np.zeros((1, 2, 3), np.float32), [2], "mean"), np.zeros((1, 3)))


def test_batches_are_small_on_the_cpu_and_of_few_shapes_on_a_gpu() -> None:
    cpu, gpu = limits("cpu", True, 512), limits("cuda", True, 512)
    assert cpu.tokens < gpu.tokens
    assert (cpu.few_shapes, gpu.few_shapes) == (False, True)
    assert limits("cuda", False, 512).texts == 1
