"""Ranking by dot product."""

import numpy as np
import numpy.typing as npt
import pytest

from recall.search.dense import Floats, rank


def _unit(*rows: tuple[float, ...]) -> Floats:
    vectors = np.array(rows, dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


def _owners(*documents: int) -> npt.NDArray[np.int32]:
    return np.array(documents, dtype=np.int32)


QUERY = np.array([1, 0], dtype=np.float32)


def test_a_document_scores_by_its_best_chunk() -> None:
    vectors = _unit((1, 1), (0, 1), (0, 1), (1, 0))
    documents, scores = rank(vectors, _owners(0, 0, 1, 1), QUERY, None, 5)
    assert documents.tolist() == [1, 0]
    assert scores.tolist() == pytest.approx([1, 0.5**0.5])
    assert documents.dtype == np.int64
    assert scores.dtype == np.float32


def test_documents_that_are_not_allowed_take_nobodys_place() -> None:
    vectors = _unit((1, 0), (2, 1), (1, 1), (1, 2))
    allowed = np.array([False, True, False, True])
    documents, _ = rank(vectors, _owners(0, 1, 2, 3), QUERY, allowed, 2)
    assert documents.tolist() == [1, 3]


def test_documents_without_rows_are_never_found() -> None:
    vectors = _unit((1, 0), (1, 1))
    documents, _ = rank(vectors, _owners(1, 4), QUERY, np.ones(6, np.bool_), 10)
    assert documents.tolist() == [1, 4]


def test_equal_scores_stand_in_order_of_number_at_every_limit() -> None:
    vectors = _unit(*[(1, 1)] * 40, (1, 0))
    owners = _owners(*range(41))
    for limit in range(1, 42):
        assert rank(vectors, owners, QUERY, None, limit)[0].tolist() == [40, *range(40)][:limit]


def test_an_empty_index_finds_nothing() -> None:
    vectors = np.empty((0, 2), np.float32)
    for allowed in (None, np.empty(0, np.bool_)):
        documents, scores = rank(vectors, _owners(), QUERY, allowed, 5)
        assert documents.tolist() == scores.tolist() == []


def test_nothing_allowed_or_nothing_wanted_finds_nothing() -> None:
    vectors = _unit((1, 0), (1, 1))
    assert rank(vectors, _owners(0, 1), QUERY, np.zeros(2, np.bool_), 5)[0].tolist() == []
    assert rank(vectors, _owners(0, 1), QUERY, None, 0)[0].tolist() == []


def test_ranking_agrees_with_a_plain_loop() -> None:
    random = np.random.default_rng(20260814)
    vectors = random.standard_normal((500, 16), dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    owners = np.sort(random.integers(0, 120, 500)).astype(np.int32)
    allowed = random.random(120) < 0.7
    query = vectors[7]
    best: dict[int, float] = {}
    for owner, vector in zip(owners.tolist(), vectors, strict=True):
        if allowed[owner]:
            best[owner] = max(best.get(owner, -1.0), float(vector @ query))
    expected = sorted(best, key=lambda owner: (-best[owner], owner))[:20]
    documents, scores = rank(vectors, owners, query, allowed, 20)
    assert documents.tolist() == expected
    assert scores.tolist() == pytest.approx([best[owner] for owner in expected], abs=1e-5)
