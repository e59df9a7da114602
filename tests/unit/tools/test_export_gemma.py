"""The export of embeddinggemma-300m: every variant of a small random model against plain numpy, one text at a time."""

import argparse
import io
import json
import math
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools"))  # its packages are imported as the scripts there do it

import export_embeddinggemma as tool  # noqa: E402
from export.command import ExportError  # noqa: E402
from export.gemma import build_graph  # noqa: E402
from export.gemma_weights import DENSE, Gemma, balance, read_gemma, read_layer, read_shape, write_stand_in  # noqa: E402
from export.proof import encoder  # noqa: E402
from export.weights import Origin, SourceError  # noqa: E402
from recall.embed.embedder import Embedder  # noqa: E402
from recall.embed.manifest_file import read_manifest  # noqa: E402

TOKENIZER = ROOT / "models" / "multilingual-e5-small" / "tokenizer.json"

#: Of short and long texts, the longest four times as long as the window's two sides together.
LENGTHS = (1, 2, 7, 16, 33, 70)

Matrix = NDArray[np.float64]


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder like a download of the model, with random weights."""
    folder = tmp_path_factory.mktemp("source") / "embeddinggemma"
    write_stand_in(folder, TOKENIZER, seed=1)
    return folder


@pytest.fixture(scope="module")
def model(weights: Path) -> Gemma:
    return read_gemma(weights, Origin("random", "1"))


@pytest.fixture(scope="module")
def texts(model: Gemma) -> list[list[int]]:
    random = np.random.default_rng(3)
    return [random.integers(3, 7_000, length).tolist() for length in LENGTHS]


@pytest.fixture(scope="module")
def exported(model: Gemma, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the tool makes, with every variant, proven against numpy in torch's place."""
    out = tmp_path_factory.mktemp("models") / tool.NAME
    names = ["int8", "fp16", "fp32", "int4"]
    assert tool.export(model, out, names, numpy_reference(model), max_tokens=512, force=False) == ()
    return out


def numpy_reference(model: Gemma) -> Callable[[list[int]], dict[str, NDArray[np.float32]]]:
    def run(ids: list[int]) -> dict[str, NDArray[np.float32]]:
        dense, multi_vector = in_numpy(model, ids)
        return {"dense": dense.astype(np.float32), "multi_vector": multi_vector.astype(np.float32)}

    return run


def in_numpy(model: Gemma, ids: list[int]) -> tuple[Matrix, Matrix]:
    """`dense` and `multi_vector` of one text, from the configuration and the published tensors alone."""
    config, tensors = model.checkpoint.config, model.checkpoint.encoder
    width, heads, keys = config["head_dim"], config["num_attention_heads"], config["num_key_value_heads"]

    def norm(name: str, values: Matrix) -> Matrix:
        gain: Matrix = 1 + tensors[f"{name}norm.weight"].astype(np.float64)
        even: Matrix = values / np.sqrt((values**2).mean(-1, keepdims=True) + config["rms_norm_eps"])
        return even * gain

    def linear(name: str, values: Matrix) -> Matrix:
        return values @ tensors[f"{name}_proj.weight"].astype(np.float64).T

    state = tensors["embed_tokens.weight"][ids].astype(np.float64) * math.sqrt(config["hidden_size"])
    for layer, kind in enumerate(config["layer_types"]):
        name, attention = f"layers.{layer}.", f"layers.{layer}.self_attn."
        near = kind == "sliding_attention"
        calm = norm(f"{name}input_layer", state)
        query, key, value = (linear(f"{attention}{part}", calm).reshape(len(ids), -1, width) for part in "qkv")
        base = config["rope_local_base_freq"] if near else config["rope_theta"]
        query, key = (rotate(norm(f"{attention}{part}_", x), base) for part, x in (("q", query), ("k", key)))
        distance = np.abs(np.arange(len(ids))[:, None] - np.arange(len(ids)))
        mixed = []
        for head in range(heads):
            shared = head // (heads // keys)
            scores = query[:, head] @ key[:, shared].T * config["query_pre_attn_scalar"] ** -0.5
            if near:
                scores[distance > config["sliding_window"] // 2] = -np.inf
            shares = np.exp(scores - scores.max(-1, keepdims=True))
            mixed.append(shares / shares.sum(-1, keepdims=True) @ value[:, shared])
        state = state + norm(f"{name}post_attention_layer", linear(f"{attention}o", np.concatenate(mixed, axis=1)))
        calm = norm(f"{name}pre_feedforward_layer", state)
        gate, up = linear(f"{name}mlp.gate", calm), linear(f"{name}mlp.up", calm)
        gate = gate / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (gate + 0.044715 * gate**3)))
        state = state + norm(f"{name}post_feedforward_layer", linear(f"{name}mlp.down", gate * up))
    tokens = norm("", state)
    vector = tokens.mean(0)
    for file in DENSE:
        from safetensors.numpy import load_file

        vector = load_file(model.checkpoint.tokenizer.parent / file)["linear.weight"].astype(np.float64) @ vector
    return vector / np.linalg.norm(vector), tokens / np.linalg.norm(tokens, axis=1, keepdims=True)


def rotate(heads: Matrix, base: float) -> Matrix:
    """[tokens, heads, width] with each pair (i, i + width / 2) turned by position / base^(2 i / width)."""
    half = heads.shape[-1] // 2
    angles = np.arange(len(heads))[:, None] * base ** (-np.arange(half) / half)
    turned = (heads[..., :half] + 1j * heads[..., half:]) * np.exp(1j * angles)[:, None]
    return np.concatenate([turned.real, turned.imag], axis=-1)


def session(graph: Path) -> Any:
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    import onnxruntime

    runtime: Any = onnxruntime
    return runtime.InferenceSession(str(graph), providers=["CPUExecutionProvider"])


def run(opened: Any, texts: list[list[int]]) -> list[NDArray[np.float32]]:
    """`dense` and `multi_vector` of texts in one batch, padded on the right with an id that is no padding's."""
    longest = max(map(len, texts))
    ids = np.array([[*text, *[9] * (longest - len(text))] for text in texts], np.int64)
    mask = np.array([[1] * len(text) + [0] * (longest - len(text)) for text in texts], np.int64)
    found: list[NDArray[np.float32]] = opened.run(["dense", "multi_vector"], {"input_ids": ids, "attention_mask": mask})
    return found


#: Cosines to numpy: of the text's vector, and of its tokens' on the average.
LIMITS = {"fp32": (0.999999, 0.999999), "fp16": (0.99999, 0.99999), "int8": (0.998, 0.998), "int4": (0.98, 0.98)}


@pytest.mark.parametrize("name", LIMITS)
def test_every_variant_is_close_to_numpy_alone_and_in_a_padded_batch(
    name: str, exported: Path, model: Gemma, texts: list[list[int]]
) -> None:
    opened = session(exported / f"model-{name}.onnx")
    together = run(opened, texts)
    for row, text in enumerate(texts):
        dense, tokens = in_numpy(model, text)
        alone = run(opened, [text])
        for found in ((alone[0][0], alone[1][0]), (together[0][row], together[1][row])):
            assert np.linalg.norm(found[0]) == pytest.approx(1, abs=1e-4)
            assert found[0] @ dense >= LIMITS[name][0]
            assert (found[1][: len(text)] * tokens).sum(1).mean() >= LIMITS[name][1]
            assert not found[1][len(text) :].any()


def test_the_random_model_tells_texts_apart(model: Gemma, texts: list[list[int]]) -> None:
    """Else cosines near 1 would say nothing."""
    dense = np.stack([in_numpy(model, text)[0] for text in texts])
    assert np.triu(dense @ dense.T, 1).max() < 0.9


def test_the_window_counts(exported: Path, weights: Path, tmp_path: Path, texts: list[list[int]]) -> None:
    """A wider window must change long texts and leave short ones alone."""
    config = json.loads((weights / "config.json").read_text("utf-8"))
    wide = tmp_path / "wide"
    wide.mkdir()
    for path in weights.rglob("*"):
        if path.is_file() and path.name != "config.json":
            (wide / path.relative_to(weights)).parent.mkdir(exist_ok=True)
            (wide / path.relative_to(weights)).symlink_to(path)
    (wide / "config.json").write_text(json.dumps(config | {"sliding_window": 512}), "utf-8")
    with (tmp_path / "wide.onnx.data").open("wb") as data:
        graph = build_graph(read_gemma(wide, Origin("random", "1")), "float32", data, "wide.onnx.data")
    (tmp_path / "wide.onnx").write_bytes(graph.file)
    usual, wider = session(exported / "model-fp32.onnx"), session(tmp_path / "wide.onnx")
    for text in texts:
        likeness = float(run(usual, [text])[0][0] @ run(wider, [text])[0][0])
        # Tokens up to half the window away are seen: a text of 9 tokens is the longest that fits.
        assert likeness == pytest.approx(1, abs=1e-6) if len(text) <= 9 else likeness < 0.9999


def test_balancing_changes_no_value_of_a_layer(model: Gemma) -> None:
    shape, random = model.shape, np.random.default_rng(5)
    layer = read_layer(model.checkpoint.encoder, 0)
    maxima = {
        "layer0.qkv": np.exp(random.normal(0, 2, shape.hidden)),
        "layer0.attended": np.exp(random.normal(0, 2, shape.heads * shape.head_width)),
        "layer0.feed": np.exp(random.normal(0, 2, shape.hidden)),
        "layer0.down": np.exp(random.normal(0, 2, shape.feed_forward)),
    }
    even = balance(layer, shape, "layer0", {name: values.astype(np.float32) for name, values in maxima.items()})
    assert not np.allclose(layer.before_attention, even.before_attention)
    assert not np.allclose(layer.down, even.down)

    def products(one: Any) -> list[Matrix]:
        groups = np.repeat(one.value.reshape(shape.hidden, shape.key_heads, -1), shape.group, axis=1)
        return [
            one.before_attention[:, None] * np.concatenate([one.query, one.key], axis=1),
            (one.before_attention[:, None] * groups.reshape(shape.hidden, -1)) @ one.attended,
            one.before_feed[:, None] * one.gate,
            (one.before_feed[:, None] * one.up) @ one.down,
        ]

    for before, after in zip(products(layer), products(even), strict=True):
        np.testing.assert_allclose(after, before, atol=2e-5 * np.abs(before).max())


def test_the_product_embeds_with_the_folder(exported: Path, model: Gemma) -> None:
    manifest = read_manifest(exported / "manifest.toml", exported)
    manifest.verify()
    assert manifest.licence == "Gemma Terms of Use"
    assert manifest.terms == "https://ai.google.dev/gemma/terms"
    assert [variant.name for variant in manifest.variants] == ["int8", "fp16", "fp32", "int4"]
    embedder = Embedder(manifest, device="cpu", threads=1)
    question = "データベースの移行に失敗したときの戻し方"
    ids = encoder(manifest.tokenizer, 512)(f"task: search result | query: {question}")
    assert embedder.embed_query(question) @ in_numpy(model, ids)[0] > 0.998


def test_a_variant_that_falls_short_is_left_out(model: Gemma, tmp_path: Path) -> None:
    """The published model is made to differ from the weights, as a wrong export would."""
    random = np.random.default_rng(7)

    def wrong(ids: list[int]) -> dict[str, NDArray[np.float32]]:
        values = numpy_reference(model)(ids)
        noise = random.standard_normal(values["dense"].shape) / 50
        return values | {"dense": (values["dense"] + noise).astype(np.float32)}

    out = tmp_path / "model"
    with pytest.raises(ExportError, match="nothing was written"):
        tool.export(model, out, ["fp32"], wrong, max_tokens=512, force=False)
    assert not list(tmp_path.iterdir())
    assert tool.export(model, out, ["fp32"], wrong, max_tokens=512, force=True) == ("fp32",)
    assert (out / "model-fp32.onnx").is_file()


def test_a_folder_that_is_no_exported_model_is_not_replaced(model: Gemma, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine", "utf-8")
    with pytest.raises(ExportError, match="is no exported model"):
        tool.export(model, tmp_path, ["fp32"], numpy_reference(model), max_tokens=512, force=False)
    assert (tmp_path / "mine.txt").read_text("utf-8") == "mine"


def test_another_architecture_is_refused(model: Gemma) -> None:
    config = dict(model.checkpoint.config)
    with pytest.raises(SourceError, match="Gemma 3 text encoder"):
        read_shape(config | {"use_bidirectional_attention": False})
    with pytest.raises(SourceError, match="hidden_activation"):
        read_shape(config | {"hidden_activation": "silu"})
    del config["head_dim"]
    with pytest.raises(SourceError, match="head_dim"):
        read_shape(config)


def test_a_folder_without_the_dense_layers_is_refused(weights: Path, tmp_path: Path) -> None:
    for name in ("config.json", "tokenizer.json", "model.safetensors"):
        (tmp_path / name).symlink_to(weights / name)
    with pytest.raises(SourceError, match="2_Dense"):
        read_gemma(tmp_path, Origin("random", "1"))


def test_graphs_are_the_same_bytes_each_time(model: Gemma) -> None:
    def build() -> tuple[bytes, bytes]:
        data = io.BytesIO()
        return build_graph(model, "int8", data, "data").file, data.getvalue()

    assert build() == build()


def test_the_terms_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        tool.parse(["--help"])
    assert tool.TERMS in capsys.readouterr().out
    assert isinstance(tool.parse(["folder"]), argparse.Namespace)
