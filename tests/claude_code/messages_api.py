"""A stand-in for the Messages API on loopback: answers everything with a short text and keeps what it was asked."""

import json
import re
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

#: How the client introduces what a hook printed: the context in its JSON, or plain text, which it passes on as well.
#: It ends with the block of text, or with the tag around it.
_ADDED = re.compile(
    r"UserPromptSubmit hook (?:additional context|success): (.*?)\s*(?:</system-reminder>|\Z)", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Asked:
    """One message as the API got it. `added`: what UserPromptSubmit hooks handed over with it, None for nothing.
    `answer`: the text that was sent back. `whole`: all that stood in the conversation, a string a line or more."""

    added: str | None
    answer: str
    whole: str


class MessagesApi:
    """The server; a context that listens from its start to its end."""

    def __init__(self) -> None:
        self._server = _Server()
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05})

    def __enter__(self) -> "MessagesApi":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def count(self) -> int:
        """How many requests came so far: a place to start looking from."""
        return len(self._server.requests)

    def wait_for(self, prompt: str, since: int, seconds: float) -> Asked | None:
        """The first request from place `since` on that asks the prompt; None when none comes within `seconds`."""
        found: Asked | None = None

        def came() -> bool:
            nonlocal found
            found = next((a for r in self._server.requests[since:] if (a := _asked(r, prompt)) is not None), None)
            return found is not None

        with self._server.arrival:
            self._server.arrival.wait_for(came, seconds)
        return found


@dataclass(frozen=True, slots=True)
class _Request:
    body: Mapping[str, Any]
    answer: str


class _Server(ThreadingHTTPServer):
    daemon_threads = True  # a connection that the client left open must not hold the end of the test

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.requests: list[_Request] = []
        self.arrival = threading.Condition()

    def keep(self, body: Mapping[str, Any]) -> _Request:
        with self.arrival:
            # Numbered: a driver that waits for an answer on the screen must not take an earlier one for it.
            request = _Request(body, f"This is answer {len(self.requests)}.")
            self.requests.append(request)
            self.arrival.notify_all()
            return request


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Nothing: the log would end up among pytest's output."""

    def do_HEAD(self) -> None:
        self._send(b"", "application/json")

    def do_GET(self) -> None:
        self._send(b"{}", "application/json")

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if not self.path.partition("?")[0].endswith("/v1/messages"):
            self._send(b'{"input_tokens": 1}', "application/json")  # count_tokens; telemetry is switched off
            return
        request = self.server.keep(json.loads(raw))
        if request.body.get("stream"):
            events = _stream(request)
            text = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
            self._send(text.encode(), "text/event-stream")
        else:
            whole = _message(request) | {"content": [{"type": "text", "text": request.answer}]}
            self._send(json.dumps(whole | {"stop_reason": "end_turn"}).encode(), "application/json")

    def _send(self, body: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)


def _message(request: _Request) -> dict[str, Any]:
    return {
        "id": "msg_stand_in",
        "type": "message",
        "role": "assistant",
        "model": request.body.get("model", "stand-in"),
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }


def _stream(request: _Request) -> list[dict[str, Any]]:
    """The answer as the events of a stream."""
    return [
        {"type": "message_start", "message": _message(request)},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": request.answer}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    ]


def _asked(request: _Request, prompt: str) -> Asked | None:
    """The request as the one that asks the prompt, None when it is another.

    The client's side requests, such as the one that names the session, carry the prompt too, but offer no tools.
    Earlier turns come along in each request: only what follows the newest message with the prompt belongs to it.
    """
    messages = request.body.get("messages", [])
    for place in reversed(range(len(messages)) if request.body.get("tools") else ()):
        if messages[place].get("role") == "user" and any(text.strip() == prompt for text in _texts(messages[place])):
            added = [text for value in messages[place:] for whole in _texts(value) for text in _ADDED.findall(whole)]
            return Asked("\n".join(added) if added else None, request.answer, "\n".join(_texts(messages)))
    return None


def _texts(value: object) -> Iterator[str]:
    """Every string inside a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)
