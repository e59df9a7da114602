"""Embeds the questions that wait, together where the model gains from that."""

import asyncio
import math
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from recall.embed.embedder import Embedder
from recall.embed.encoder import Heads

#: The share of the newest call in the estimate of what a question takes.
_NEWEST = 0.5


@dataclass(frozen=True, slots=True)
class _Waiting:
    embedder: Embedder
    text: str
    seconds_left: Callable[[], float]
    heads: "asyncio.Future[Heads | None]"


class Batcher:
    """One thread embeds; whatever comes meanwhile waits and goes into the next call together.

    As many as can be done before the first of them gives up: where the machine is too slow for all, some get their
    answers in time instead of none.
    """

    def __init__(self) -> None:
        self._waiting: deque[_Waiting] = deque()
        self._seconds_each = 0.0  # what a question of a call took lately
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="embed")
        self._work: asyncio.Task[None] | None = None

    async def embed(self, embedder: Embedder, text: str, seconds_left: Callable[[], float]) -> Heads | None:
        """What the model makes of a question, None when at its turn `seconds_left` says that nobody waits any more.

        Raises what the embedder raises for it.
        """
        heads: asyncio.Future[Heads | None] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Waiting(embedder, text, seconds_left, heads))
        if self._work is None or self._work.done():
            self._work = asyncio.create_task(self._embed_all())
        return await heads

    def close(self) -> None:
        """Wait for the call in work and end the thread."""
        self._thread.shutdown(cancel_futures=True)

    async def _embed_all(self) -> None:
        loop = asyncio.get_running_loop()
        while batch := self._next_batch():
            embedder, began = batch[0].embedder, time.monotonic()
            try:
                all_heads = await loop.run_in_executor(
                    self._thread, embedder.heads, [waiting.text for waiting in batch]
                )
            except Exception as error:
                for waiting in batch:
                    if not waiting.heads.done():
                        waiting.heads.set_exception(error)
            else:
                self._learn((time.monotonic() - began) / len(batch))
                for waiting, heads in zip(batch, all_heads, strict=True):
                    if not waiting.heads.done():
                        waiting.heads.set_result(heads)

    def _next_batch(self) -> list[_Waiting]:
        """The longest-waiting questions of one model, as many as can be done; late ones are answered on the way."""
        batch: list[_Waiting] = []
        most = 1
        while self._waiting:
            first = self._waiting[0]
            left = first.seconds_left()
            if first.heads.done() or left <= 0:
                if not first.heads.done():
                    first.heads.set_result(None)
            elif batch and (first.embedder is not batch[0].embedder or len(batch) >= most):
                break
            else:
                if not batch:
                    most = how_many(first.embedder.together, left, self._seconds_each)
                batch.append(first)
            self._waiting.popleft()
        return batch

    def _learn(self, seconds_each: float) -> None:
        old = self._seconds_each or seconds_each
        self._seconds_each = _NEWEST * seconds_each + (1 - _NEWEST) * old


def how_many(together: int, seconds_left: float, seconds_each: float) -> int:
    """How many questions go into a call: what the model takes together, and what is done in time, but one at least."""
    if seconds_each <= 0 or seconds_left == math.inf:
        return together
    return max(1, min(together, int(seconds_left / seconds_each)))
