"""A very small encoder as a real ONNX graph with a real tokenizer, and the same arithmetic in numpy.

A token's vector is its row of the vocabulary plus half the mean over the text, so that every vector depends on the
whole text and shows when padding was counted in.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from recall.embed.manifest import Gate, Manifest, ModelFile, Outputs, Pooling, Variant

WORDS = "one two three four five six seven eight nine ten".split()
SPECIAL = ("<s>", "<pad>", "</s>", "<unk>")
WIDTH, NARROW = 8, 4

_GATE = Gate(floor=0.0, weak=0.0, strong=1.0, near=0.0)


@dataclass(frozen=True)
class Shape:
    """How the graph is to look: inputs, names of its outputs, and their type."""

    masked: bool = True
    positions: bool = False
    whole: int = TensorProto.INT64
    real: int = TensorProto.FLOAT
    tokens: str = "last_hidden_state"
    sentence: str = "sentence_embedding"
    sparse: str = "sparse_weights"
    multi_vector: str = "token_vectors"
    mixing: bool = False  # whether the mean is that of all texts of a call
    ahead: int = 0  # tokens that the multi-vector head leaves out at the beginning


@dataclass(frozen=True)
class Weights:
    """Of one seed."""

    seed: int = 1
    vocabulary: NDArray[np.float32] = field(init=False)
    sparse: NDArray[np.float32] = field(init=False)
    multi_vector: NDArray[np.float32] = field(init=False)

    def __post_init__(self) -> None:
        random = np.random.default_rng(self.seed)
        for name, shape in (
            ("vocabulary", (len(SPECIAL) + len(WORDS), WIDTH)),
            ("sparse", (WIDTH, 1)),
            ("multi_vector", (WIDTH, NARROW)),
        ):
            object.__setattr__(self, name, random.normal(size=shape).astype(np.float32))

    def tokens(self, ids: Sequence[int]) -> NDArray[np.float32]:
        """float32[tokens, WIDTH]: what the graph gives for one text."""
        rows = self.vocabulary[list(ids)]
        states: NDArray[np.float32] = rows + rows.mean(axis=0) / 2
        return states


def encode(text: str) -> list[int]:
    """The ids that the tokenizer gives."""
    vocabulary = [*SPECIAL, *WORDS]
    return [0, *(vocabulary.index(word) if word in WORDS else 3 for word in text.split()), 2]


def tiny_model(
    folder: Path,
    pooling: Pooling = "mean",
    outputs: Outputs | None = None,
    shape: Shape | None = None,
    weights: Weights | None = None,
) -> Manifest:
    """Write graph and tokenizer into `folder`, which is made; the manifest has no prefixes and takes 64 tokens."""
    folder.mkdir(parents=True, exist_ok=True)
    graph, tokenizer = folder / "model.onnx", folder / "tokenizer.json"
    graph.write_bytes(_graph(shape or Shape(), weights or Weights()))
    tokenizer.write_text(json.dumps(_tokenizer()), "utf-8")
    return Manifest(
        name="tiny",
        licence="MIT",
        terms="",
        origin="",
        languages="",
        tokenizer=tokenizer,
        variants=(Variant("fp32", ("cpu", "cuda", "coreml"), (graph,)),),
        outputs=outputs or Outputs(),
        dimension=WIDTH,
        pooling=pooling,
        query_prefix="",
        passage_prefix="",
        max_tokens=64,
        gate=_GATE,
        files={path: ModelFile(path, "0" * 64, path.stat().st_size, path.name) for path in (graph, tokenizer)},
    )


def _graph(shape: Shape, weights: Weights) -> bytes:
    nodes: list[onnx.NodeProto] = []

    def node(kind: str, inputs: Sequence[str], output: str, **attributes: Any) -> str:
        nodes.append(helper.make_node(kind, inputs, [output], **attributes))
        return output

    inputs = [
        "input_ids",
        *(["attention_mask"] if shape.masked else []),
        *(["position_ids"] if shape.positions else []),
    ]
    rows = node("Gather", ["vocabulary", "input_ids"], "rows")
    if shape.masked:
        mask = node("Cast", ["attention_mask"], "mask.real", to=TensorProto.FLOAT)
        mask = node("Unsqueeze", [mask, "last"], "mask")
        total = node("ReduceSum", [node("Mul", [rows, mask], "rows.kept"), "averaged"], "total", keepdims=1)
        count = node("ReduceSum", [mask, "averaged"], "count", keepdims=1)
        mean = node("Div", [total, count], "mean")
    else:
        mean = node("ReduceMean", [rows], "mean", axes=[1], keepdims=1)
    states = node("Add", [rows, node("Mul", [mean, "half"], "mean.half")], "states")
    if shape.positions:  # a token's vector times its place, so that wrong places show
        places = node("Cast", ["position_ids"], "places.real", to=TensorProto.FLOAT)
        states = node("Mul", [states, node("Unsqueeze", [places, "last"], "places")], "states.placed")
    first = node("Gather", [states, "zero"], "first", axis=1)
    weight = node("Relu", [node("MatMul", [states, "sparse.weight"], "sparse.product")], "sparse.relu")
    vectors = node("MatMul", [states, "multi_vector.weight"], "multi_vector.product")
    if shape.ahead:
        vectors = node("Slice", [vectors, "ahead", "end", "second"], "multi_vector.later")
    outputs = {shape.tokens: states, shape.sentence: first, shape.sparse: weight, shape.multi_vector: vectors}
    for name, value in outputs.items():
        node("Cast", [value], name, to=shape.real)
    constants: dict[str, NDArray[Any]] = {
        "vocabulary": weights.vocabulary,
        "sparse.weight": weights.sparse,
        "multi_vector.weight": weights.multi_vector,
        "half": np.array(0.5, np.float32),
        "zero": np.array(0, np.int64),
        "last": np.array([2], np.int64),
        "second": np.array([1], np.int64),
        "averaged": np.array([0, 1] if shape.mixing else [1], np.int64),
        "ahead": np.array([shape.ahead], np.int64),
        "end": np.array([1 << 30], np.int64),
    }
    graph = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info(name, shape.whole, ["texts", "tokens"]) for name in inputs],
        [helper.make_tensor_value_info(name, shape.real, None) for name in outputs],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    return bytes(model.SerializeToString())


def _tokenizer() -> dict[str, object]:
    vocabulary = {word: number for number, word in enumerate((*SPECIAL, *WORDS))}
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [{"id": vocabulary[word], "content": word, **flags} for word in SPECIAL],
        "normalizer": None,
        "pre_tokenizer": {"type": "WhitespaceSplit"},
        "post_processor": {
            "type": "RobertaProcessing",
            "sep": ["</s>", 2],
            "cls": ["<s>", 0],
            "trim_offsets": True,
            "add_prefix_space": False,
        },
        "decoder": None,
        "model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": "<unk>"},
    }
