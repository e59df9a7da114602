"""Sketches against the token vectors that they stand for."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recall.embed.encoder import unit
from recall.late.sketch import LARGEST, TOKENS, WIDTH, Floats, Sketcher, closest, distinct


def tokens(count: int, width: int, seed: int = 0) -> Floats:
    """Vectors that share a direction, as a model's do."""
    rng = np.random.default_rng(seed)
    vectors = (rng.standard_normal((count, width)) + 1.5 * rng.standard_normal(width)).astype(np.float32)
    return unit(vectors)


@pytest.mark.parametrize("width", [30, 32, 384, 768, 1024])
def test_the_closest_token_is_about_as_close_as_it_was(width: int) -> None:
    sketcher = Sketcher(width)
    texts = [tokens(count, width, count) for count in (1, 7, 60)]
    question = tokens(9, width, 5)
    found = closest(sketcher.project(question), sketcher.unpack([sketcher.pack(text) for text in texts]))
    exact = np.stack([(question @ text.T).max(axis=1) for text in texts])
    assert found.shape == (3, 9)
    assert np.abs(found - exact).mean() < (0.02 if width <= WIDTH else 0.05)
    assert np.abs(found[0] - exact[0]).max() < (0.01 if width <= WIDTH else 0.15)


def test_a_sketch_is_small_whatever_the_text() -> None:
    sketcher = Sketcher(1024)
    assert len(sketcher.pack(tokens(2000, 1024))) == LARGEST == 2 * WIDTH + TOKENS * (WIDTH // 4 + 2) < 11_000


def test_a_token_that_is_there_twice_is_kept_once_and_the_order_stays() -> None:
    vectors = tokens(20, 16)
    assert np.array_equal(distinct(np.repeat(vectors, 3, axis=0)), vectors)


def test_texts_without_vectors_and_broken_ones_have_no_sketch() -> None:
    sketcher = Sketcher(8)
    assert sketcher.pack(np.empty((0, 8), np.float32)) == b""
    for wrong in (np.nan, np.inf):
        vectors = tokens(3, 8)
        vectors[1, 2] = wrong
        assert sketcher.pack(vectors) == b""
    assert closest(np.ones((2, 8), np.float32), sketcher.unpack([])).shape == (0, 2)


def test_a_sketch_of_another_width_is_refused() -> None:
    with pytest.raises(ValueError, match="another width"):
        Sketcher(16).unpack([Sketcher(32).pack(tokens(3, 32))])
    with pytest.raises(ValueError, match="another width"):
        Sketcher(16).unpack([b"short"])


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(1, 130), min_size=1, max_size=5), st.integers(1, 5), st.integers(0, 99))
def test_texts_side_by_side_score_as_each_alone(counts: list[int], asked: int, seed: int) -> None:
    sketcher = Sketcher(24)
    packed = [sketcher.pack(tokens(count, 24, seed + count)) for count in counts]
    question = sketcher.project(tokens(asked, 24, seed))
    alone = np.concatenate([closest(question, sketcher.unpack([one])) for one in packed])
    assert np.allclose(closest(question, sketcher.unpack(packed)), alone, atol=1e-5)
