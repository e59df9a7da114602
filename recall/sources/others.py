"""Conversations and memory notes of all agents together: one kind of record is one source, for what its scan does not
offer any more is taken out of the index."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from recall.core.types import Document, FoundFile
from recall.sources import conversations, memory
from recall.sources.agent_memory import read_memory, scan_memory
from recall.sources.conversations import Step
from recall.sources.memory import Scan
from recall.sources.projects import Projects
from recall.sources.sessions import follow_session, is_session, scan_sessions


def scan_conversations(projects: Projects, agent_folders: Sequence[Path]) -> Scan:
    """Claude Code's transcripts and the sessions of other agents."""
    found = conversations.scan(projects)
    files, skipped = scan_sessions(agent_folders)
    return Scan([*found.files, *files], [*found.skipped, *skipped], projects.with_roots(file.project for file in files))


def follow(found: FoundFile, state: str | None) -> Iterator[Step]:
    """As `conversations.follow`, for a file of any agent."""
    return follow_session(found, state) if is_session(found.path) else conversations.follow(found, state)


def scan_notes(claude_folders: Sequence[Path], projects: Projects, agent_folders: Sequence[Path]) -> Scan:
    """Claude Code's memory notes and those of other agents."""
    found = memory.scan(claude_folders, projects)
    files, skipped = scan_memory(agent_folders, projects)
    return Scan([*found.files, *files], [*found.skipped, *skipped], projects.with_roots(file.project for file in files))


def read_note(found: FoundFile) -> Document:
    """As `memory.read`, for a note of any agent."""
    return read_memory(found)
