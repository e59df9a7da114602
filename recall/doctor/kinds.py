"""Files and folders of ours in whose place something else stands: nothing of it is read, and none of it is written."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

from recall.doctor.case import Finding

Kind = Literal["file", "folder"]


def misplaced(name: str, wanted: Mapping[Path, tuple[Kind, str]]) -> Iterator[Finding]:
    """A finding of the check `name` for each path that is there and of another kind than wanted; with each what fails
    until then. A link counts as what it leads to, one that leads nowhere as nothing."""
    for path, (kind, effect) in wanted.items():
        try:
            if not path.exists() or (path.is_file() if kind == "file" else path.is_dir()):
                continue
        except OSError:  # what nobody may look at, other checks name
            continue
        found = f"{path}: expected a {kind}, found something else; until it is taken away {effect}"
        yield Finding(name, "problem", f"no-{kind}", found, "move it away", None, {"file": path.name})
