"""A program folder: what its program.json says of it, and whether it is whole."""

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path

from recall.core.errors import InstallError, ProgramDamaged
from recall.install.place import MANIFEST, PROGRAM, WINDOWS, is_name
from recall.wire.files import open_file, read_file

_REPAIR = "fetch the file again and run it once more"


@dataclass(frozen=True, slots=True)
class Program:
    """`files`: (bytes, SHA-256 in hexadecimal) by path below `folder`, with slashes. `links`: targets by path."""

    folder: Path
    name: str
    version: str
    platform: str
    built: str
    files: dict[str, tuple[int, str]]
    links: dict[str, str]

    @property
    def bytes(self) -> int:
        """What its files take."""
        return sum(size for size, _ in self.files.values())


def read_program(folder: Path) -> Program:
    """What stands in a folder's program.json. Raises InstallError where there is none, ProgramDamaged."""
    path = folder / MANIFEST
    try:
        fields = json.loads(read_file(path))
        program = Program(
            folder,
            str(fields["name"]),
            str(fields["version"]),
            str(fields["platform"]),
            str(fields["built"]),
            {name: (int(size), str(digest)) for name, (size, digest) in fields["files"].items()},
            {name: str(target) for name, target in fields.get("links", {}).items()},
        )
    except FileNotFoundError:
        raise InstallError(f"expected a recall program in {folder}, found no {MANIFEST} there") from None
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        raise ProgramDamaged(f"{path} should describe this program and cannot be read; {_REPAIR}") from None
    if not is_name(program.name) or PROGRAM not in program.files:
        raise ProgramDamaged(f"{path} should name this program and its executable, and does not; {_REPAIR}")
    return program


def check(program: Program) -> None:
    """Compare every file with program.json. Raises ProgramDamaged with the first that differs, OSError where the disk
    refuses."""
    for name, (size, digest) in program.files.items():
        path = program.folder / name
        try:
            with os.fdopen(open_file(path), "rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
                length = file.tell()
        except FileNotFoundError:
            raise ProgramDamaged(f"{path} is missing from the unpacked program; {_REPAIR}") from None
        if (length, found) != (size, digest):
            what = f"{length} bytes in place of {size}" if length != size else "other bytes"
            raise ProgramDamaged(f"{path} is not what was packed, it holds {what}; {_REPAIR}")
    for name, target in program.links.items():
        path = program.folder / name
        if not path.is_symlink() or str(path.readlink()) != target:
            raise ProgramDamaged(f"{path} should be a link to {target}; {_REPAIR}")


def sync(program: Program) -> None:
    """Have the disk write all of it before its name says that it is whole. Raises OSError."""
    for name in program.files:
        # Windows syncs no file that is open for reading only, the others let nobody write a program that runs.
        descriptor = os.open(program.folder / name, os.O_RDWR if WINDOWS else os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
