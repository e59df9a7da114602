"""The carrier on Windows: the program that the one file runs. It does what carrier.sh does elsewhere.

pyinstaller.spec makes an executable of it, with the program's folder inside as `recall.tar.xz`: an entry of the kind
that PyInstaller's bootloader does not unpack, so that no start but the first takes the time.
"""

import os
import shutil
import struct
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import BinaryIO, Literal

from recall.core.errors import InstallError, RecallError
from recall.hook.pipe import is_asked
from recall.install.adopt import adopt, make_room, refusals
from recall.install.place import FRESH, PROGRAM, Place, number
from recall.wire.environment import restore_environment

#: The name of the version inside, beside this script.
CARRIED = "carried.txt"
#: The folder's archive among the executable's entries.
ARCHIVE = "recall.tar.xz"

#: How PyInstaller ends an executable: magic, length of all, place and length of the list of entries, Python, library.
_COOKIE = struct.Struct("!8sIIII64s")
_MAGIC = b"MEI\x0c\x0b\x0a\x0b\x0e"
#: An entry: length of all of it, place, length here, length unpacked, packed or not, kind; then its name.
_ENTRY = struct.Struct("!IIIIBc")
_TAIL = 65_536  # bytes; a signature may stand behind the end

Step = Literal["run", "older", "other build", "install", "behind"]


def main() -> int:
    """Install where needed, then run the installed program with the same words; its exit code."""
    words, hook = sys.argv[1:], is_asked(sys.argv)
    place = Place.of_user()
    try:
        name = Path(__file__).with_name(CARRIED).read_text("utf-8").strip()
        step = decide(place.current(), name, words, hook=hook)
        if step == "install":
            program = install(Path(sys.executable), place)
            asked = words if words[:1] == ["install"] else ["install"]
            code = run(program, [*asked, "--adopted"])
            if code or not words or asked is words:
                return code
    except RecallError as error:
        return 0 if hook else complain(str(error), error.exit_code)
    current = place.current()
    if step == "behind":
        # No message waits for an installation: it runs by itself, and later messages find what it has made.
        flags = getattr(subprocess, "CREATE_NO_WINDOW", 0)
        nothing = subprocess.DEVNULL
        subprocess.Popen(
            [sys.executable, "install"], stdin=nothing, stdout=nothing, stderr=nothing, creationflags=flags
        )
    if step in ("older", "other build") and not hook:
        complain(f"recall {current} is installed and runs; this file holds {name} (`recall upgrade FILE` takes it)", 0)
    return run(place.program(current), words) if current else 0


def decide(current: str | None, name: str, words: list[str], *, hook: bool) -> Step:
    """What to do with this file where `current` is installed. A pure decision.

    `behind`: run what is there, and install in the background.
    """
    if words[:1] == ["install"]:
        return "install"
    if current == name:
        return "run"
    if current is None or number(name) > number(current):
        return "behind" if hook else "install"
    return "older" if number(name) < number(current) else "other build"


def install(carrier: Path, place: Place) -> Path:
    """Unpack the archive beside the versions and give it its name; the installed executable. Raises InstallError."""
    fresh = place.versions / f"{FRESH}{os.getpid()}"
    with refusals(place):
        make_room(place)
        shutil.rmtree(fresh, ignore_errors=True)
        try:
            with carrier.open("rb") as file:
                file.seek(entry(file, ARCHIVE))
                with tarfile.open(fileobj=file, mode="r|xz") as archive:
                    archive.extractall(fresh, filter="data")
        except (tarfile.TarError, EOFError, ValueError, struct.error) as error:
            shutil.rmtree(fresh, ignore_errors=True)
            raise InstallError("this file is damaged or was not fetched whole; fetch it again") from error
        except OSError:
            shutil.rmtree(fresh, ignore_errors=True)
            raise
    return adopt(fresh, place).folder / PROGRAM


def entry(file: BinaryIO, name: str) -> int:
    """Where an entry of the executable begins, in bytes from its start. Raises ValueError, struct.error."""
    size = file.seek(0, os.SEEK_END)
    tail_at = file.seek(max(0, size - _TAIL))
    cookie_at = tail_at + file.read().rindex(_MAGIC)
    file.seek(cookie_at)
    _, length, entries_at, entries_length, _, _ = _COOKIE.unpack(file.read(_COOKIE.size))
    start = cookie_at + _COOKIE.size - length
    file.seek(start + entries_at)
    entries = file.read(entries_length)
    at = 0
    while at < len(entries):
        whole, place, *_ = _ENTRY.unpack_from(entries, at)
        if entries[at + _ENTRY.size : at + whole].rstrip(b"\0").decode() == name:
            return int(start + place)
        at += max(1, whole)
    raise ValueError(f"no {name} in this file")


def run(program: Path, words: list[str]) -> int:
    """Run the installed program with our streams; its exit code. The environment is the person's, not ours."""
    environment = dict(os.environ)
    restore_environment(environment)
    return subprocess.run([str(program), *words], env=environment, check=False).returncode


def complain(sentence: str, code: int) -> int:
    """Say it on stderr, whatever the console's code page, and return the exit code."""
    if sys.stderr is not None:
        sys.stderr.buffer.write(f"recall: {sentence}\n".encode(sys.stderr.encoding or "utf-8", "backslashreplace"))
        sys.stderr.flush()
    return code


if __name__ == "__main__":
    sys.exit(main())
