"""Codex: one line of a session (`rollout-*.jsonl`) as the record that Claude Code would have written.

    {"timestamp": "...", "type": "session_meta", "payload": {"id": "...", "cwd": "/p", "source": "cli", ...}}
    {"timestamp": "...", "type": "event_msg", "payload": {"type": "user_message", "message": "..."}}          to 0.15x
    {"timestamp": "...", "type": "event_msg", "payload": {"type": "item_completed", "item": {"type": "UserMessage"}}}
    {"timestamp": "...", "type": "response_item", "payload": {"type": "message", "role": "assistant", ...}}

A person's words are taken from the events only: among the items of role `user` stand AGENTS.md, the environment and
what hooks added. Read in files of version 0.171 and in the source of those before; unknown lines say nothing.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from recall.core.errors import SourceError
from recall.sources.files import read_part
from recall.sources.head import Head, first_records, text_of
from recall.sources.lines import json_object

#: Values of `source` behind which a person sits: the terminal, and the extension of an editor. `codex exec` has
#: another, and so have MCP clients; a subagent has an object there.
_PEOPLE = {"cli", "vscode"}
#: Programs that use what people use: `codex exec` and the SDK.
_MACHINES = ("codex_exec", "codex_sdk")
#: What an editor's extension puts before a person's words.
_IDE_CONTEXT, _REQUEST = "# Context from my IDE setup:", "## My request for Codex:"
#: Names of sessions; the latest counts. What the file holds beyond is too old to matter.
_INDEX, _INDEX_BYTES = "session_index.jsonl", 1024 * 1024


def head(path: str) -> Head | None:
    """What a session's first line tells; None while it is not there. Raises SourceError."""
    meta = next((record for record in first_records(path) if record.get("type") == "session_meta"), None)
    payload = _dict(meta.get("payload")) if meta else {}
    cwd, session = text_of(payload.get("cwd")), text_of(payload.get("id"))
    if not cwd or not session:
        return None
    person = payload.get("source", "cli") in _PEOPLE if isinstance(payload.get("source", "cli"), str) else False
    person = person and not text_of(payload.get("originator")).startswith(_MACHINES)
    return Head(session, cwd, person and payload.get("thread_source") in (None, "user"), _name(path, session))


def record(line: Mapping[str, Any]) -> dict[str, Any]:
    """One line as a record of Claude Code; an empty one where it says nothing."""
    kind, payload = line.get("type"), _dict(line.get("payload"))
    common = {"timestamp": line.get("timestamp")}
    if kind in ("session_meta", "turn_context"):
        return common | {"type": "context", "cwd": payload.get("cwd")}
    if kind == "compacted":
        return common | {"type": "system", "subtype": "compact_boundary"}
    if kind == "response_item":
        return common | _answer(payload)
    return common | _event(payload) if kind == "event_msg" else common


def _event(payload: Mapping[str, Any]) -> dict[str, Any]:
    match payload.get("type"):
        case "user_message":
            return _prompt([text_of(payload.get("message"))], None)
        case "item_completed":
            item = _dict(payload.get("item"))
            parts = item.get("content")
            if item.get("type") != "UserMessage" or not isinstance(parts, list):
                return {}
            return _prompt([text_of(part.get("text")) for part in map(_dict, parts)], item.get("id"))
        case "thread_name_updated":
            return {"type": "custom-title", "customTitle": payload.get("thread_name")}
    return {}


def _prompt(texts: list[str], identifier: object) -> dict[str, Any]:
    text = "\n".join(filter(None, texts))
    if text.startswith(_IDE_CONTEXT):
        text = text.partition(_REQUEST)[2]
    return {"type": "user", "uuid": identifier, "message": {"content": text.strip()}}


def _answer(payload: Mapping[str, Any]) -> dict[str, Any]:
    content = payload.get("content")
    if payload.get("type") != "message" or payload.get("role") != "assistant" or not isinstance(content, list):
        return {}
    texts = [part.get("text") for part in map(_dict, content) if part.get("type") == "output_text"]
    return {"type": "assistant", "message": {"content": [text for text in texts if isinstance(text, str)]}}


def _name(path: str, session: str) -> str:
    """The name that Codex gave to a session, which stands in `session_index.jsonl` of its folder."""
    index = next((parent / _INDEX for parent in Path(path).parents if (parent / _INDEX).is_file()), None)
    if index is None:
        return ""
    try:
        part = read_part(str(index), _INDEX_BYTES, from_end=True, follow=True)
    except SourceError:
        return ""
    for line in reversed(part.split(b"\n")):
        if json.dumps(session).encode() in line:
            return text_of((json_object(line) or {}).get("thread_name"))
    return ""


def _dict(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
