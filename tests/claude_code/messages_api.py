"""The Messages API on loopback, as Claude Code asks it."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from stand_in import Answering, StandIn, answer, texts

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


class MessagesApi(StandIn):
    """The server; a context that listens from its start to its end."""

    def __init__(self) -> None:
        super().__init__(_Handler)

    @property
    def count(self) -> int:
        """How many requests came so far: a place to start looking from."""
        return len(self.bodies)

    def wait_for(self, prompt: str, since: int, seconds: float) -> Asked | None:
        """The first request from place `since` on that asks the prompt; None when none comes within `seconds`."""
        return self.wait(lambda number, body: _asked(number, body, prompt), since, seconds)


class _Handler(Answering):
    def do_HEAD(self) -> None:
        self.send({})

    def do_GET(self) -> None:
        self.send({})

    def do_POST(self) -> None:
        raw = self.read()
        if not self.path.partition("?")[0].endswith("/v1/messages"):
            self.send({"input_tokens": 1})  # count_tokens; telemetry is switched off
            return
        body = json.loads(raw)
        text = self.server.keep(body)
        if body.get("stream"):
            self.stream((event["type"], event) for event in _events(body, text))
        else:
            self.send(_message(body) | {"content": [{"type": "text", "text": text}], "stop_reason": "end_turn"})


def _message(body: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "id": "msg_stand_in",
        "type": "message",
        "role": "assistant",
        "model": body.get("model", "stand-in"),
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }


def _events(body: Mapping[str, Any], text: str) -> list[dict[str, Any]]:
    """The answer as the events of a stream."""
    return [
        {"type": "message_start", "message": _message(body)},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    ]


def _asked(number: int, body: Mapping[str, Any], prompt: str) -> Asked | None:
    """The request as the one that asks the prompt, None when it is another.

    The client's side requests, such as the one that names the session, carry the prompt too, but offer no tools.
    Earlier turns come along in each request: only what follows the newest message with the prompt belongs to it.
    """
    messages = body.get("messages", [])
    for place in reversed(range(len(messages)) if body.get("tools") else ()):
        if messages[place].get("role") == "user" and any(text.strip() == prompt for text in texts(messages[place])):
            added = [text for value in messages[place:] for whole in texts(value) for text in _ADDED.findall(whole)]
            return Asked("\n".join(added) if added else None, answer(number), "\n".join(texts(messages)))
    return None
