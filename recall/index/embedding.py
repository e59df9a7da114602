"""Embedding what a run lacks: batch by batch, each stored at once, with questions let past in between."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol

import numpy as np

from recall.core.errors import RecallError
from recall.embed.encoder import Heads
from recall.index.reading import team_digest
from recall.late.late import Late
from recall.store.entries import Embedded
from recall.store.writer import Writer


class PassageEmbedder(Protocol):
    """What a run needs of a model: its name, the length of its vectors, and what it makes of texts."""

    @property
    def identity(self) -> str: ...
    @property
    def dimension(self) -> int: ...
    def embed_batches(
        self, texts: Sequence[str], pause: Callable[[], None]
    ) -> Iterator[tuple[Sequence[int], Sequence[Heads]]]:
        """Batch by batch the places of texts and what the model's heads gave for them, in the order that suits the
        device. `pause` is called before each batch; what it raises comes through.
        """
        ...


class Stopped(Exception):
    """The run is to end."""


class Embedding:
    """Embeds and stores texts; `count` is how many so far. `pause` lets questions past."""

    def __init__(
        self,
        writer: Writer,
        embedder: PassageEmbedder,
        late: Late,
        pause: Callable[[], None],
        stop: Callable[[], bool],
    ) -> None:
        self.count = 0
        self._writer = writer
        self._embedder = embedder
        self._late = late
        self.pause = pause
        self._stop = stop

    def store(self, texts: Mapping[bytes, str], embedded: Callable[[], None]) -> dict[bytes, str]:
        """Embed texts by their digests; those that the model fails on come back with the reason.

        `embedded` is called after each batch. Raises Stopped, and RecallErrors of model and store; what was embedded
        before stands.
        """
        try:
            return self._batches(list(texts), list(texts.values()), embedded)
        except (RecallError, Stopped):
            raise
        except Exception as error:
            if len(texts) == 1:  # the message may quote the text, so only the class is named
                return dict.fromkeys(texts, f"could not be embedded ({type(error).__name__})")
        failed: dict[bytes, str] = {}
        for digest in self._writer.missing(texts):  # one by one, so that the culprit alone is left out
            failed |= self.store({digest: texts[digest]}, embedded)
        return failed

    def _batches(
        self, digests: Sequence[bytes], texts: Sequence[str], embedded: Callable[[], None]
    ) -> dict[bytes, str]:
        failed: dict[bytes, str] = {}
        for places, batch in self._embedder.embed_batches(texts, self._between):
            found: dict[bytes, Embedded] = {}
            for place, heads in zip(places, batch, strict=True):
                if heads.dense.shape != (self._embedder.dimension,):
                    raise ArithmeticError("as many numbers as the model has dimensions")
                if np.isfinite(heads.dense).all():
                    found[digests[place]] = self._late.embedded(heads)
                else:
                    failed[digests[place]] = "could not be embedded (ArithmeticError)"
            self._writer.put_embedded(found)
            self.count += len(found)
            embedded()
        return failed

    @property
    def identity(self) -> str:
        """The model that embeds."""
        return self._embedder.identity

    def take_over(self, load: Callable[[], Mapping[bytes, tuple[bytes, bytes]]], digests: Sequence[bytes]) -> None:
        """Store what another machine made of texts of the team under the same model, of those that have nothing yet.
        `load` gives it, by the digests that its own machine keeps the texts under."""
        missing = self._writer.missing(digests)
        if not missing:
            return
        self.pause()
        stored = {team_digest(digest): made for digest, made in load().items()}
        wanted = {digest: stored[digest] for digest in missing if digest in stored}
        self._writer.put_embedded(self._late.restored(wanted, self._embedder.dimension))

    def check(self) -> None:
        """Raise Stopped when the run is to end."""
        if self._stop():
            raise Stopped

    def _between(self) -> None:
        self.pause()
        self.check()
