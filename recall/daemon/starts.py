"""Answers the start of a session: the repository's accepted decisions as a list, once a conversation.

The event does more than that: it makes the hook start a daemon where none runs, and it says when the client has taken
what was shown out of the conversation.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

from recall.daemon.accepted import Statuses, accepted, candidates
from recall.daemon.asked import Asked
from recall.daemon.engine import Engine, Ready
from recall.daemon.journal import SECOND_CALL, Entry, Journal
from recall.daemon.prompt import START_EVENT, Start
from recall.daemon.sessions import Session
from recall.search.decision_list import Listed, render_list
from recall.sources.status import Status

#: At most so many records are looked at, the newest: no list holds more than some sixty.
MAX_LOOKED_AT = 1000


@dataclass(frozen=True, slots=True)
class _Outcome:
    reason: str
    listed: Listed | None = None
    muted: int = 0


class Starts:
    """Reads session starts in the question thread; the records' files are read elsewhere, in one thread."""

    def __init__(self, engine: Engine, journal: Journal) -> None:
        self._engine = engine
        self._journal = journal
        self._statuses = Statuses()

    def asked(self, start: Start, session: Session, ready: Callable[[], Ready]) -> Asked:
        """The start of this session, answered by the line that the hook prints, empty for silence.

        Raises what `ready` raises.
        """
        started = time.perf_counter()
        silence = self._silence(start, session)
        if silence:
            return Asked(lambda _: self._tell(start, session, _Outcome(silence), started))
        now = ready()
        scope = now.projects.current(start.cwd, start.transcript)
        muted = self._engine.mutes.muted(start.session, scope)
        found = candidates(now.snapshot.documents, scope)[:MAX_LOOKED_AT]
        heard = [versions for versions in found if not any(version.path in muted for version in versions)]
        paths = [version.path for versions in heard for version in versions]
        statuses: dict[str, Status | None] = {}

        def answer(_: object) -> bytes:
            config = self._engine.config.current()
            language = now.snapshot.language if config["language"] == "auto" else config["language"]
            unread = len(statuses) < len(paths)
            listed = render_list(accepted(heard, statuses, language), language, unread=unread)
            reason = "decisions" if listed else "not read in time" if unread else "no decisions"
            return self._tell(start, session, _Outcome(reason, listed, len(found) - len(heard)), started)

        return Asked(answer, prepare=lambda left: statuses.update(self._statuses.read(paths, left)))

    def _silence(self, start: Start, session: Session) -> str | None:
        """Why no list is made, in one fixed word for the journal; None where one is. What was emptied is forgotten."""
        if start.agent:
            return "subagent"
        if session.is_second_call(f"{START_EVENT} {start.source}", start.prompt_id):
            return SECOND_CALL
        if start.source == "compact":
            session.compact(start.transcript)
        elif start.emptied:
            session.forget()
        config = self._engine.config.current()
        if not (config["enabled"] and config["session_start"]):
            return "disabled"
        if start.source in ("resume", "fork"):
            return "resumed"
        return "already shown" if session.listed else None

    def _tell(self, start: Start, session: Session, outcome: _Outcome, started: float) -> bytes:
        """The printed line of an outcome, once session and journal know of it."""
        records = outcome.listed.records if outcome.listed else ()
        line = (outcome.listed.line if outcome.listed else "").encode()
        session.shown.update(record.path for record in records)
        session.listed |= bool(records)
        self._journal.add(
            Entry(
                session=start.session,
                tier="none",
                reason=outcome.reason,
                items=records,
                size=len(line),
                ms=(time.perf_counter() - started) * 1000,
                emptied=start.emptied,
                muted=outcome.muted,
                prompt=start.prompt_id,
                event=START_EVENT,
                source=start.source,
            )
        )
        return line
