"""Embeds the questions that wait, together where the model gains from that."""

import asyncio
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from recall.embed.embedder import Embedder

Vector = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class _Waiting:
    embedder: Embedder
    text: str
    is_stale: Callable[[], bool]
    vector: "asyncio.Future[Vector | None]"


class Batcher:
    """One thread embeds; whatever comes meanwhile waits and goes into the next call together."""

    def __init__(self) -> None:
        self._waiting: deque[_Waiting] = deque()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="embed")
        self._work: asyncio.Task[None] | None = None

    async def embed(self, embedder: Embedder, text: str, is_stale: Callable[[], bool]) -> Vector | None:
        """float32 [dimension] for a question, None when `is_stale` says at its turn that nobody waits any more.

        Raises what the embedder raises for it.
        """
        vector: asyncio.Future[Vector | None] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Waiting(embedder, text, is_stale, vector))
        if self._work is None or self._work.done():
            self._work = asyncio.create_task(self._embed_all())
        return await vector

    def close(self) -> None:
        """Wait for the call in work and end the thread."""
        self._thread.shutdown(cancel_futures=True)

    async def _embed_all(self) -> None:
        loop = asyncio.get_running_loop()
        while batch := self._next_batch():
            embedder = batch[0].embedder
            try:
                vectors = await loop.run_in_executor(
                    self._thread, embedder.embed_queries, [waiting.text for waiting in batch]
                )
            except Exception as error:
                for waiting in batch:
                    if not waiting.vector.done():
                        waiting.vector.set_exception(error)
            else:
                for waiting, vector in zip(batch, vectors, strict=True):
                    if not waiting.vector.done():
                        waiting.vector.set_result(vector)

    def _next_batch(self) -> list[_Waiting]:
        """The longest-waiting questions of one model, as many as it takes; stale ones are answered on the way."""
        batch: list[_Waiting] = []
        while self._waiting:
            first = self._waiting[0]
            if first.vector.done() or first.is_stale():
                if not first.vector.done():
                    first.vector.set_result(None)
            elif batch and (first.embedder is not batch[0].embedder or len(batch) >= first.embedder.together):
                break
            else:
                batch.append(first)
            self._waiting.popleft()
        return batch
