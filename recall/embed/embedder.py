"""Questions and passages to vectors: prefix, tokens, encoder, mean of the token vectors, length 1."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from recall.embed.manifest import Manifest
from recall.embed.memory import release_free_memory
from recall.embed.session import Session
from recall.embed.threads import allowed_threads
from recall.embed.tokenizer import load_tokenizer


class Embedder:
    """A loaded model. All methods may be called from several threads at once.

    Every text goes through the encoder alone: on a CPU that is as fast as eight together, needs no padding, and makes
    a vector depend on nothing but its text (int8 activations share one scale across all texts of a call).
    """

    def __init__(self, manifest: Manifest, threads: int | None = None) -> None:
        """Load the model of `manifest` (about half a second). `threads`: None for all that this process may use.

        Raises ModelError.
        """
        self._manifest = manifest
        self._threads = allowed_threads() if threads is None else threads
        self._tokenizer = load_tokenizer(manifest.tokenizer, manifest.max_tokens)
        self._session = Session(manifest.variant_for("cpu").weights, self._threads)
        release_free_memory()

    @property
    def identity(self) -> str:
        """Vectors with different identities must never be compared."""
        return self._manifest.identity

    @property
    def dimension(self) -> int:
        """Length of every vector."""
        return self._manifest.dimension

    @property
    def device(self) -> str:
        """Where the encoder runs, in words for the person."""
        return f"CPU, {self._threads} thread{'s' if self._threads > 1 else ''}"

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """float32[dimension] of length 1 for a question."""
        return self._embed(self._manifest.query_prefix + text)

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """float32[len(texts), dimension], each row of length 1, for texts that questions are asked about."""
        vectors = np.empty((len(texts), self.dimension), np.float32)
        for row, text in enumerate(texts):
            vectors[row] = self._embed(self._manifest.passage_prefix + text)
        return vectors

    def _embed(self, text: str) -> NDArray[np.float32]:
        ids = np.array([self._tokenizer.encode(text)], np.int64)
        mean: NDArray[np.float32] = self._session.run(ids)[0].mean(axis=0)
        return mean / np.linalg.norm(mean)
