"""A stand-in on loopback for the APIs that the agents ask: OpenAI's Responses (Codex) and Chat Completions (Qwen Code),
and Google's Generative Language (Gemini CLI). It answers everything with a short text and keeps what it was asked."""

import json
import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple


class Request(NamedTuple):
    """What the model got with a prompt: all texts in order, and those from the prompt on, joined by line ends."""

    whole: str
    added: str


class ModelApi:
    """The server; a context that listens from its start to its end."""

    def __init__(self) -> None:
        self._server = _Server()
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05})

    def __enter__(self) -> "ModelApi":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def wait_for(self, prompt: str, seconds: float) -> Request | None:
        """The first request that asks this prompt; None when none comes within `seconds`. Requests without tools are
        the client's own, such as the one that names the session."""
        found: Request | None = None

        def came() -> bool:
            nonlocal found
            found = next((asked for body in self._server.bodies if (asked := _asked(body, prompt))), None)
            return found is not None

        with self._server.arrival:
            self._server.arrival.wait_for(came, seconds)
        return found


class _Server(ThreadingHTTPServer):
    daemon_threads = True  # a connection that a client left open must not hold the end of the test

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.bodies: list[Mapping[str, Any]] = []
        self.arrival = threading.Condition()

    def keep(self, body: Mapping[str, Any]) -> str:
        """The answer, numbered: a driver that waits for it on the screen must not take an earlier one for it."""
        with self.arrival:
            self.bodies.append(body)
            self.arrival.notify_all()
            return f"This is answer {len(self.bodies)}."


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Nothing: the log would end up among pytest's output."""

    def do_GET(self) -> None:
        self._send({"object": "list", "data": [], "models": []})

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        path = self.path.partition("?")[0]
        if path.endswith("/responses"):
            self._stream([(event["type"], event) for event in _responses(self.server.keep(json.loads(raw)))])
        elif path.endswith("/chat/completions"):
            body = json.loads(raw)
            answer = self.server.keep(body)
            self._chat(answer, streamed=bool(body.get("stream")))
        elif path.endswith(("enerateContent", "treamGenerateContent")):
            candidates = _candidates(self.server.keep(json.loads(raw)))
            if "stream" in path:
                self._stream([(None, candidates)])
            else:
                self._send(candidates)
        else:
            self._send({"totalTokens": 5})

    def _chat(self, answer: str, *, streamed: bool) -> None:
        usage = {"usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}}
        base: dict[str, Any] = {"id": "stand-in", "created": 1, "model": "stand-in"}
        message = {"role": "assistant", "content": answer}
        if not streamed:
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            self._send({**base, "object": "chat.completion", "choices": [choice], **usage})
            return
        base["object"] = "chat.completion.chunk"
        first = {**base, "choices": [{"index": 0, "delta": message, "finish_reason": None}]}
        last = {**base, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], **usage}
        self._stream([(None, first), (None, last)], end="data: [DONE]\n\n")

    def _stream(self, events: list[tuple[str | None, Mapping[str, Any]]], end: str = "") -> None:
        lines = [(f"event: {name}\n" if name else "") + f"data: {json.dumps(event)}\n\n" for name, event in events]
        self._send_bytes(("".join(lines) + end).encode(), "text/event-stream")

    def _send(self, body: Mapping[str, Any]) -> None:
        self._send_bytes(json.dumps(body).encode(), "application/json")

    def _send_bytes(self, body: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)


def _responses(answer: str) -> list[dict[str, Any]]:
    part = {"type": "output_text", "text": answer, "annotations": []}
    item = {"type": "message", "role": "assistant", "id": "msg_1", "status": "completed", "content": [part]}
    tokens = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    done = {"id": "resp_1", "object": "response", "status": "completed", "output": [item], "usage": tokens}
    return [
        {"type": "response.created", "response": {"id": "resp_1"}},
        {"type": "response.output_item.added", "output_index": 0, "item": {**item, "content": []}},
        {
            "type": "response.output_text.delta",
            "item_id": "msg_1",
            "output_index": 0,
            "content_index": 0,
            "delta": answer,
        },
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": done},
    ]


def _candidates(answer: str) -> dict[str, Any]:
    content = {"role": "model", "parts": [{"text": answer}]}
    tokens = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
    return {"candidates": [{"content": content, "finishReason": "STOP", "index": 0}], "usageMetadata": tokens}


def _asked(body: Mapping[str, Any], prompt: str) -> Request | None:
    if not body.get("tools"):
        return None
    texts = list(_texts(body.get("input") or body.get("messages") or body.get("contents")))
    places = [place for place, text in enumerate(texts) if text.strip() == prompt]
    return Request("\n".join(texts), "\n".join(texts[places[-1] :])) if places else None


def _texts(value: object) -> Iterator[str]:
    """Every string inside a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)
