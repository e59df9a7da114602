"""Gemini CLI: one line of a session (`chats/session-*.jsonl`) as the record that Claude Code would have written.

    {"sessionId": "...", "projectHash": "...", "startTime": "...", "kind": "main"}
    {"id": "...", "timestamp": "...", "type": "user", "content": [...], "displayContent": [{"text": "..."}]}
    {"id": "...", "timestamp": "...", "type": "gemini", "content": "..."}
    {"$set": {"summary": "..."}}

What the person typed is `displayContent` where that stands, else the first part of `content`. The folder of the
project stands in `.project_root` beside `chats`, and only the messages that a person typed are in `logs.json` there
too: `gemini -p` leaves it alone. Read in files of version 0.61; unknown lines say nothing.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from recall.core.errors import SourceError
from recall.sources.files import read_part
from recall.sources.head import Head, first_records, text_of

_ROOT, _LOG = ".project_root", "logs.json"
_MAX_PATH_BYTES = 8192
#: The log of what was typed, of which the newest part is looked at.
_LOG_BYTES = 16 * 1024 * 1024
#: What the client puts around texts that are nobody's.
_ADDED = re.compile(r"<(hook_context|session_context)>.*?(?:</\1>|\Z)", re.DOTALL)


def head(path: str) -> Head | None:
    """What a session's first line and the files beside it tell; None while one is missing. Raises SourceError."""
    first = next(first_records(path), {})
    session, folder = text_of(first.get("sessionId")), Path(path).parent.parent
    try:
        cwd = read_part(str(folder / _ROOT), _MAX_PATH_BYTES, follow=True).decode().strip()
    except (SourceError, UnicodeDecodeError):
        return None  # versions before 0.30 kept a digest of the path, which tells nobody
    if not session or not cwd:
        return None
    return Head(session, cwd, first.get("kind") == "main" and _is_typed(folder / _LOG, session))


def record(line: Mapping[str, Any]) -> dict[str, Any]:
    """One line as a record of Claude Code; an empty one where it says nothing."""
    common = {"uuid": line.get("id"), "timestamp": line.get("timestamp")}
    kind = line.get("type")
    if kind == "user":
        shown = line.get("displayContent") or line.get("content")
        own = (_ADDED.sub("", text).strip() for text in _texts(shown))
        return common | {"type": "user", "message": {"content": next(filter(None, own), "")}}
    if kind == "gemini":
        return common | {"type": "assistant", "message": {"content": list(_texts(line.get("content")))}}
    changed = line.get("$set")
    summary = changed.get("summary") if isinstance(changed, dict) else None
    return {"type": "ai-title", "aiTitle": summary} if summary else {}


def _texts(content: object) -> Iterator[str]:
    """The texts of a message: one string, or a list of parts and bare strings."""
    for part in content if isinstance(content, list) else [content]:
        text = part.get("text") if isinstance(part, dict) else part
        if isinstance(text, str):
            yield text


def _is_typed(log: Path, session: str) -> bool:
    try:
        return session.encode() in read_part(str(log), _LOG_BYTES, from_end=True, follow=True)
    except SourceError:
        return False
