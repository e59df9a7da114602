"""Messages: what one line of a transcript is to a conversation, of which only the words of two count.

The format of the lines is Claude Code's own and changes: every field may be missing or of another type, and unknown
records say nothing.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from recall.sources.titles import TITLE_FIELDS
from recall.text.clean import one_line, visible

#: No more of one text is looked at, in characters.
MAX_TEXT_CHARACTERS = 8000

#: Values of `entrypoint` behind which a person sits, and those behind which none does (besides `sdk-*`).
_PEOPLE = {"cli", "claude-vscode", "claude-desktop"}
_MACHINES = {"mcp", "claude-code-github-action"}
#: What programs write in the place of a person and the model answers.
_MACHINE_PROMPTS = (
    "This session is being continued",
    "<task-notification>",
    "<cross-session-message",
    "<session-start-hook>",
    "<tick>",
    "<goal>",
)
#: What programs write into the conversation on the way; the answer under way goes on.
_NOTICES = ("<local-command-", "[Request interrupted", "Stop hook feedback:", "<bash-", "Caveat:")
#: What programs put before a person's words.
_ADDED = ("system-reminder", "ide_opened_file", "ide_selection")
_COMMAND_TAGS = ("<command-name>", "<command-message>", "<command-args>")
_ADDED_BLOCK = re.compile(rf"\s*<({'|'.join(_ADDED)})\b(?:[^>]*>.*?</\1>|.*)", re.DOTALL)
_COMMAND_PART = re.compile(r"<command-(name|args)>(.*?)</command-\1>", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a person wrote. `queued`: while the model was working, so that the same text may follow once more."""

    text: str
    queued: bool


@dataclass(frozen=True, slots=True)
class Answer:
    """A piece of text that the model wrote."""

    text: str


@dataclass(frozen=True, slots=True)
class Title:
    """A name for the session, by the type of its record."""

    record: str
    text: str


@dataclass(frozen=True, slots=True)
class Break:
    """What follows answers no person: a bare command, a compaction, or, where that is known, an `automated` prompt."""

    automated: bool = False


@dataclass(frozen=True, slots=True)
class Sidechain:
    """A subagent's prompt. It lies between the lines of the conversation, whose answer goes on."""


Message = Prompt | Answer | Title | Break | Sidechain


def read_message(record: Mapping[str, Any], entrypoint: str) -> Message | None:
    """What a record says, None where that is nothing.

    `entrypoint` is the last one seen in the file, for records without their own.
    """
    kind = record.get("type")
    if not isinstance(kind, str):
        return None
    if kind in TITLE_FIELDS:
        text = record.get(TITLE_FIELDS[kind])
        return Title(kind, text[:MAX_TEXT_CHARACTERS]) if isinstance(text, str) and one_line(text) else None
    if kind == "system":
        return Break() if record.get("subtype") == "compact_boundary" else None
    if record.get("isSidechain"):
        return Sidechain() if kind == "user" else None
    if kind == "user":
        return _user(record, entrypoint)
    if kind == "attachment":
        return _queued(record, entrypoint)
    if kind == "assistant":
        return _answer(record)
    return None


def _user(record: Mapping[str, Any], entrypoint: str) -> Message | None:
    message = record.get("message")
    if not isinstance(message, dict) or record.get("toolUseResult") is not None:
        return None
    content = message.get("content")
    if isinstance(content, list) and any(isinstance(b, dict) and b.get("type") == "tool_result" for b in content):
        return None
    if record.get("isCompactSummary") or record.get("teamName"):
        return Break()
    if record.get("isMeta"):
        return None
    return _prompt(record, content, entrypoint, queued=False)


def _queued(record: Mapping[str, Any], entrypoint: str) -> Message | None:
    """A prompt typed while the model worked. No other attachment is anyone's words; hooks' texts are our own, too."""
    attachment = record.get("attachment")
    if not isinstance(attachment, dict) or attachment.get("type") != "queued_command" or attachment.get("isMeta"):
        return None
    if attachment.get("commandMode") not in (None, "prompt"):
        return Break()
    return _prompt({**record, **attachment}, attachment.get("prompt"), entrypoint, queued=True)


def _prompt(record: Mapping[str, Any], content: object, entrypoint: str, *, queued: bool) -> Message | None:
    text = visible("\n".join(filter(None, map(_own_words, _texts(content))))[:MAX_TEXT_CHARACTERS]).strip()
    if text.startswith(_NOTICES):
        return None
    if not _by_person(record, entrypoint):
        return Break(automated=True)
    if text.startswith(_COMMAND_TAGS):
        text = _command(text)
    if not text or record.get("promptSource") == "system" or text.startswith(_MACHINE_PROMPTS) or _is_bare(text):
        return Break()
    return Prompt(text, queued)


def _answer(record: Mapping[str, Any]) -> Answer | None:
    message = record.get("message")
    if not isinstance(message, dict) or record.get("isApiErrorMessage"):
        return None
    if str(message.get("model")).startswith("<synthetic"):
        return None
    text = visible("\n".join(_texts(message.get("content")))[:MAX_TEXT_CHARACTERS]).strip()
    return Answer(text) if text else None


def _by_person(record: Mapping[str, Any], entrypoint: str) -> bool:
    """Whether a person wrote a prompt, by the strongest sign that it has. Clients before 2.1.80 gave none."""
    origin = record.get("origin")
    kind = origin.get("kind") if isinstance(origin, dict) else None
    if isinstance(kind, str) and kind != "human":
        return False
    if entrypoint in _PEOPLE:
        return True
    if entrypoint in _MACHINES or entrypoint.startswith("sdk-"):
        return False
    return record.get("promptSource") not in ("sdk", "system")


def _texts(content: object) -> Iterator[str]:
    """The texts of a message: one string, or a list of blocks and bare strings."""
    for block in content if isinstance(content, list) else [content]:
        text = block.get("text") if isinstance(block, dict) and block.get("type") == "text" else block
        if isinstance(text, str):
            yield text


def _own_words(text: str) -> str:
    """A text without what programs put before it; one that was opened and never closed takes everything."""
    while added := _ADDED_BLOCK.match(text):
        text = text[added.end() :]
    return text.strip()


def _command(text: str) -> str:
    """A slash command as it was typed."""
    parts = dict(_COMMAND_PART.findall(text))
    name = one_line(parts.get("name", ""))
    return f"/{name.removeprefix('/')} {parts.get('args', '').strip()}".strip()


def _is_bare(text: str) -> bool:
    """A command without anything that a person would say, or one for the shell."""
    return text.startswith("!") or (text.startswith("/") and len(text.split()) == 1)
