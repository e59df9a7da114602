"""Where the installed versions of the packed program lie, and which of them is current.

    <data>/versions/<version>-<hash>/   one whole program: the executable, its libraries and program.json
    <data>/current                      a link to one of them; on Windows, where people may not make links, a text file
                                        with its name
    <data>/made.txt                     the folders that had to be made for it, see recall/install/made.py
    <data>/install.lock                 held while `current` changes

<data> is the system's folder for user data, the same for every state folder: RECALL_HOME says where records go, not
where programs are.
"""

import contextlib
import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from platformdirs import user_data_dir

from recall.core.atomic import replace_bytes
from recall.core.errors import InstallError
from recall.wire.files import read_file

WINDOWS = sys.platform == "win32"
PROGRAM = "recall.exe" if WINDOWS else "recall"
#: What a program folder says of itself, beside the executable.
MANIFEST = "program.json"

#: How a version's folder is called while it is being filled; the process that does it stands behind this.
FRESH = ".new-"

_NAME = re.compile(r"(\d{1,3})\.(\d{1,3})\.(\d{1,3})-[0-9a-f]{8}")


def number(name: str) -> tuple[int, ...]:
    """The version in a folder's name, to compare by: (0, 1, 0) of `0.1.0-3fa9c2d1`. Raises ValueError for no name."""
    found = _NAME.fullmatch(name)
    if not found:
        raise ValueError(f"{name} is not the name of a version's folder")
    return tuple(map(int, found.groups()))


def is_name(name: str) -> bool:
    """Whether a folder of this name can be a version."""
    return bool(_NAME.fullmatch(name))


@dataclass(frozen=True, slots=True)
class Place:
    """The folders below `data`. Nothing is made by naming it."""

    data: Path

    @classmethod
    def of_user(cls) -> "Place":
        """The one place of this user."""
        return cls(Path(user_data_dir("recall", appauthor=False)))

    @property
    def versions(self) -> Path:
        return self.data / "versions"

    @property
    def pointer(self) -> Path:
        return self.data / "current"

    @property
    def lock(self) -> Path:
        return self.data / "install.lock"

    def folder(self, name: str) -> Path:
        """The folder of a version."""
        return self.versions / name

    def program(self, name: str) -> Path:
        """The executable of a version."""
        return self.folder(name) / PROGRAM

    def names(self) -> list[str]:
        """The versions that are here, oldest first."""
        with contextlib.suppress(OSError):
            found = [entry.name for entry in self.versions.iterdir() if is_name(entry.name)]
            return sorted(
                (name for name in found if self.program(name).is_file()), key=lambda name: (number(name), name)
            )
        return []

    def current(self) -> str | None:
        """The name of the current version, None where there is none or it is gone."""
        try:
            name = read_file(self.pointer).decode("utf-8").strip() if WINDOWS else self.pointer.readlink().name
        except (OSError, UnicodeDecodeError):
            return None
        return name if is_name(name) and self.program(name).is_file() else None

    def make_current(self, name: str) -> None:
        """Point to a version, in one step: whoever looks finds the old one or the new one. Raises InstallError where
        something else stands there, OSError."""
        if WINDOWS:
            replace_bytes(self.pointer, name.encode(), 0o600)
            return
        if self.pointer.is_dir() and not self.pointer.is_symlink():
            raise InstallError(
                f"expected {self.pointer} to be recall's link to the version in use, found a folder; move it away"
            )
        temporary = self.pointer.with_name(f".current-{os.getpid()}")
        temporary.unlink(missing_ok=True)
        temporary.symlink_to(Path("versions") / name)
        temporary.replace(self.pointer)

    def lasting_program(self) -> Path | None:
        """The path of the current program that stays right after an upgrade: through the link, on Windows the
        version's own, which an upgrade has to rewrite wherever it is named. None where nothing is installed."""
        name = self.current()
        if name is None:
            return None
        return self.program(name) if WINDOWS else self.pointer / PROGRAM


def own_name(executable: str = sys.executable) -> str | None:
    """The version that this process runs from, None for one that is not installed (or not packed)."""
    folder = Path(executable).parent
    packed = getattr(sys, "frozen", False) and is_name(folder.name) and folder.parent.name == "versions"
    return folder.name if packed else None


def is_fresh(executable: str = sys.executable) -> bool:
    """Whether this is a packed program that a carrier has unpacked to try something, and not installed."""
    return bool(getattr(sys, "frozen", False)) and Path(executable).parent.name.startswith(FRESH)


def own_place(executable: str = sys.executable) -> Place | None:
    """The place that this process runs from, None for a program that is not installed."""
    return Place(Path(executable).parents[2]) if own_name(executable) else None
