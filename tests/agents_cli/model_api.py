"""The APIs that the agents ask, on loopback: OpenAI's Responses (Codex) and Chat Completions (Qwen Code), and Google's
Generative Language (Gemini CLI)."""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from stand_in import Answering, StandIn, texts


class Request(NamedTuple):
    """What the model got with a prompt: all texts in order, and those from the prompt on, joined by line ends."""

    whole: str
    added: str


class ModelApi(StandIn):
    """The server; a context that listens from its start to its end."""

    def __init__(self) -> None:
        super().__init__(_Handler)

    def wait_for(self, prompt: str, seconds: float) -> Request | None:
        """The first request that asks this prompt; None when none comes within `seconds`. Requests without tools are
        the client's own, such as the one that names the session."""
        return self.wait(lambda _, body: _asked(body, prompt), 0, seconds)


class _Handler(Answering):
    def do_GET(self) -> None:
        self.send({"object": "list", "data": [], "models": []})

    def do_POST(self) -> None:
        raw = self.read()
        path = self.path.partition("?")[0]
        if path.endswith("/responses"):
            self.stream([(event["type"], event) for event in _responses(self.server.keep(json.loads(raw)))])
        elif path.endswith("/chat/completions"):
            body = json.loads(raw)
            answer = self.server.keep(body)
            self._chat(answer, streamed=bool(body.get("stream")))
        elif path.endswith(("enerateContent", "treamGenerateContent")):
            candidates = _candidates(self.server.keep(json.loads(raw)))
            if "stream" in path:
                self.stream([(None, candidates)])
            else:
                self.send(candidates)
        else:
            self.send({"totalTokens": 5})

    def _chat(self, answer: str, *, streamed: bool) -> None:
        usage = {"usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}}
        base: dict[str, Any] = {"id": "stand-in", "created": 1, "model": "stand-in"}
        message = {"role": "assistant", "content": answer}
        if not streamed:
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            self.send({**base, "object": "chat.completion", "choices": [choice], **usage})
            return
        base["object"] = "chat.completion.chunk"
        first = {**base, "choices": [{"index": 0, "delta": message, "finish_reason": None}]}
        last = {**base, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], **usage}
        self.stream([(None, first), (None, last)], end="data: [DONE]\n\n")


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
    found = list(texts(body.get("input") or body.get("messages") or body.get("contents")))
    places = [place for place, text in enumerate(found) if text.strip() == prompt]
    return Request("\n".join(found), "\n".join(found[places[-1] :])) if places else None
