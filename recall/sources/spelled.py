"""The folder that the name of one of Claude's folders spells, where no transcript tells it any more.

Many paths have one name (`a-b`, `a.b`, `a/b`), so it is not turned back: the folders of this machine are compared with
it.
"""

import os
from pathlib import Path

from recall.sources.projects import MAX_ENCODED_CHARACTERS, encode

#: Most folders that are looked into for one name: the parents of a path are a dozen.
_MOST = 500


def spelled_path(name: str) -> str | None:
    """The one folder, as an absolute path, whose path is spelled so; None where there is none, or more than one."""
    if len(name) > MAX_ENCODED_CHARACTERS:  # cut, and with a number of Claude Code's own at its end
        return None
    home = os.path.realpath(Path.home())
    for start in (home, *_roots(name)):
        spelled = encode(start).rstrip("-")
        if name == spelled and start == home:
            return home
        if name.startswith(f"{spelled}-") and (found := _below(start, name[len(spelled) + 1 :])):
            return found.pop() if len(found) == 1 else None
    return None


def _roots(name: str) -> list[str]:
    """Where the path may begin: `/`, or the drive that the name begins with."""
    if os.name != "nt":
        return ["/"]
    return [f"{name[0]}:\\"] if name[1:3] == "--" else []


def _below(start: str, rest: str) -> set[str]:
    """The folders below `start` that the rest of a name spells; links are none of them, for they have a path of their
    own."""
    found: set[str] = set()
    left = [(start, rest)]
    for _ in range(_MOST):
        if not left:
            break
        folder, rest = left.pop()
        try:
            with os.scandir(folder) as entries:
                listed = [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]
        except OSError:
            continue
        for path in listed:
            spelled = encode(os.path.basename(path))  # noqa: PTH119
            if rest == spelled:
                found.add(path)
            elif rest.startswith(f"{spelled}-"):
                left.append((path, rest[len(spelled) + 1 :]))
    return found
