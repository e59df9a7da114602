"""Batches: every text once, within the bounds, and vectors that come back in the order of the texts."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.embed.batches import SIZES, Limits, padded, plan
from recall.embed.embedder import Embedder
from tiny_model import WORDS, tiny_model

LENGTHS = st.lists(st.integers(1, 600), max_size=80)
LIMITS = st.builds(
    Limits,
    tokens=st.integers(1, 4096),
    texts=st.integers(1, 70),
    longest=st.sampled_from([600, 1024, 8192]),
    waste=st.floats(0, 1),
    few_shapes=st.booleans(),
)


@given(LENGTHS, LIMITS)
def test_every_text_is_in_one_batch_that_holds_it(lengths: list[int], limits: Limits) -> None:
    batches = plan(lengths, limits)
    assert sorted(row for batch in batches for row in batch.rows) == list(range(len(lengths)))
    for batch in batches:
        assert 1 <= len(batch.rows) <= batch.texts
        assert max(lengths[row] for row in batch.rows) <= batch.tokens


@given(LENGTHS, LIMITS)
def test_batches_of_several_texts_stay_within_all_bounds(lengths: list[int], limits: Limits) -> None:
    for batch in plan(lengths, limits):
        assert len(batch.rows) <= limits.texts
        if len(batch.rows) > 1:
            assert batch.texts * batch.tokens <= limits.tokens
            held = [lengths[row] for row in batch.rows]
            assert sum(held) >= (1 - limits.waste) * len(held) * max(held) - 1e-6


@given(LENGTHS, LIMITS)
def test_a_batch_planned_again_stays_one_batch_of_the_same_shape(lengths: list[int], limits: Limits) -> None:
    for batch in plan(lengths, limits):
        (again,) = plan([lengths[row] for row in batch.rows], limits)
        assert again == (tuple(range(len(batch.rows))), batch.texts, batch.tokens)


@given(LENGTHS, LIMITS)
def test_texts_that_go_alone_keep_their_order_and_the_others_go_by_length(lengths: list[int], limits: Limits) -> None:
    order = [row for batch in plan(lengths, limits) for row in batch.rows]
    if limits.texts == 1:
        assert order == list(range(len(lengths)))
    else:
        assert [lengths[row] for row in order] == sorted(lengths, reverse=True)


@given(LENGTHS)
def test_a_gpu_sees_few_shapes_and_none_beyond_what_the_model_takes(lengths: list[int]) -> None:
    limits = Limits(tokens=16384, texts=64, longest=600, few_shapes=True)
    shapes = {(batch.texts, batch.tokens) for batch in plan(lengths, limits)}
    assert {texts for texts, _ in shapes} <= {1, 2, 4, 8, 16, 32, 64}
    assert {tokens for _, tokens in shapes} <= {*SIZES, 600}


@pytest.mark.parametrize(("length", "size"), [(1, 16), (16, 16), (17, 32), (300, 384), (513, 1024), (5000, 8192)])
def test_lengths_are_padded_to_the_next_size(length: int, size: int) -> None:
    assert padded(length, Limits(tokens=1, texts=1, longest=8192, few_shapes=True)) == size
    assert padded(length, Limits(tokens=1, texts=1, longest=8192)) == length


@pytest.fixture(scope="module")
def embedder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Embedder]:
    folder: Path = tmp_path_factory.mktemp("tiny")
    yield Embedder(tiny_model(folder), threads=1)


@given(texts=st.lists(st.lists(st.sampled_from(WORDS), max_size=70).map(" ".join), max_size=40))
def test_each_text_gets_the_vector_that_it_has_alone_in_its_own_place(texts: list[str], embedder: Embedder) -> None:
    together, queries = embedder.embed_passages(texts), embedder.embed_queries(texts)
    assert together.shape == queries.shape == (len(texts), embedder.dimension)
    alone = np.array([embedder.embed_query(text) for text in texts]).reshape(together.shape)
    assert np.allclose(together, alone, atol=1e-5)
    assert np.allclose(queries, alone, atol=1e-5)
