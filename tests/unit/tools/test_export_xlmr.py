"""The encoder's graph in every precision, against plain numpy and against itself with padding."""

import dataclasses
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from export import sample
from export.proof import Expected, Reference, encoder, expect, likeness, measure
from export.variants import KINDS
from export.weights import Checkpoint, SourceError
from export.xlmr import build_graph, read_shape

os.environ["ORT_DISABLE_TELEMETRY"] = "1"
import onnxruntime

NumpyModel = Callable[[Checkpoint], Reference]


def build(folder: Path, checkpoint: Checkpoint, name: str) -> Path:
    with (folder / f"{name}.data").open("wb") as data:
        built = build_graph(checkpoint, KINDS[name].precision, data, f"{name}.data")
    (folder / f"{name}.onnx").write_bytes(built.file)
    return folder / f"{name}.onnx"


def session_of(graph: Path) -> Any:
    runtime: Any = onnxruntime
    return runtime.InferenceSession(str(graph), providers=["CPUExecutionProvider"])


@pytest.fixture(scope="module")
def graphs(tmp_path_factory: pytest.TempPathFactory, checkpoint: Checkpoint) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("graphs")
    return {name: build(folder, checkpoint, name) for name in KINDS}


@pytest.fixture(scope="module")
def expected(checkpoint: Checkpoint, in_numpy: NumpyModel) -> list[Expected]:
    texts = sample.with_long(sample.PROOF)
    return expect(texts, encoder(checkpoint.tokenizer, 512), in_numpy(checkpoint))


@pytest.mark.parametrize("name", KINDS)
def test_every_variant_is_the_model_in_numpy(name: str, graphs: dict[str, Path], expected: list[Expected]) -> None:
    worst = measure(graphs[name], expected)
    assert {found.output for found in worst} == {"dense", "sparse", "multi_vector"}
    assert KINDS[name].accepts(worst), "\n".join(map(str, worst))


def test_the_sample_would_show_a_mistake(graphs: dict[str, Path], expected: list[Expected]) -> None:
    """Random weights tell the texts apart, so that a cosine of 0.99 to the reference means something."""
    dense = np.stack([case.values["dense"] for case in expected])
    likeness_of_texts = np.triu(dense @ dense.T, 1)
    assert likeness_of_texts.max() < 0.995
    assert np.median(likeness_of_texts[likeness_of_texts > 0]) < 0.95
    assert max(len(case.ids) for case in expected) == 512
    assert len({len(case.ids) for case in expected}) > 8


@pytest.mark.parametrize(("name", "difference"), [("fp32", 2e-5), ("fp16", 5e-3), ("int8", 0.08), ("int4", 1e-4)])
def test_padding_changes_nothing_beyond_rounding(
    name: str, difference: float, graphs: dict[str, Path], expected: list[Expected]
) -> None:
    session = session_of(graphs[name])
    ids = np.array([expected[1].ids], np.int64)
    mask = np.ones_like(ids)
    alone = session.run(None, {"input_ids": ids, "attention_mask": mask})
    # What stands in padded places is no matter: not <pad>, but another text's ids.
    strange = np.pad(ids, ((0, 0), (0, 40)), constant_values=700)
    padded = session.run(None, {"input_ids": strange, "attention_mask": np.pad(mask, ((0, 0), (0, 40)))})
    tokens = ids.shape[1]
    assert np.abs(padded[0] - alone[0]).max() < difference
    for value, single in zip(padded[1:], alone[1:], strict=True):
        assert np.abs(value[:, :tokens] - single).max() < difference
        assert not value[:, tokens:].any()


def test_the_first_token_has_no_vector_of_its_own(graphs: dict[str, Path]) -> None:
    ids = np.array([[0, 50, 60, 2]])
    dense, sparse, vectors = session_of(graphs["fp32"]).run(
        None, {"input_ids": ids, "attention_mask": np.ones_like(ids)}
    )
    assert not vectors[0, 0].any()
    assert np.allclose(np.linalg.norm(vectors[0, 1:], axis=1), 1, atol=1e-5)
    assert np.allclose(np.linalg.norm(dense, axis=1), 1, atol=1e-5)
    assert (sparse >= 0).all()


def test_fp16_stays_finite_where_scores_are_large(tmp_path: Path, checkpoint: Checkpoint) -> None:
    """Queries and keys so large that their product, not yet scaled, would be more than float16 can hold."""
    names = [f"encoder.layer.0.attention.self.{part}.weight" for part in ("query", "key")]
    louder = dict(checkpoint.encoder) | {name: checkpoint.encoder[name] * 100 for name in names}
    graph = build(tmp_path, dataclasses.replace(checkpoint, encoder=louder), "fp16")
    ids = np.arange(4, 104).reshape(2, 50)
    mask = np.ones_like(ids)
    mask[1, 20:] = 0
    for value in session_of(graph).run(None, {"input_ids": ids, "attention_mask": mask}):
        assert np.isfinite(value).all()


@pytest.mark.parametrize("kind", ["xlm-roberta", "bert"])
@pytest.mark.parametrize("name", KINDS)
def test_an_encoder_without_heads_gives_its_token_vectors(
    name: str, kind: str, tmp_path: Path, checkpoint: Checkpoint, in_numpy: NumpyModel
) -> None:
    config = {**checkpoint.config, "model_type": kind}
    prefixed = {f"roberta.{tensor}": value for tensor, value in checkpoint.encoder.items()}
    plain = dataclasses.replace(checkpoint, config=config, sparse=None, multi_vector=None)
    stored = dataclasses.replace(plain, encoder=prefixed)
    found = measure(
        build(tmp_path, stored, name),
        expect(sample.PROOF, encoder(checkpoint.tokenizer, 512), in_numpy(plain)),
    )
    assert [worst.output for worst in found] == ["last_hidden_state"]
    assert KINDS[name].accepts(found), str(found[0])


def test_another_architecture_is_refused_in_one_sentence(checkpoint: Checkpoint) -> None:
    with pytest.raises(SourceError, match=r"should be an XLM-RoBERTa or BERT encoder.*says t5"):
        read_shape({**checkpoint.config, "model_type": "t5"})
    with pytest.raises(SourceError, match="absolute positions"):
        read_shape({**checkpoint.config, "position_embedding_type": "relative_key"})
    with pytest.raises(SourceError, match="hidden_size"):
        read_shape({key: value for key, value in checkpoint.config.items() if key != "hidden_size"})


def vectors(*rows: tuple[float, float]) -> NDArray[np.float32]:
    return np.array(rows, np.float32)


def test_likeness_counts_the_worst_token_and_refuses_what_is_not_zero() -> None:
    expected = vectors((0, 0), (1, 0), (0, 1))
    assert likeness("multi_vector", vectors((0, 0), (2, 0), (0, 3), (0, 0)), expected) == pytest.approx(1)
    assert likeness("multi_vector", vectors((0, 0), (1, 0), (1, 1)), expected) == pytest.approx(0.7071, abs=1e-4)
    assert likeness("multi_vector", vectors((1, 0), (1, 0), (0, 1)), expected) == -1
    assert likeness("sparse", np.array([1, 2, 3, 0], np.float32), np.array([1, 2, 3], np.float32)) == pytest.approx(1)
    assert likeness("sparse", np.array([1, 2, 3, 1], np.float32), np.array([1, 2, 3], np.float32)) == -1
    assert likeness("sparse", np.array([0, 1], np.float32), np.zeros(2, np.float32)) == 0
    assert likeness("dense", np.array([np.nan, 1], np.float32), np.array([0, 1], np.float32)) == -1
