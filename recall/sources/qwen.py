"""Qwen Code: one line of a session (`chats/<session>.jsonl`) as the record that Claude Code would have written.

    {"uuid": "...", "sessionId": "...", "timestamp": "...", "type": "user", "cwd": "/p",
     "message": {"role": "user", "parts": [{"text": "..."}]}}

Only the first part of a message is the person's: files that it names and what hooks added follow as others. Whether a
person typed it is told by the identifier of the requests that follow: `<session>########<number>` in a terminal, a
random one for `qwen -p`. Read in files of version 0.15.10; unknown lines say nothing.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from recall.sources.head import Head, first_records, text_of

#: What stands in the identifier of a request that a person's message led to.
_TYPED = "########"


def head(path: str) -> Head | None:
    """What a session's first lines tell; None while there is none. Raises SourceError."""
    session, cwd, person = Path(path).stem, "", None
    for line in first_records(path):
        cwd = cwd or text_of(line.get("cwd"))
        event = _event(line)
        identifier = text_of(event.get("prompt_id"))
        if person is None and identifier and "subagent_name" not in event:
            person = _TYPED in identifier
    return Head(session, cwd, person) if cwd else None


def record(line: Mapping[str, Any]) -> dict[str, Any]:
    """One line as a record of Claude Code; an empty one where it says nothing."""
    common = {name: line.get(name) for name in ("uuid", "sessionId", "timestamp", "cwd")}
    kind, subtype = line.get("type"), line.get("subtype")
    texts = list(_texts(line))
    if kind == "user":
        # Of a scheduled prompt or a notice of the program (`subtype`) the words are nobody's.
        origin = {"origin": {"kind": subtype}} if subtype else {}
        return common | origin | {"type": "user", "message": {"content": texts[:1]}}
    if kind == "assistant":
        return common | {"type": "assistant", "message": {"content": texts}}
    if kind == "system" and subtype == "custom_title":
        title = _dict(line.get("systemPayload")).get("customTitle")
        return common | {"type": "custom-title", "customTitle": title}
    if kind == "system" and subtype == "chat_compression":
        return common | {"type": "system", "subtype": "compact_boundary"}
    return common


def _texts(line: Mapping[str, Any]) -> Iterator[str]:
    """The texts of a message, without the model's thoughts."""
    parts = _dict(line.get("message")).get("parts")
    for part in map(_dict, parts if isinstance(parts, list) else []):
        if isinstance(text := part.get("text"), str) and not part.get("thought"):
            yield text


def _event(line: Mapping[str, Any]) -> Mapping[str, Any]:
    return _dict(_dict(line.get("systemPayload")).get("uiEvent"))


def _dict(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
