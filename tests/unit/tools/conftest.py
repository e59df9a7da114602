"""A small random bge-m3 in the hub's layout, and what plain numpy makes of it."""

import functools
import math
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools"))  # its packages are imported as the scripts there do it

from export.proof import Reference, Values  # noqa: E402
from export.stand_in import SIZES, write_stand_in  # noqa: E402
from export.weights import Checkpoint, Origin, Tensors, read_checkpoint  # noqa: E402

TOKENIZER = ROOT / "models" / "multilingual-e5-small" / "tokenizer.json"

Matrix = NDArray[np.float64]


@pytest.fixture(scope="session")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder like a download of bge-m3, with random weights."""
    folder = tmp_path_factory.mktemp("source") / "bge-m3"
    write_stand_in(folder, SIZES["small"], TOKENIZER, seed=1)
    return folder


@pytest.fixture(scope="session")
def checkpoint(weights: Path) -> Checkpoint:
    return read_checkpoint(weights, Origin("random", "1"), heads=True)


@pytest.fixture(scope="session")
def reference(checkpoint: Checkpoint) -> Reference:
    """What the published model would be."""
    return numpy_reference(checkpoint)


@pytest.fixture(scope="session")
def in_numpy() -> Callable[[Checkpoint], Reference]:
    """Makes the published model out of a checkpoint, in float64 and one line for each formula."""
    return numpy_reference


def numpy_reference(checkpoint: Checkpoint) -> Reference:
    """XLM-RoBERTa and bge-m3's heads on one text without padding; a text is computed once."""

    @functools.cache
    def computed(ids: tuple[int, ...]) -> Values:
        state = encode(checkpoint, list(ids))
        sparse, multi_vector = checkpoint.sparse, checkpoint.multi_vector
        if sparse is None or multi_vector is None:
            return {"last_hidden_state": state.astype(np.float32)}
        vectors = unit(linear(multi_vector, "", state))
        vectors[0] = 0
        found = {"dense": unit(state[:1])[0], "sparse": np.maximum(linear(sparse, "", state)[:, 0], 0)}
        return {name: value.astype(np.float32) for name, value in {**found, "multi_vector": vectors}.items()}

    return lambda ids: computed(tuple(ids))


def encode(checkpoint: Checkpoint, ids: list[int]) -> Matrix:
    """The last layer's state [tokens, width]."""
    config, tensors = checkpoint.config, checkpoint.encoder
    first = 0 if config["model_type"] == "bert" else config["pad_token_id"] + 1
    words, places, types = (
        tensors[f"embeddings.{name}_embeddings.weight"].astype(np.float64)
        for name in ("word", "position", "token_type")
    )
    state = norm(tensors, "embeddings.LayerNorm", words[ids] + places[first : first + len(ids)] + types[0], config)
    for layer in range(config["num_hidden_layers"]):
        name = f"encoder.layer.{layer}"
        heads = config["num_attention_heads"]
        query, key, value = (
            linear(tensors, f"{name}.attention.self.{part}.", state).reshape(len(ids), heads, -1).swapaxes(0, 1)
            for part in ("query", "key", "value")
        )
        scores = np.exp(query @ key.swapaxes(1, 2) / math.sqrt(query.shape[-1]))
        mixed = (scores / scores.sum(-1, keepdims=True) @ value).swapaxes(0, 1).reshape(len(ids), -1)
        attended = linear(tensors, f"{name}.attention.output.dense.", mixed)
        middle = norm(tensors, f"{name}.attention.output.LayerNorm", state + attended, config)
        up = linear(tensors, f"{name}.intermediate.dense.", middle)
        active = up * (1 + np.vectorize(math.erf)(up / math.sqrt(2))) / 2
        down = linear(tensors, f"{name}.output.dense.", active)
        state = norm(tensors, f"{name}.output.LayerNorm", middle + down, config)
    return state


def linear(tensors: Tensors, name: str, values: Matrix) -> Matrix:
    return values @ tensors[f"{name}weight"].T.astype(np.float64) + tensors[f"{name}bias"]


def norm(tensors: Tensors, name: str, values: Matrix, config: Mapping[str, Any]) -> Matrix:
    centred = values - values.mean(-1, keepdims=True)
    spread = np.sqrt((centred**2).mean(-1, keepdims=True) + config["layer_norm_eps"])
    found: Matrix = centred / spread * tensors[f"{name}.weight"] + tensors[f"{name}.bias"]
    return found


def unit(vectors: Matrix) -> Matrix:
    found: Matrix = vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)
    return found
