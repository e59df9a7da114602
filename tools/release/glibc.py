"""The oldest glibc that a Linux program runs with: the newest version that one of its files asks for."""

import re
from pathlib import Path

_VERSION = re.compile(rb"\0GLIBC_(\d+)\.(\d+)(?:\.\d+)?(?=\0)")


def needed(folder: Path) -> tuple[tuple[int, int], str]:
    """((2, 28), path of a file that asks for it), over all ELF files below the folder; (0, 0) and "" for none.

    The names of versions stand in each file's table of strings, between zero bytes.
    """
    newest, asker = (0, 0), ""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink():
            content = path.read_bytes()
            if content.startswith(b"\x7fELF"):
                for found in _VERSION.finditer(content):
                    if (version := (int(found[1]), int(found[2]))) > newest:
                        newest, asker = version, path.relative_to(folder).as_posix()
    return newest, asker
