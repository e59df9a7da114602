"""The sources of a run, wired to the readers that know their files."""

from collections.abc import Sequence
from pathlib import Path

from recall.index.pipeline import Source
from recall.sources import memory
from recall.sources.projects import Projects


def sources_of(claude_folders: Sequence[Path], projects: Projects) -> list[Source]:
    """Everything that is indexed for these Claude folders; `projects` was discovered in them just now."""
    return [Source("memory", lambda: memory.scan(claude_folders, projects), memory.read)]
