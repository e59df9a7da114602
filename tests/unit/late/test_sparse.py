"""Sparse weights: kept beside a sketch, matched by token, and part of a score where the model has the head."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.core.types import KINDS, Document
from recall.embed.embedder import Embedder
from recall.embed.manifest import Outputs, Weights
from recall.evals.measure import index_corpus
from recall.late.late import Late
from recall.late.sparse import LARGEST, MOST, attach, detach
from recall.search.answer import ask
from recall.search.score import score
from tiny_model import tiny_model

WEIGHTS = st.dictionaries(st.integers(0, 2**32 - 1), st.floats(0.001, 2.0), max_size=MOST)


def test_texts_match_by_the_tokens_that_both_have() -> None:
    texts = [attach(b"one", {7: 0.5, 9: 0.25}), attach(b"two", None), attach(b"three", {9: 1.0, 11: 2.0})]
    sketches, sparse = detach(texts)
    assert sketches == [b"one", b"two", b"three"]
    assert sparse.match({9: 2.0, 7: 1.0, 8: 5.0}).tolist() == [1.0, 0.0, 2.0]
    assert sparse.match({}).tolist() == [0.0, 0.0, 0.0]


@given(st.lists(st.tuples(st.binary(min_size=1, max_size=50), WEIGHTS), max_size=6), WEIGHTS)
def test_what_is_attached_comes_off_again_and_matches(
    texts: list[tuple[bytes, dict[int, float]]], asked: dict[int, float]
) -> None:
    stored = [attach(sketch, weights) for sketch, weights in texts]
    sketches, sparse = detach(stored)
    assert sketches == [sketch for sketch, _ in texts]
    wanted = [sum(value * asked.get(token, 0.0) for token, value in weights.items()) for _, weights in texts]
    assert np.allclose(sparse.match(asked), wanted, rtol=2e-3, atol=1e-3)


def test_the_heaviest_are_kept_and_an_empty_sketch_stays_empty() -> None:
    many = {token: 1.0 + token for token in range(3 * MOST)}
    (sketch,), sparse = detach([attach(b"s", many)])
    assert len(attach(b"s", many)) == len(sketch) + LARGEST
    assert sorted(sparse.tokens.tolist()) == list(range(2 * MOST, 3 * MOST))
    assert attach(b"", many) == b""
    with pytest.raises(ValueError, match="sparse"):
        detach([b"\x00\x00"])


def test_a_models_sparse_head_takes_part_in_the_score(tmp_path: Path) -> None:
    manifest = tiny_model(tmp_path, "cls", Outputs("last_hidden_state", "sparse_weights", "token_vectors"))
    embedder = Embedder(manifest)
    late = Late(embedder)
    documents = [
        Document("memory", str(tmp_path / f"{name}.md"), str(tmp_path), name, name, name)
        for name in ("one", "two", "three")
    ]
    corpus = index_corpus(tmp_path, documents, embedder, late)
    question = "one two"
    asked = ask(embedder.heads([question])[0], late, question)
    assert asked.sparse
    everything = corpus.source.snapshot.scope(None, KINDS)
    without, with_head = (score(corpus.source, asked, everything, Weights(sparse=weight)).late for weight in (0.0, 1.0))
    gained = (with_head - without) * corpus.source.snapshot.late_deviation
    assert gained.max() > 0
    assert gained.min() >= 0
