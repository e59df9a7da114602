"""What each Claude Code session has been shown already, so that it is not shown twice.

In memory, for the sessions of the last hours; after a restart it is read back from the journal. A compaction or a
`/clear` takes the headlines out of the conversation, so what was shown before counts no longer.
"""

import json
import os
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field

#: Sessions that are remembered; the one that was used longest ago is forgotten first.
MAX_SESSIONS = 256
#: Prompts of a session whose ids are remembered: the second hook of one prompt comes within milliseconds.
MAX_PROMPTS = 32
#: Of a transcript that grew by more than so many bytes since the last message only the newest are looked at.
MAX_LOOK = 8 * 1024 * 1024
#: What counts as recent of what it gained: the last few tool calls.
RECENT = 256 * 1024

#: What Claude Code writes into a transcript when it compacts the conversation.
_COMPACTED = (b'"isCompactSummary":true', b'"isCompactSummary": true', b'"compact_boundary"')


@dataclass(slots=True)
class Session:
    """One session: files shown since the last compaction, prompts answered, how far its transcript was looked at."""

    shown: set[str] = field(default_factory=set)
    prompts: OrderedDict[str, None] = field(default_factory=OrderedDict)
    offset: int | None = None
    recent: bytes = b""  # what the transcript gained before the last message

    def is_second_call(self, prompt_id: str | None) -> bool:
        """Whether this prompt was asked before: a plugin's hook and a settings entry's both call us."""
        if not prompt_id:
            return False
        known = prompt_id in self.prompts
        self.prompts[prompt_id] = None
        while len(self.prompts) > MAX_PROMPTS:
            self.prompts.popitem(last=False)
        return known

    def look(self, transcript: str | None) -> bool:
        """See what the transcript gained since the last message; whether that holds a compaction, which forgets what
        was shown. At the first look a compaction may be older than what the journal says was shown, so that counts on.
        """
        self.recent = b""
        is_first = self.offset is None
        try:
            size = os.stat(transcript).st_size if transcript else 0  # noqa: PTH116
            if self.offset is None or size < self.offset:
                self.offset = max(0, size - MAX_LOOK)
            if not transcript or size == self.offset:
                return False
            with open(transcript, "rb") as file:  # noqa: PTH123
                file.seek(max(self.offset, size - MAX_LOOK))
                gained = file.read(MAX_LOOK)
            self.offset = size
        except (OSError, ValueError):  # ValueError: a path with a NUL or half a character
            return False
        self.recent = gained[-RECENT:]
        compacted = not is_first and any(mark in gained for mark in _COMPACTED)
        if compacted:
            self.shown.clear()
        return compacted

    def has_opened(self, path: str) -> bool:
        """Whether a tool was given this path since the last message."""
        quoted = json.dumps(path, ensure_ascii=False).encode("utf-8", "replace")
        return quoted in self.recent or json.dumps(path).encode() in self.recent


class Sessions:
    """All sessions by their id; a message without one has a session of its own."""

    def __init__(self) -> None:
        self._sessions: OrderedDict[str, Session] = OrderedDict()

    def of(self, session_id: str | None) -> Session:
        """The session of this id, made when it is new."""
        if not session_id:
            return Session()
        session = self._sessions.setdefault(session_id, Session())
        self._sessions.move_to_end(session_id)
        while len(self._sessions) > MAX_SESSIONS:
            self._sessions.popitem(last=False)
        return session

    def restore(self, entries: Iterable[tuple[str, bool, Iterable[str]]]) -> None:
        """Take over what the journal says: (session id, was it emptied before, paths shown), in order of time."""
        for session_id, emptied, paths in entries:
            if emptied:
                self.of(session_id).shown.clear()
            self.of(session_id).shown.update(paths)
