"""Projects by the names that people use. Pure functions."""

from pathlib import Path

from recall.core.errors import UsageError
from recall.core.types import Project
from recall.sources.projects import Projects
from recall.sources.repository import is_path

#: An error lists at most so many projects.
MAX_LISTED = 12


def project_meant(name: str, projects: Projects) -> Project:
    """The one project that `--repo NAME` names. Raises UsageError with the candidates."""
    found = projects.named(name)
    if len(found) == 1:
        return found[0]
    listed = sorted(project.name for project in found or projects)
    names = ", ".join(listed[:MAX_LISTED]) + (f" and {len(listed) - MAX_LISTED} more" if listed[MAX_LISTED:] else "")
    if found:
        raise UsageError(f"{name!r} could be several projects; write more of the path: {names}")
    raise UsageError(f"no project is called {name!r}; known are: {names or 'none yet'}")


def project_name(projects: Projects, scope: frozenset[str]) -> str | None:
    """The short name of the project in scope, None where nothing is known of it.

    A project whose path no transcript tells (they are deleted after 30 days) is named by the asker's path.
    """
    known = sorted(scope & projects.by_key.keys())
    if not known:
        return None
    key = next(filter(is_path, sorted(scope)), known[0])
    return projects.by_key[key].name if key in projects.by_key else Path(key).name
