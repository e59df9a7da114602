"""The listening side of the wire: connections, headers, limits. What a request means is the handlers' business."""

import asyncio
import contextlib
import hmac
from collections.abc import Awaitable, Callable

from recall.core.log import Log
from recall.version import PROTOCOL
from recall.wire.protocol import MAX_BODY, MAX_HEADER, Reply, Request
from recall.wire.transport import BACKLOG, Listener

#: Seconds that a connection may take to send its request before it is dropped.
READ_SECONDS = 5.0
#: Connections held at once; a further one is closed unread.
MAX_CONNECTIONS = 256

#: Handles one request: (header, body, time of arrival on the loop's clock) -> (status, body of the reply).
Handler = Callable[[Request, bytes, float], Awaitable[tuple[str, bytes]]]


class Server:
    """Reads requests from the listener, hands them to the handler, writes the replies; one request a connection."""

    def __init__(self, listener: Listener, handler: Handler, log: Log) -> None:
        self._listener = listener
        self._handler = handler
        self._log = log
        self._clients: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    async def start(self) -> None:
        """Begin to accept."""
        make = asyncio.start_unix_server if self._listener.proof == "" else asyncio.start_server
        self._server = await make(self._serve, sock=self._listener.sock, limit=MAX_HEADER, backlog=BACKLOG)

    async def drain(self, seconds: float) -> None:
        """Accept nothing more, give those who wait `seconds` to get their answers, then drop them."""
        if self._server is not None:
            self._server.close()
        waiting = [task for task in self._clients if task is not asyncio.current_task()]
        if waiting:
            _, late = await asyncio.wait(waiting, timeout=seconds)
            for task in late:
                task.cancel()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101  asyncio runs callbacks of connections in tasks
        self._clients.add(task)
        try:
            if len(self._clients) <= MAX_CONNECTIONS:
                await self._answer(reader, writer)
        except (OSError, asyncio.IncompleteReadError, TimeoutError, ValueError):
            pass  # gone, too slow, or not speaking our language: nobody is there to be told
        except Exception as error:  # a fault of ours must not end the daemon
            self._log.failure("request-failed", error)
        finally:
            self._clients.discard(task)
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        arrived = asyncio.get_running_loop().time()
        async with asyncio.timeout(READ_SECONDS):
            request = Request.decode(await reader.readline())
            if not hmac.compare_digest(request.secret, self._listener.secret):
                self._log.event("refused", verb=request.verb)
                return
            if request.length > MAX_BODY:
                return
            body = await reader.readexactly(request.length)
        if request.protocol != PROTOCOL and request.verb != "stop":
            status, answer = "error", b'{"error": "this daemon speaks another protocol; restart it: recall stop"}'
        else:
            status, answer = await self._handler(request, body, arrived)
        writer.write(Reply(status, len(answer), self._listener.proof).encode() + answer)
        async with asyncio.timeout(READ_SECONDS):
            await writer.drain()
