"""`recall upgrade FILE`: installs another version, newer or older, and uses it from now on."""

import argparse
import re
import subprocess
import sys
from pathlib import Path

from recall.core.errors import InstallError
from recall.install.place import MANIFEST, PROGRAM, WINDOWS, Place

HELP = "install the version in a file, newer or older, and use it from now on; open sessions go on"

#: How a carrier for Linux and macOS begins; see tools/release/carrier.sh.
_MARK = b"# recall-carrier "


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE", help="the file of a release, or its unpacked folder")


def run(arguments: argparse.Namespace) -> int:
    words = [*installer(arguments.file), "install", "--switch"]
    if arguments.home:
        words += ["--home", arguments.home]
    # What installs is the version that comes: it knows best what it needs.
    code = subprocess.run(words, stdin=subprocess.DEVNULL, check=False).returncode
    current = Place.of_user().current()
    if code == 0 and name_in(arguments.file, current) != (current or ""):
        raise InstallError(f"expected {arguments.file} to install its version, found that it did not; fetch it again")
    return code


def installer(file: Path) -> list[str]:
    """The command that installs what is in a file or folder. Raises InstallError."""
    path = file.absolute()
    if path.is_dir() and (path / MANIFEST).is_file():
        return [str(path / PROGRAM)]
    if path.is_dir() or not path.is_file():
        what = "a folder without a program in it" if path.is_dir() else "no such file"
        raise InstallError(f"expected the file of a recall release, or its unpacked archive, found {what}: {file}")
    with path.open("rb") as opened:
        begin = opened.read(200)
    if WINDOWS and begin.startswith(b"MZ"):
        return [str(path)]
    if not WINDOWS and _MARK in begin:
        return ["/bin/sh", str(path)]
    hint = "; unpack an archive and give its folder" if path.suffix in (".gz", ".zip") else ""
    raise InstallError(f"expected the file of a recall release for {sys.platform}, found something else: {file}{hint}")


def name_in(file: Path, unknown: str | None) -> str:
    """The version that a carrier for Linux or macOS names in its head, `unknown` for other files."""
    found = None
    if file.is_file() and not WINDOWS:
        with file.open("rb") as opened:
            found = re.search(rb"^# recall-carrier \d+ name=(\S+)", opened.read(200), re.MULTILINE)
    return found[1].decode("ascii", "replace") if found else unknown or ""
