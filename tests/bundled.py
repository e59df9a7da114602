"""The bundled model for tests, loaded once a process."""

from functools import cache

from recall.embed.catalog import find_model
from recall.embed.embedder import Embedder
from recall.embed.manifest import BUNDLED
from recall.late.late import Late


@cache
def bundled_embedder() -> Embedder:
    return Embedder(find_model(BUNDLED, None))


@cache
def bundled_late() -> Late:
    return Late(bundled_embedder())
