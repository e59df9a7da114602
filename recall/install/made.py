"""Which folders had to be made for the program: `<data>/made.txt`, one path a line. An uninstall removes those alone.

The carrier writes the same file (tools/release/carrier.sh), for it makes the first of them.
"""

import contextlib
import os
from pathlib import Path

from recall.install.place import Place
from recall.wire.files import open_file, read_file


def make_folder(folder: Path, place: Place, mode: int = 0o777) -> None:
    """Make a folder with those above it, and remember which were missing. Raises OSError."""
    missing = [above for above in (folder, *folder.parents) if not above.exists()]
    if not missing:
        return
    folder.mkdir(mode=mode, parents=True, exist_ok=True)
    remember(place, missing)


def remember(place: Place, folders: list[Path]) -> None:
    """Add to the list. Its own folder must be there. Raises OSError."""
    handle = open_file(place.data / "made.txt", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
    with os.fdopen(handle, "a", encoding="utf-8", errors="surrogateescape", newline="\n") as file:
        file.writelines(f"{folder}\n" for folder in folders)


def made_folders(place: Place) -> list[Path]:
    """The folders that were made, the innermost first. Others can be none: those above the data and the link."""
    try:
        text = read_file(place.data / "made.txt").decode("utf-8", errors="surrogateescape")
    except OSError:
        return []
    links = Path("~/.local/bin").expanduser()
    possible = {place.data, *place.data.parents, links, *links.parents}
    found = {Path(line) for line in text.splitlines() if line}
    return sorted(found & possible, key=lambda folder: len(folder.parts), reverse=True)


def remove_empty(folders: list[Path]) -> None:
    """Remove those of the folders that are empty."""
    for folder in folders:
        with contextlib.suppress(OSError):  # somebody else lives there now
            folder.rmdir()
