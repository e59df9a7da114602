"""The onnxruntime session: what graphs it takes, which errors are ours, and that nothing reaches stderr."""

from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto

from recall.core.errors import ModelError
from recall.embed.catalog import find_model
from recall.embed.manifest import Outputs
from recall.embed.session import Interrupted, OnnxRuntime, Session, Stop
from tiny_model import Shape, Weights, encode, tiny_model

IDS = np.array([encode("one two three"), encode("ten ten ten")], np.int64)
MASK = np.ones_like(IDS)
ALL = Outputs("last_hidden_state", "sparse_weights", "token_vectors")


def load(folder: Path, shape: Shape | None = None, outputs: Outputs = ALL) -> Session:
    return Session(tiny_model(folder, shape=shape).variants[0].weights, outputs, 1)


def test_a_damaged_graph_is_an_error_of_ours_and_prints_nothing(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(b"not a graph")
    with pytest.raises(ModelError, match=r"could not load .*model\.onnx") as caught:
        Session(path, Outputs(), 1)
    assert "\n" not in str(caught.value)
    assert capfd.readouterr() == ("", "")


def test_token_vectors_come_out_for_each_token_of_each_text(capfd: pytest.CaptureFixture[str]) -> None:
    session = Session(find_model("multilingual-e5-small", None).variant_for("cpu").weights, Outputs(), 1)
    ids = np.array([[0, 35378, 8999, 38, 2], [0, 41, 1294, 12, 2]])
    one, two = session.run(ids[:1], np.ones_like(ids[:1])), session.run(ids, np.ones_like(ids), heads=True)
    assert (one.dense.shape, two.dense.shape) == ((1, 5, 384), (2, 5, 384))
    assert one.dense.dtype == np.float32
    assert two.sparse is two.multi_vector is None
    assert not session.masked
    assert capfd.readouterr() == ("", "")


def test_heads_come_only_when_they_are_asked_for(tmp_path: Path) -> None:
    session = load(tmp_path)
    assert session.masked
    assert session.run(IDS, MASK)[1:] == (None, None)
    states = np.stack([Weights().tokens(ids) for ids in IDS.tolist()])
    dense, sparse, vectors = session.run(IDS, MASK, heads=True)
    assert sparse is not None
    assert vectors is not None
    assert np.allclose(dense, states, atol=1e-6)
    assert np.allclose(sparse, np.maximum(states @ Weights().sparse, 0), atol=1e-6)
    assert np.allclose(vectors, states @ Weights().multi_vector, atol=1e-6)


def test_half_precision_comes_out_as_float32(tmp_path: Path) -> None:
    output = load(tmp_path, Shape(real=TensorProto.FLOAT16)).run(IDS, MASK, heads=True)
    assert {value.dtype for value in output if value is not None} == {np.dtype(np.float32)}
    assert np.allclose(output.dense[0], Weights().tokens(IDS[0].tolist()), atol=1e-2)


def test_positions_and_ids_of_32_bits_are_given_to_a_graph_that_wants_them(tmp_path: Path) -> None:
    output = load(tmp_path, Shape(positions=True, whole=TensorProto.INT32)).run(IDS, MASK)
    places = np.arange(IDS.shape[1])[:, None]
    assert np.allclose(output.dense[0], Weights().tokens(IDS[0].tolist()) * places, atol=1e-5)


def test_an_output_that_the_graph_lacks_is_named_with_those_it_has(tmp_path: Path) -> None:
    with pytest.raises(ModelError) as caught:
        load(tmp_path, Shape(tokens="token_embeddings"))
    assert "should have the output last_hidden_state, but has token_embeddings, sentence_embedding, sparse" in str(
        caught.value
    )


def test_an_input_that_nobody_can_give_is_named(tmp_path: Path) -> None:
    manifest = tiny_model(tmp_path)
    graph = manifest.variants[0].weights
    graph.write_bytes(graph.read_bytes().replace(b"attention_mask", b"attention_bias"))
    with pytest.raises(ModelError, match="wants the input attention_bias, but only input_ids"):
        Session(graph, Outputs(), 1)


def test_a_device_that_onnxruntime_was_built_without_is_an_error_and_prints_nothing(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    runtime = OnnxRuntime()
    missing = {"cuda", "coreml"} - set(runtime.devices())
    for device in ("cuda", "coreml"):
        if device in missing:
            with pytest.raises(ModelError, match="was built without"):
                runtime.load(tiny_model(tmp_path).variants[0].weights, Outputs(), device, 1)
    assert missing
    assert capfd.readouterr() == ("", "")


def test_a_stopped_run_raises_and_the_session_goes_on(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    session = load(tmp_path)
    expected = session.run(IDS, MASK)
    stop = Stop()
    stop.request()
    with pytest.raises(Interrupted):
        session.run(IDS, MASK, stop=stop)
    assert np.array_equal(session.run(IDS, MASK, stop=Stop()).dense, expected.dense)
    assert capfd.readouterr() == ("", "")


def test_a_failure_without_a_stop_is_not_taken_for_one(tmp_path: Path) -> None:
    session = load(tmp_path)
    with pytest.raises(Exception, match="indices element out of data bounds") as caught:
        session.run(np.full_like(IDS, 9999), MASK, stop=Stop())
    assert not isinstance(caught.value, Interrupted)
