"""Gemini CLI: one line of a session (`chats/session-*.jsonl`) as the record that Claude Code would have written.

    {"sessionId": "...", "projectHash": "...", "startTime": "...", "kind": "main"}
    {"id": "...", "timestamp": "...", "type": "user", "content": [...], "displayContent": [{"text": "..."}]}
    {"id": "...", "timestamp": "...", "type": "gemini", "content": "..."}
    {"$set": {"summary": "..."}}

What the person typed is `displayContent` where that stands, else the first part of `content`. The folder of the
project stands in `.project_root` beside `chats`, and only the messages that a person typed are in `logs.json` there
too: `gemini -p` leaves it alone. They stand there under the session that the program was started with, so after
`/clear` or `/resume` only the words tell whose they are. Read in files of version 0.61; unknown lines say nothing.
"""

import json
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
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
    records = list(first_records(path))
    first = records[0] if records else {}
    session, folder = text_of(first.get("sessionId")), Path(path).parent.parent
    try:
        cwd = read_part(str(folder / _ROOT), _MAX_PATH_BYTES, follow=True).decode().strip()
    except (SourceError, UnicodeDecodeError):
        return None  # versions before 0.30 kept a digest of the path, which tells nobody
    if not session or not cwd:
        return None
    if first.get("kind") != "main":
        return Head(session, cwd, by_person=False)
    prompts = [text for line in records if line.get("type") == "user" and (text := _prompt(line))]
    return Head(session, cwd, _is_typed(folder / _LOG, session, text_of(first.get("startTime")), prompts))


def record(line: Mapping[str, Any]) -> dict[str, Any]:
    """One line as a record of Claude Code; an empty one where it says nothing."""
    common = {"uuid": line.get("id"), "timestamp": line.get("timestamp")}
    kind = line.get("type")
    if kind == "user":
        return common | {"type": "user", "message": {"content": _prompt(line)}}
    if kind == "gemini":
        return common | {"type": "assistant", "message": {"content": list(_texts(line.get("content")))}}
    changed = line.get("$set")
    summary = changed.get("summary") if isinstance(changed, dict) else None
    return {"type": "ai-title", "aiTitle": summary} if summary else {}


def _prompt(line: Mapping[str, Any]) -> str:
    """What the person typed of a message, empty where nothing is theirs."""
    shown = line.get("displayContent") or line.get("content")
    return next(filter(None, (_ADDED.sub("", text).strip() for text in _texts(shown))), "")


def _texts(content: object) -> Iterator[str]:
    """The texts of a message: one string, or a list of parts and bare strings."""
    for part in content if isinstance(content, list) else [content]:
        text = part.get("text") if isinstance(part, dict) else part
        if isinstance(text, str):
            yield text


def _is_typed(log: Path, session: str, start: str, prompts: list[str]) -> bool | None:
    """Whether the log names the session or holds one of its first messages. Before any is in the file: None when the
    log was written since the session began, as it is just before a typed message is handed to the hooks."""
    try:
        typed = read_part(str(log), _LOG_BYTES, from_end=True, follow=True)
    except SourceError:
        return False
    quoted = (json.dumps(prompt, ensure_ascii=False).encode(errors="replace") for prompt in prompts)
    if session.encode() in typed or any(b'"message": ' + text in typed for text in quoted):
        return True
    return None if not prompts and _was_written_since(log, start) else False


def _was_written_since(file: Path, moment: str) -> bool:
    """Whether a file changed at this moment (ISO 8601) or later; so it is taken where either is not told."""
    try:
        return file.stat().st_mtime >= datetime.fromisoformat(moment).timestamp()
    except (OSError, ValueError, OverflowError):
        return True
