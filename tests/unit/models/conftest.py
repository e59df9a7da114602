"""An index with vectors of models, for the tests of what becomes of them."""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
import pytest

from recall.core.types import BACKGROUND, Document, FoundFile, Project
from recall.store.entries import Embedded, Entry, Finish
from recall.store.writer import Writer

PROJECT = Project("/home/me/app", "app")


class Put(Protocol):
    """Writes notes and their chunks' vectors under one model into the index at `path`."""

    def __call__(self, path: Path, model: str, texts: Mapping[str, Sequence[str]], dimension: int = 4) -> None: ...


@pytest.fixture
def put() -> Put:
    return _put


def _put(path: Path, model: str, texts: Mapping[str, Sequence[str]], dimension: int = 4) -> None:
    with Writer(path, model, dimension) as writer:
        for name, chunks in texts.items():
            file = FoundFile("memory", f"/{name}.md", PROJECT.key, 10, 5)
            writer.enlist([file], {PROJECT.key: PROJECT})
            digests = [hashlib.sha256(chunk.encode()).digest() for chunk in chunks]
            vector = np.full(dimension, dimension**-0.5, np.float32)
            made = Embedded(vector, b"", np.zeros(BACKGROUND, np.float32))
            writer.put_embedded(dict.fromkeys(writer.missing(digests), made))
            document = Document("memory", file.path, PROJECT.key, name, "what it says", "body")
            writer.put(file, Entry(document, PROJECT, digests), finish=Finish(PROJECT, 5))
