"""What each verb does: hook, query, index, status, stop."""

import asyncio
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from recall.core.errors import RecallError, UsageError
from recall.daemon.answers import Answers
from recall.daemon.asked import NO_HEADS, Asked
from recall.daemon.batcher import Batcher
from recall.daemon.engine import Engine
from recall.daemon.indexer import Indexer
from recall.daemon.lifecycle import MAX_IN_FLIGHT, MAX_WAITING, seconds_left
from recall.daemon.status import status
from recall.embed.encoder import Heads
from recall.wire.protocol import Request

Answer = tuple[str, bytes]


class Handlers:
    """Dispatches requests. Questions pass a gate of `MAX_IN_FLIGHT` places; status, index and stop do not wait there.

    `asked` is called after each question, `stop` when somebody wants the daemon to end.
    """

    def __init__(
        self, engine: Engine, indexer: Indexer, answers: Answers, asked: Callable[[], None], stop: Callable[[], None]
    ) -> None:
        self._engine = engine
        self._indexer = indexer
        self._answers = answers
        self._asked = asked
        self._stop = stop
        self._places = asyncio.Semaphore(MAX_IN_FLIGHT)
        self._present = 0
        # One thread: reading and ranking take a millisecond, and sessions need no locks.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="question")
        self._files = ThreadPoolExecutor(1, thread_name_prefix="records")
        self._batcher = Batcher()

    async def handle(self, request: Request, body: bytes, arrived: float) -> Answer:
        """Answer one request; errors meant for people come back as status `error`."""
        try:
            match request.verb:
                case "hook":
                    return await self._question(request, arrived, lambda: self._answers.hook(body))
                case "query":
                    fields = _fields(body)
                    return await self._question(request, arrived, lambda: self._answers.query(fields))
                case "index":
                    return "ok", _json(await self._indexer.requested())
                case "status":
                    if self._engine.wants_another_model():
                        self._asked()  # `recall models use` asks, so that the change begins at once
                    return "ok", _json(status(self._engine, self._indexer))
                case "stop":
                    self._stop()
                    return "ok", b"{}"
            return "error", _json({"error": f"unknown verb {request.verb!r}"})
        except RecallError as error:
            return "error", _json({"error": str(error), "exit_code": error.exit_code})

    def close(self) -> None:
        """Wait for the question in work and end the threads."""
        self._batcher.close()
        self._files.shutdown(cancel_futures=True)
        self._thread.shutdown(cancel_futures=True)
        self._answers.close()

    async def _question(self, request: Request, arrived: float, read: Callable[[], Asked]) -> Answer:
        """Answer a question, unless the queue is full or the asker has given up meanwhile."""
        if self._present >= MAX_IN_FLIGHT + MAX_WAITING:
            return "busy", b""
        if self._engine.state == "warming":
            self._asked()
            return "warming", b""
        loop = asyncio.get_running_loop()

        def left() -> float:
            return seconds_left(loop.time(), arrived, request.budget_ms)

        self._present += 1
        try:
            with self._engine.turnstile.question():
                async with self._places:
                    if left() <= 0:
                        return "none", b""
                    asked = await loop.run_in_executor(self._thread, read)
                    if asked.prepare is not None:
                        await loop.run_in_executor(self._files, asked.prepare, left)
                    heads: Heads | None = NO_HEADS
                    if asked.embedder is not None:
                        heads = await self._batcher.embed(asked.embedder, asked.text, left)
                    if heads is None:
                        return "none", b""
                    body = await loop.run_in_executor(self._thread, asked.answer, heads)
                    return ("ok", body) if body else ("none", b"")
        finally:
            self._present -= 1
            self._asked()


def _fields(body: bytes) -> dict[str, Any]:
    try:
        fields = json.loads(body)
    except ValueError:
        fields = None
    if not isinstance(fields, dict):
        raise UsageError("a query's body must be a JSON object")
    return fields


def _json(value: object) -> bytes:
    return json.dumps(value).encode()
