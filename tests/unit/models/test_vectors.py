"""What a change of the model costs in the index, and taking a model's vectors out of it."""

import hashlib
from pathlib import Path

import numpy as np
import pytest

from recall.core.types import Document, FoundFile, Project
from recall.store.cleanup import drop_model
from recall.store.entries import Entry, Finish
from recall.store.reader import Reader
from recall.store.writer import Writer

PROJECT = Project("/home/me/app", "app")
SMALL, LARGE, LARGER = "small@1", "large@1", "large-er@1"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "index.sqlite3"


def put(path: Path, model: str, texts: dict[str, list[str]], dimension: int = 4) -> None:
    with Writer(path, model, dimension) as writer:
        for name, chunks in texts.items():
            file = FoundFile("memory", f"/{name}.md", PROJECT.key, 10, 5)
            writer.enlist([file], {PROJECT.key: PROJECT})
            digests = [hashlib.sha256(chunk.encode()).digest() for chunk in chunks]
            vector = np.full(dimension, dimension**-0.5, np.float32)
            writer.put_vectors(dict.fromkeys(writer.missing(digests), vector))
            document = Document("memory", file.path, PROJECT.key, name, "what it says", "body")
            writer.put(file, Entry(document, PROJECT, digests), finish=Finish(PROJECT, 5))


def missing(path: Path, model: str) -> tuple[int, int]:
    reader = Reader(path)
    try:
        return reader.missing_vectors(model)
    finally:
        reader.close()


def test_texts_without_a_vector_are_counted_once_by_model(path: Path) -> None:
    assert missing(path, SMALL) == (0, 0)
    put(path, SMALL, {"a": ["1", "2"], "b": ["2", "3"]})
    assert missing(path, SMALL) == (0, 3)
    assert missing(path, LARGE) == (3, 3)
    put(path, LARGE, {"a": ["1", "2"]})
    assert missing(path, LARGE) == (1, 3)


def test_a_models_vectors_go_and_the_others_stay(path: Path) -> None:
    chunks = {"a": [str(number) for number in range(300)]}
    put(path, LARGER, {"a": ["1"]})
    put(path, "large@2", {"a": ["1"]}, dimension=1024)
    put(path, SMALL, chunks)
    put(path, LARGE, chunks, dimension=1024)
    before = path.stat().st_size
    assert drop_model(path, "large") == 301
    assert path.stat().st_size < before - 300 * 4096
    assert missing(path, LARGE) == (300, 300)
    assert missing(path, LARGER) == (299, 300)
    reader = Reader(path)
    assert len(reader.load(SMALL).vectors) == 300
    reader.close()
    assert drop_model(path, "large") == 0


def test_no_index_is_nothing_to_drop(path: Path) -> None:
    assert drop_model(path, "large") == 0
    assert not path.exists()
