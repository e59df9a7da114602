"""Lookup: the decision that a person asks about, and the message that it was made on."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from recall.core.config import Config, load_config
from recall.core.errors import ConfigError, RecallError
from recall.insight.decisions import Decision, choose, read_decisions
from recall.insight.typed import Typed, find_prompt, transcripts_of
from recall.wire.paths import StatePaths

#: Reasons of messages that no person typed in words. By their time alone a neighbour would be taken for them.
_NOT_TYPED = {"unreadable", "event", "subagent", "machine", "command"}


@dataclass(frozen=True, slots=True)
class Asked:
    """A decision with its message, None where the transcript does not hold it (any more)."""

    decision: Decision
    typed: Typed | None


def claude_folders(paths: StatePaths, environment: Mapping[str, str]) -> list[Path]:
    """Claude Code's folders; by the defaults where config.toml is wrong, which `recall status` says."""
    try:
        return load_config(Path(paths.config)).claude_folders(environment)
    except ConfigError:
        return Config().claude_folders(environment)


def decisions_of(paths: StatePaths) -> list[Decision]:
    """All decisions that the journals hold, in order of time."""
    return list(read_decisions(Path(paths.injections), Path(paths.hook_log)))


def last_asked(
    paths: StatePaths, environment: Mapping[str, str], session: str | None = None, at: datetime | None = None
) -> Asked:
    """The last decision (of a session), or the one nearest to a local time. Raises RecallError where there is none."""
    decision = choose(decisions_of(paths), session, at)
    if decision is None:
        of = f" of the session {session}" if session else ""
        raise RecallError(
            f"no message{of} is in {paths.injections}: none was typed into Claude Code with the hook in place, or the "
            "file could not be written; `recall status` tells whether the hook is registered"
        )
    if not decision.session or (decision.prompt is None and decision.reason in _NOT_TYPED):
        return Asked(decision, None)
    transcripts = transcripts_of(decision.session, claude_folders(paths, environment))
    return Asked(decision, find_prompt(transcripts, decision.prompt, decision.time))
