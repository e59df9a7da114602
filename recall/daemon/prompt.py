"""What stands in the hook's JSON, and whether that message is a person's question at all. Pure functions."""

import json
import re
from dataclasses import dataclass
from typing import Any

#: How machine-made prompts begin (CLAUDE-CODE.md lists what the client sends through the same hook).
MACHINE_MADE = (
    "<task-notification>",
    "<cross-session-message",
    "<command-",
    "<local-command-",
    "<bash-",
    "<session-start-hook>",
    "<tick>",
    "<goal>",
    "<system-reminder>",
    "<teammate-message",
    "[Request interrupted",
    "This session is being continued",
    "Stop hook feedback:",
    "Caveat:",
)
#: `/clear`, `/plugin:name args`; a message that begins with a path (`/etc/hosts is wrong`) is a question.
_SLASH_COMMAND = re.compile(r"/[\w:.-]*(\s|\Z)")
OFF_WORD = "#norecall"
#: Characters that are kept of each end of a long message: together some 200 tokens of English or 400 of Japanese,
#: which take 40 to 90 ms on two cores.
END_CHARACTERS = 400
EVENT = "UserPromptSubmit"


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a person and where it was typed. `event` is echoed in the answer."""

    prompt: str
    cwd: str | None
    transcript: str | None
    session: str | None
    event: str


@dataclass(frozen=True, slots=True)
class Skip:
    """Why a message is not searched, in one fixed word for the journal."""

    reason: str


def gist(prompt: str) -> str:
    """What of a message is embedded: all of it, or both ends of a long one, where people say what they want.

    A paste of thousands of characters would cost the whole time budget, and its middle only blurs the question.
    """
    return prompt if len(prompt) <= 2 * END_CHARACTERS else f"{prompt[:END_CHARACTERS]}\n{prompt[-END_CHARACTERS:]}"


def read_message(body: bytes, min_characters: int) -> Message | Skip:
    """The hook's stdin as a Message, or the reason to stay silent. Keys in snake_case or camelCase."""
    try:
        fields = json.loads(body)
    except (ValueError, RecursionError):
        return Skip("unreadable")
    if not isinstance(fields, dict):
        return Skip("unreadable")
    prompt = _text(fields, "prompt")
    if prompt is None:
        return Skip("unreadable")
    message = Message(
        prompt=prompt.strip(),
        cwd=_text(fields, "cwd"),
        transcript=_text(fields, "transcript_path", "transcriptPath"),
        session=_text(fields, "session_id", "sessionId"),
        event=_text(fields, "hook_event_name", "hookEventName") or EVENT,
    )
    reason = _reason_to_skip(message, fields, min_characters)
    return Skip(reason) if reason else message


def _reason_to_skip(message: Message, fields: dict[str, Any], min_characters: int) -> str | None:
    prompt = message.prompt
    if message.event != EVENT:
        return "event"
    if _text(fields, "agent_id", "agentId"):
        return "subagent"
    if prompt.startswith(MACHINE_MADE):
        return "machine"
    if prompt.startswith("!") or _SLASH_COMMAND.match(prompt):
        return "command"
    if OFF_WORD in prompt.casefold():
        return "norecall"
    if len(prompt) < min_characters:
        return "short"
    return None


def _text(fields: dict[str, Any], *names: str) -> str | None:
    """The first of `names` that holds a text."""
    return next((fields[name] for name in names if isinstance(fields.get(name), str)), None)
