"""A server on loopback in the place of an agent's API: it answers with a short text and keeps what it was asked."""

import json
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self, TypeVar

Found = TypeVar("Found")


class StandIn(ThreadingHTTPServer):
    """The server; a context that listens from its start to its end. `bodies`: what the model was asked, in order."""

    daemon_threads = True  # a connection that a client left open must not hold the end of the test

    def __init__(self, handler: type["Answering"]) -> None:
        super().__init__(("127.0.0.1", 0), handler)
        self.bodies: list[Mapping[str, Any]] = []
        self._arrival = threading.Condition()
        self._thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05})

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self._thread.join()
        self.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def keep(self, body: Mapping[str, Any]) -> str:
        """Keep a question to the model; the answer to it."""
        with self._arrival:
            self.bodies.append(body)
            self._arrival.notify_all()
            return answer(len(self.bodies) - 1)

    def wait(self, look: Callable[[int, Mapping[str, Any]], Found | None], since: int, seconds: float) -> Found | None:
        """What `look` makes of the first question, from number `since` on, of which it makes anything; None when none
        comes within `seconds`."""
        found: Found | None = None

        def came() -> bool:
            nonlocal found
            new = range(since, len(self.bodies))
            found = next((made for at in new if (made := look(at, self.bodies[at])) is not None), None)
            return found is not None

        with self._arrival:
            self._arrival.wait_for(came, seconds)
        return found


class Answering(BaseHTTPRequestHandler):
    """What the APIs have in common."""

    server: StandIn
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Nothing: the log would end up among pytest's output."""

    def read(self) -> bytes:
        """What was posted."""
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def send(self, body: Mapping[str, Any]) -> None:
        self._send(json.dumps(body).encode(), "application/json")

    def stream(self, events: Iterable[tuple[str | None, Mapping[str, Any]]], end: str = "") -> None:
        """Send events, each with its name where it has one."""
        lines = [(f"event: {name}\n" if name else "") + f"data: {json.dumps(event)}\n\n" for name, event in events]
        self._send(("".join(lines) + end).encode(), "text/event-stream")

    def _send(self, body: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


def answer(number: int) -> str:
    """Numbered: a driver that waits for an answer on the screen must not take an earlier one for it."""
    return f"This is answer {number}."


def texts(value: object) -> Iterator[str]:
    """Every string inside a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from texts(item)
