"""Bringing a version: an unpacked folder becomes `versions/<name>` in one step, whoever else does the same."""

import contextlib
import errno
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from recall.core.errors import InstallError
from recall.install.cleanup import remove_version
from recall.install.made import make_folder
from recall.install.place import FRESH, Place
from recall.install.program import Program, check, read_program, sync


def copy_in(source: Path, place: Place) -> Path:
    """Copy a program folder to a fresh one beside the versions; its path. Raises InstallError."""
    program = read_program(source)
    fresh = place.versions / f"{FRESH}{os.getpid()}"
    with refusals(place):
        make_room(place)
        shutil.rmtree(fresh, ignore_errors=True)
        try:
            for name in (*program.files, *program.links, "program.json"):
                target = fresh / name
                target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                shutil.copy2(source / name, target, follow_symlinks=False)
        except BaseException:
            shutil.rmtree(fresh, ignore_errors=True)
            raise
    return fresh


def adopt(fresh: Path, place: Place) -> Program:
    """Look a fresh folder over and give it its name; where that version is here already, the fresh one goes.

    Returns the installed program. Raises InstallError; the fresh folder is gone then too.
    """
    try:
        with refusals(place):
            program = read_program(fresh)
            check(program)
            sync(program)
            folder = place.folder(program.name)
            if folder.is_dir() and not is_whole(folder):
                remove_version(place, program.name)
            with contextlib.suppress(FileExistsError):
                _rename(fresh, folder)
            return read_program(folder)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def is_whole(folder: Path) -> bool:
    """Whether a folder holds a whole program."""
    try:
        check(read_program(folder))
    except InstallError:
        return False
    return True


def _rename(fresh: Path, folder: Path) -> None:
    """Raises FileExistsError where a version of that name is here."""
    try:
        fresh.rename(folder)
    except OSError as error:
        if error.errno in (errno.ENOTEMPTY, errno.EEXIST) or folder.is_dir():
            raise FileExistsError(folder) from error
        raise


def make_room(place: Place) -> None:
    """Make the folder of the versions. Raises OSError."""
    make_folder(place.data, place, 0o700)
    place.versions.mkdir(mode=0o700, exist_ok=True)


@contextlib.contextmanager
def refusals(place: Place) -> Iterator[None]:
    """Turn what the disk refuses into a sentence."""
    try:
        yield
    except OSError as error:
        raise InstallError(refusal(place, error)) from error


def refusal(place: Place, error: OSError) -> str:
    """The sentence for a disk that refuses: full, read-only, or somebody else's."""
    where = error.filename or place.data
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"the disk that holds {place.data} is full; the program needs 300 MB there: make room and run it again"
    return (
        f"the program belongs into {place.data}, and {where} cannot be written ({error.strerror or error}); "
        "make that folder yours to write, or set XDG_DATA_HOME to one that is"
    )
