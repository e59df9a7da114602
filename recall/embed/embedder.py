"""Questions and passages to vectors: prefix, tokens, encoder, pooling, length 1, on the best device that there is."""

import threading
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from recall.core.errors import ModelError
from recall.embed.batches import plan
from recall.embed.devices import LABELS, Chooser, Loader, Placement, Wanted, describe
from recall.embed.encoder import Encoder, Heads
from recall.embed.interruption import Interruptible
from recall.embed.manifest import Manifest
from recall.embed.memory import release_free_memory
from recall.embed.session import Interrupted, OnnxRuntime, Runtime, Stop
from recall.embed.threads import allowed_threads
from recall.embed.tokenizer import load_tokenizer
from recall.embed.verdicts import Verdicts

#: The most questions of one call where the graph takes a mask: more make each wait longer than two calls would.
_TOGETHER = 16

#: Passages that are put into an order by length at a time. Cutting them into tokens takes the interpreter, so that
#: more would make a question wait.
_SORTED = 128

T = TypeVar("T")


class Embedder:
    """A loaded model. All methods may be called from several threads at once.

    A graph without an attention mask (the bundled model), or whose vectors depend on what shares their call, gets every
    text alone. Others get batches, in which their vectors have a cosine of 0.999 and more to those alone.
    """

    def __init__(
        self,
        manifest: Manifest,
        *,
        device: Wanted = "auto",
        threads: int | None = None,
        state: Path | None = None,
        runtime: Runtime | None = None,
    ) -> None:
        """Load the model of `manifest` (about half a second; the first time on a GPU, a self-test).

        `threads`: None for all that this process may use. `state`: the state folder, for what CoreML compiles and for
        the self-tests' verdicts; None to remember nothing. `runtime`: None for onnxruntime.

        Raises ModelError, also where a device other than `auto` cannot be used.
        """
        self._manifest = manifest
        self._threads = allowed_threads() if threads is None else threads
        self._tokenizer = load_tokenizer(manifest.tokenizer, manifest.max_tokens)
        self._special = frozenset(self._tokenizer.encode(""))
        runtime = runtime or OnnxRuntime(state and state / "models" / ".coreml" / manifest.identity)
        self._loader = Loader(manifest, self._tokenizer, self._threads, runtime)
        chooser = Chooser(self._loader, Verdicts(state and state / "devices.json"))
        self._placement: Placement | None = chooser.choose(device)
        self._moving = threading.Lock()  # held while a failed device is replaced
        self._passages = Interruptible()
        del chooser  # it holds the encoder of the CPU
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
        return describe(self._open().encoder.device, self._threads)

    @property
    def device_reason(self) -> str:
        """Why it runs there, and which other devices were refused and why, in one line."""
        return self._open().reason

    @property
    def together(self) -> int:
        """The most questions that are worth embedding in one call."""
        return _TOGETHER if self._open().encoder.batches else 1

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """float32[dimension] of length 1 for a question."""
        vector: NDArray[np.float32] = self.embed_queries([text])[0]
        return vector

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """float32[len(texts), dimension], each row of length 1, for questions. Never interrupted."""
        ids = self._encode(self._manifest.query_prefix, texts)
        return self._on_device(lambda encoder: encoder.embed(ids))

    def embed_passages(self, texts: Sequence[str], pause: Callable[[], None] = lambda: None) -> NDArray[np.float32]:
        """float32[len(texts), dimension], each row of length 1, for texts that questions are asked about.

        `pause` is called before each batch and may block, so that a question goes first.
        """
        vectors = np.empty((len(texts), self.dimension), np.float32)
        for places, batch in self.embed_batches(texts, pause):
            vectors[places] = [heads.dense for heads in batch]
        return vectors

    def embed_batches(
        self, texts: Sequence[str], pause: Callable[[], None] = lambda: None
    ) -> Iterator[tuple[list[int], list[Heads]]]:
        """All heads for such texts, batch by batch: places in `texts`, and what they gave for each.

        Texts that share no call come in the order given; the others by length.
        """
        prefix = self._prefix("passage")
        for start in range(0, len(texts), _SORTED):
            ids = self._encode(self._manifest.passage_prefix, texts[start : start + _SORTED])
            for batch in plan([len(text) for text in ids], self._open().encoder.limits):
                members = [ids[row] for row in batch.rows]
                heads = self._passages.run(partial(self._heads, members, prefix), pause)
                yield [start + row for row in batch.rows], heads

    def interrupt(self) -> None:
        """End the passages' runs in hand (within milliseconds), so that a question goes first; they begin again."""
        self._passages.interrupt()

    def heads(self, texts: Sequence[str], kind: Literal["query", "passage"] = "query") -> list[Heads]:
        """What each head of the model gives for each text, in one run of the model for all heads."""
        prefix = self._manifest.query_prefix if kind == "query" else self._manifest.passage_prefix
        return self._heads(self._encode(prefix, texts), self._prefix(kind))

    def close(self) -> None:
        """Free the model. Calls under way end well; later ones raise ModelError."""
        with self._moving:
            self._placement = None
        release_free_memory()

    def _encode(self, prefix: str, texts: Sequence[str]) -> list[list[int]]:
        return [self._tokenizer.encode(prefix + text) for text in texts]

    def _prefix(self, kind: Literal["query", "passage"]) -> list[int]:
        """The ids that a text of this kind begins with, without what ends it."""
        ids = self._tokenizer.encode(self._manifest.query_prefix if kind == "query" else self._manifest.passage_prefix)
        while ids and ids[-1] in self._special:
            ids.pop()
        return ids

    def _heads(self, ids: Sequence[Sequence[int]], prefix: Sequence[int], stop: Stop | None = None) -> list[Heads]:
        return self._on_device(lambda encoder: encoder.heads(ids, self._special, prefix, stop))

    def _on_device(self, work: Callable[[Encoder], T]) -> T:
        """`work` on the device, and on the CPU from the moment that the device fails."""
        encoder = self._open().encoder
        try:
            return work(encoder)
        except (Interrupted, ModelError):
            raise
        except Exception as error:  # each provider raises classes of its own
            if encoder.device == "cpu":
                raise
            self._leave(encoder, error)
        return work(self._open().encoder)

    def _leave(self, failed: Encoder, error: Exception) -> None:
        """Go on on the CPU, loaded once however many threads saw the device fail. Raises ModelError."""
        with self._moving:
            if self._open().encoder is failed:
                encoder = self._loader.load("cpu")
                label = LABELS[failed.device]
                reason = f"{label} failed ({type(error).__name__}) and the CPU took over; a restart tries {label} again"
                self._placement = Placement(encoder, reason)

    def _open(self) -> Placement:
        placement = self._placement
        if placement is None:
            raise ModelError(f"The model {self._manifest.name} was closed; load it again.")
        return placement
