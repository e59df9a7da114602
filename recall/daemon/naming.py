"""Projects by the names that people use. Pure functions."""

from collections.abc import Iterable
from pathlib import Path

from recall.core.errors import UsageError
from recall.core.types import TEAM, Project
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


def scope_meant(name: str, projects: Projects, known: Iterable[str]) -> frozenset[str]:
    """The keys of the one project that `--repo NAME` names, here and on the other machines of the team; `known` are all
    keys of projects that have records. Raises UsageError with the candidates."""
    wanted = name.strip().casefold()
    shared = {key for key in known if key.startswith(TEAM) and key.removeprefix(TEAM).casefold() == wanted}
    try:
        project = project_meant(name, projects.with_roots(filter(is_path, known)))
    except UsageError:
        if not shared:
            raise
        return frozenset(shared)
    return frozenset({project.key, TEAM + project.name, *shared})


def project_name(projects: Projects, scope: frozenset[str]) -> str | None:
    """The short name of the project in scope, None where nothing is known of it.

    A project whose path no transcript tells (they are deleted after 30 days) is named by the asker's path.
    """
    known = sorted(scope & projects.by_key.keys())
    if not known:
        return next((key.removeprefix(TEAM) for key in sorted(scope) if key.startswith(TEAM)), None)
    key = next(filter(is_path, sorted(scope)), known[0])
    return projects.by_key[key].name if key in projects.by_key else Path(key).name
