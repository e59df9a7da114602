"""What each Claude Code session has been shown already, so that it is not shown twice.

In memory, for the sessions of the last hours; after a restart it is read back from the journal. A compaction or a
`/clear` takes the headlines out of the conversation, so what was shown before counts no longer.
"""

import hashlib
import json
import os
import secrets
import time
from collections import OrderedDict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from recall.wire.files import open_file

#: Sessions that are remembered; the one that was used longest ago is forgotten first.
MAX_SESSIONS = 256
#: Calls of a session that are remembered: the second hook of one prompt comes within milliseconds.
MAX_CALLS = 32
#: Seconds within which an equal call is the second hook of one prompt where no id of the prompt tells.
SECOND_CALL_SECONDS = 2.0
#: Of a transcript that grew by more than so many bytes since the last message only the newest are looked at.
MAX_LOOK = 8 * 1024 * 1024
#: What counts as recent of what it gained: the last few tool calls.
RECENT = 256 * 1024

#: What Claude Code writes into a transcript when it compacts the conversation.
_COMPACTED = (b'"isCompactSummary":true', b'"isCompactSummary": true', b'"compact_boundary"')

#: Messages are remembered by digests under a key that is in this process's memory alone.
_KEY = secrets.token_bytes(32)


@dataclass(frozen=True, slots=True)
class Past:
    """What the journal says of one call: the session, whether its conversation was emptied before, the paths that were
    handed over, whether as the list of a session's start, and the id of the prompt."""

    session: str
    emptied: bool = False
    paths: Collection[str] = ()
    listed: bool = False
    prompt: str | None = None


@dataclass(slots=True)
class Session:
    """One session: files shown since the last compaction, calls answered, how far its transcript was looked at.

    `listed`: the list of decisions is in the conversation. `answered`: prompts of before a restart, by their ids.
    """

    shown: set[str] = field(default_factory=set)
    listed: bool = False
    answered: set[str] = field(default_factory=set)
    calls: OrderedDict[bytes, float] = field(default_factory=OrderedDict)
    offset: int | None = None
    recent: bytes = b""  # what the transcript gained before the last message
    awaited: bool = False  # a compaction that the client told of before it stands in the transcript

    def is_second_call(self, what: str, prompt_id: str | None, now: float | None = None) -> bool:
        """Whether this was asked before: a plugin's hook and a settings entry's both call us, at the same moment.

        `what` was sent, in the prompt of this id. Without one an equal call counts that came just before; `now` is of
        time.monotonic, in seconds.
        """
        now = time.monotonic() if now is None else now
        text = f"{prompt_id or ''}\n{what}".encode("utf-8", "surrogatepass")
        call = hashlib.blake2b(text, key=_KEY, digest_size=16).digest()
        before = self.calls.get(call)
        self.calls[call] = now
        while len(self.calls) > MAX_CALLS:
            self.calls.popitem(last=False)
        if prompt_id:
            return before is not None or prompt_id in self.answered
        return before is not None and now - before <= SECOND_CALL_SECONDS

    def forget(self) -> None:
        """The conversation was emptied: nothing of what was shown is in it."""
        self.shown.clear()
        self.listed = False

    def compact(self, transcript: str | None) -> None:
        """Forget, for the client says that it compacts. What it writes of that must not count once more, after new
        headlines: it may stand in the transcript by now, or come later."""
        self.awaited = not self.look(transcript)
        self.forget()

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
            with os.fdopen(open_file(transcript), "rb") as file:
                file.seek(max(self.offset, size - MAX_LOOK))
                gained = file.read(MAX_LOOK)
            self.offset = size
        except (OSError, ValueError):  # ValueError: a path with a NUL or half a character
            return False
        self.recent = gained[-RECENT:]
        compacted = not is_first and any(mark in gained for mark in _COMPACTED)
        if compacted and self.awaited:
            self.awaited = compacted = False
        if compacted:
            self.forget()
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

    def restore(self, entries: Iterable[Past]) -> None:
        """Take over what the journal says, in order of time."""
        for past in entries:
            session = self.of(past.session)
            if past.emptied:
                session.forget()
            session.shown.update(past.paths)
            session.listed |= past.listed
            if past.prompt:
                session.answered.add(past.prompt)
