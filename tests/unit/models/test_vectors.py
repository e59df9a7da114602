"""What a change of the model costs in the index, and taking a model's vectors out of it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from recall.store.cleanup import drop_model, has_vectors, shrink
from recall.store.reader import Reader

SMALL, LARGE, LARGER = "small@1", "large@1", "large-er@1"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "index.sqlite3"


def missing(path: Path, model: str) -> tuple[int, int]:
    reader = Reader(path)
    try:
        return reader.missing_vectors(model)
    finally:
        reader.close()


def test_texts_without_a_vector_are_counted_once_by_model(path: Path, put: Callable[..., None]) -> None:
    assert missing(path, SMALL) == (0, 0)
    put(path, SMALL, {"a": ["1", "2"], "b": ["2", "3"]})
    assert missing(path, SMALL) == (0, 3)
    assert missing(path, LARGE) == (3, 3)
    put(path, LARGE, {"a": ["1", "2"]})
    assert missing(path, LARGE) == (1, 3)


def test_a_models_vectors_go_and_the_others_stay(path: Path, put: Callable[..., None]) -> None:
    chunks = {"a": [str(number) for number in range(300)]}
    put(path, LARGER, {"a": ["1"]})
    put(path, "large@2", {"a": ["1"]}, dimension=1024)
    put(path, SMALL, chunks)
    put(path, LARGE, chunks, dimension=1024)
    before = path.stat().st_size
    assert has_vectors(path, "large")
    assert drop_model(path, "large", keep=LARGE) == 1
    assert drop_model(path, "large") == 300
    assert not has_vectors(path, "large")
    shrink(path)
    assert path.stat().st_size < before - 300 * 4096
    assert missing(path, LARGE) == (300, 300)
    assert missing(path, LARGER) == (299, 300)
    reader = Reader(path)
    assert len(reader.load(SMALL).vectors) == 300
    reader.close()
    assert drop_model(path, "large") == 0


def test_no_index_is_nothing_to_drop(path: Path) -> None:
    assert drop_model(path, "large") == 0
    assert not has_vectors(path, "large")
    assert not path.exists()
