"""What stands in the hook's JSON: a message, and whether it is a person's question at all, or the start of a session.

Pure functions. Claude Code, Codex, Qwen Code and Gemini CLI send nearly the same JSON.
"""

import json
import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from recall.text.paste import reduce

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
#: Commands after which nothing of what was shown is in the conversation any more.
EMPTYING = ("/clear", "/compact", "/new", "/reset")
OFF_WORD = "#norecall"
#: Characters that are kept of each end of what is said: together some 200 tokens of English or 400 of Japanese,
#: which take 40 to 90 ms on two cores.
END_CHARACTERS = 400
#: Characters of each end of a message that are read for what is said: some 30 ms of work. People write before or after
#: what they paste.
READ_CHARACTERS = 50_000
EVENT = "UserPromptSubmit"
#: The events that bring a message: Gemini CLI calls it otherwise. The answer repeats the event's name.
MESSAGE_EVENTS = (EVENT, "BeforeAgent")
START_EVENT = "SessionStart"
#: What a session starts by. Of these the last two take what was shown out of the conversation; a resumed session, and
#: a fork of one, hold it still.
SOURCES = ("startup", "resume", "fork", "clear", "compact")
#: `gemini -p` puts what the hooks of the session's begin printed before the prompt, our own list among it.
_ADDED = re.compile(r"\A\s*<hook_context>.*?</hook_context>", re.DOTALL)
#: A message of fewer different characters ("xxxxxxxxxx") says nothing.
_FEWEST_CHARACTERS = 4


@dataclass(frozen=True)
class Message:
    """One message and where it was typed. `event` is echoed in the answer; `agent` is set in a subagent.

    `prompt_id` tells one message from the next; not every client sends one.
    """

    prompt: str
    cwd: str | None = None
    transcript: str | None = None
    session: str | None = None
    prompt_id: str | None = None
    agent: str | None = None
    event: str = EVENT

    @cached_property
    def gist(self) -> str:
        """What of it is embedded: what the person says, less what was pasted; "" where all was pasted.

        Of much that is said both ends are taken, where people say what they want. A paste of thousands of characters
        would cost the whole time budget, and would bring what resembles its words and not the question.
        """
        return _ends(reduce(_whole_lines(self.prompt)), END_CHARACTERS)

    @property
    def to_search(self) -> str:
        """The gist, or of a message that is pasted text alone both ends: for who asks for it by `recall query`."""
        return self.gist or _ends(self.prompt, END_CHARACTERS)


@dataclass(frozen=True)
class Start:
    """A session that starts, or goes on with an empty conversation. `source` is one of SOURCES, None for another."""

    source: str | None = None
    cwd: str | None = None
    transcript: str | None = None
    session: str | None = None
    prompt_id: str | None = None
    agent: str | None = None

    @property
    def emptied(self) -> bool:
        """Whether nothing of what was shown is in the conversation any more."""
        return self.source in ("clear", "compact")


def read_call(body: bytes) -> Message | Start | None:
    """The hook's stdin, None when it is neither. Keys in snake_case or camelCase.

    Of a message only `prompt` is needed, of a start only the event's name.
    """
    try:
        fields = json.loads(body)
    except (ValueError, RecursionError):
        return None
    if not isinstance(fields, dict):
        return None
    event, prompt = _text(fields, "hook_event_name", "hookEventName"), _text(fields, "prompt")
    where = (
        _text(fields, "cwd"),
        _text(fields, "transcript_path", "transcriptPath"),
        _text(fields, "session_id", "sessionId"),
        _text(fields, "prompt_id", "promptId", "turn_id"),  # the last is Codex's
        _text(fields, "agent_id", "agentId"),
    )
    if event == START_EVENT:
        source = _text(fields, "source")
        return Start(source if source in SOURCES else None, *where)
    return None if prompt is None else Message(_ADDED.sub("", prompt).strip(), *where, event or EVENT)


def reason_to_skip(message: Message | None, min_characters: int) -> str | None:
    """Why a message is not searched, in one fixed word for the journal; None for a person's question."""
    if message is None:
        return "unreadable"
    prompt = message.prompt
    if message.event not in MESSAGE_EVENTS:
        return "event"
    if message.agent:
        return "subagent"
    if prompt.startswith(MACHINE_MADE):
        return "machine"
    if prompt.startswith("!") or _SLASH_COMMAND.match(prompt):
        return "command"
    if OFF_WORD in prompt.casefold():
        return "norecall"
    if len(prompt) < min_characters or len(set(prompt)) < _FEWEST_CHARACTERS:
        return "short"
    return None if message.gist else "paste"


def empties_the_conversation(prompt: str) -> bool:
    """Whether this command takes what was shown out of the conversation."""
    return any(prompt == word or prompt.startswith(f"{word} ") for word in EMPTYING)


def _whole_lines(prompt: str) -> str:
    """A message, or the whole lines of both ends of one that is too long to read in time."""
    if len(prompt) <= 2 * READ_CHARACTERS:
        return prompt
    first, last = prompt[:READ_CHARACTERS], prompt[-READ_CHARACTERS:]
    return (first.rpartition("\n")[0] or first) + "\n" + (last.partition("\n")[2] or last)


def _ends(text: str, characters: int) -> str:
    return text if len(text) <= 2 * characters else f"{text[:characters]}\n{text[-characters:]}"


def _text(fields: dict[str, Any], *names: str) -> str | None:
    """The first of `names` that holds a text."""
    return next((fields[name] for name in names if isinstance(fields.get(name), str)), None)
