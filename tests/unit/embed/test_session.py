"""The onnxruntime session: damaged files become one error, and nothing reaches stderr."""

from pathlib import Path

import numpy as np
import pytest

from recall.core.errors import ModelError
from recall.embed.catalog import find_model
from recall.embed.session import Session


def test_a_damaged_graph_is_an_error_of_ours_and_prints_nothing(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(b"not a graph")
    with pytest.raises(ModelError, match=r"could not load .*model\.onnx"):
        Session(path, 1)
    assert capfd.readouterr() == ("", "")


def test_token_vectors_come_out_for_each_token_of_each_text(capfd: pytest.CaptureFixture[str]) -> None:
    session = Session(find_model("multilingual-e5-small", None).variant_for("cpu").weights, 1)
    one = session.run(np.array([[0, 35378, 8999, 38, 2]]))
    two = session.run(np.array([[0, 35378, 8999, 38, 2], [0, 41, 1294, 12, 2]]))
    assert (one.shape, two.shape) == ((1, 5, 384), (2, 5, 384))
    assert one.dtype == np.float32
    assert capfd.readouterr() == ("", "")
