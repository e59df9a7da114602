"""Taking the installed program away: link, versions, pointer. What it keeps for the person is not here but in the state
folder, even where that is the same folder."""

import contextlib
import os
import subprocess
import sys
from pathlib import Path

from recall.core.errors import InstallError
from recall.install.cleanup import remove_leftovers, remove_version
from recall.install.link import remove_link
from recall.install.made import made_folders, remove_empty
from recall.install.place import WINDOWS, Place, is_name


def remove_program(place: Place) -> list[str]:
    """Remove everything that an installation made; what was removed, in words.

    The process that runs this is one of the programs: what it still needs must have been imported. Raises InstallError.
    """
    made, done = made_folders(place), []
    try:
        if link := remove_link(place):
            done.append(f"removed {link}")
        if WINDOWS or place.pointer.is_symlink():
            place.pointer.unlink(missing_ok=True)
        remove_leftovers(place)
        if not os.path.lexists(place.versions):
            pass  # this program was never installed: somebody has unpacked it by hand
        elif WINDOWS:
            _remove_after_us(place.versions)
            done.append(f"removed {place.versions}")
        else:
            done += _remove_versions(place)
        for file in (place.lock, place.data / "made.txt"):
            file.unlink(missing_ok=True)
    except OSError as error:
        raise InstallError(
            f"{error.filename or place.data} cannot be removed ({error.strerror}); mend that and run it again"
        ) from error
    remove_empty(made)
    return done


def _remove_versions(place: Place) -> list[str]:
    """Remove what an installation puts into the folder of the versions, and the folder where that is all."""
    for entry in list(place.versions.iterdir()):
        if is_name(entry.name):
            remove_version(place, entry.name)
        elif entry.name == ".tried" or (entry.name.endswith(".lock") and is_name(entry.name[1:-5])):
            entry.unlink(missing_ok=True)
    others = sorted(entry.name for entry in place.versions.iterdir())
    if others:
        return [f"removed the versions; what is not recall's stays in {place.versions}: {', '.join(others)}"]
    place.versions.rmdir()
    return [f"removed {place.versions}"]


def _remove_after_us(folder: Path) -> None:
    """Windows removes no program that runs: a shell of the system's waits until we have ended and does it."""
    if sys.platform == "win32":
        command = f'ping -n 3 127.0.0.1 >nul & rmdir /s /q "{folder}"'
        flags = subprocess.CREATE_NO_WINDOW | subprocess.CREATE_NEW_PROCESS_GROUP
        with contextlib.suppress(OSError):
            process = subprocess.Popen(
                f'"{os.environ.get("COMSPEC", "cmd.exe")}" /c "{command}"',
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, creationflags=flags,
            )  # fmt: skip
            process.returncode = 0  # never waited for
