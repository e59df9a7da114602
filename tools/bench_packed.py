"""The packed program on a bench's throw-away machine: installed as a colleague does it, and with cold files.

Nothing lands outside the machine's own home: that is where HOME points, and XDG_DATA_HOME is not set.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bench_calls import BARE, PYTHON, Kind
from bench_machine import Machine
from recall.install.place import PROGRAM, Place
from recall.setup.launcher import entry_for


@dataclass(frozen=True, slots=True)
class Packed:
    """`folder`: the installed version's; `program`: the path that lasts, by which the hook is registered; `carrier`:
    the file that it came from, None where it came from an unpacked folder."""

    folder: Path
    program: Path
    carrier: Path | None


def install(made: Machine, given: Path) -> Packed:
    """Install a carrier file or an unpacked program folder into the machine's home; its daemon is the program's from
    now on."""
    given = given.absolute()
    if given.is_file() and b"# recall-carrier " not in given.read_bytes()[:200]:
        raise SystemExit(f"expected a carrier file or a program's folder, found neither in {given}")
    place = Place.of_user()
    if not place.data.is_relative_to(made.home):
        raise SystemExit(f"expected the programs' folder below {made.home}, found {place.data}; nothing was installed")
    _run([str(given / PROGRAM)] if given.is_dir() else ["/bin/sh", str(given)])
    name, program = place.current(), place.lasting_program()
    if name is None or program is None:
        raise SystemExit(f"{given} has installed nothing in {place.data}")
    made.program = program
    return Packed(place.folder(name), program, None if given.is_dir() else given)


def _run(command: list[str]) -> None:
    """Run its `install`, and end it when the bench is interrupted: it takes its unfinished folder away then."""
    with subprocess.Popen([*command, "install"], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        try:
            _, said = process.communicate()
        except BaseException:
            process.terminate()
            raise
    if process.returncode:
        raise SystemExit(f"{command[-1]} install ended with {process.returncode}: {said.decode(errors='replace')}")


COLD = (
    "cold: before each call every file of a copy of the program's folder (for the bare interpreter: of a copy of its\n"
    "own), which no other process uses, was put out of the page cache: fsync, posix_fadvise DONTNEED. The system's\n"
    "own libraries stay in it, and so do the files of the daemon, which is warm."
)


def can_be_cold() -> bool:
    """Whether this system lets a program put files out of the page cache."""
    return hasattr(os, "posix_fadvise")


def cold_kinds(made: Machine, packed: Packed, prompts: dict[str, str]) -> list[Kind]:
    """A bare interpreter and the hook with each of the prompts, by name, from copies: what a process has mapped, as
    the daemon and this bench have, stays in the page cache whatever one asks."""
    copy = made.home / "cold" / packed.folder.name
    shutil.copytree(packed.folder, copy, symlinks=True)
    entry = entry_for(copy / PROGRAM, Path(made.paths.home), made.budget_ms)
    interpreter, environment = _copy_of_interpreter(made.home / "cold" / "python")
    bare = [str(interpreter), *BARE[1:]]
    return [
        Kind("bare interpreter", bare, prepare=_putting_out(interpreter.parents[1]), environment=environment),
        *(
            Kind(name, [entry.command, *entry.args], prompt, _putting_out(copy))
            for name, prompt in prompts.items()
        ),
    ]  # fmt: skip


def _copy_of_interpreter(target: Path) -> tuple[Path, dict[str, str]]:
    """An interpreter with its standard library below `target`, and what it needs in its environment to load its own
    shared library from there."""
    standard = Path(sysconfig.get_path("stdlib"))
    program = target / "bin" / f"python{sys.version_info.major}.{sys.version_info.minor}"
    program.parent.mkdir(parents=True)
    shutil.copy2(Path(PYTHON).resolve(), program)
    leave = shutil.ignore_patterns("site-packages", "dist-packages", "test", "config-*", "idlelib", "ensurepip")
    shutil.copytree(standard, target / "lib" / standard.name, ignore=leave)
    library = Path(sysconfig.get_config_var("LIBDIR") or "/") / str(sysconfig.get_config_var("INSTSONAME"))
    if sysconfig.get_config_var("Py_ENABLE_SHARED") and library.is_file():
        shutil.copy2(library, target / "lib" / library.name)
        return program, {"LD_LIBRARY_PATH": str(target / "lib")}
    return program, {}


def _putting_out(folder: Path) -> Callable[[], None]:
    files = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    return partial(put_out, files)


def put_out(files: list[Path]) -> None:
    """Put files out of the page cache. Those that are not on the disk yet are written first: they would stay."""
    if sys.platform == "linux":
        for path in files:
            descriptor = os.open(path, os.O_RDONLY)
            try:
                os.fsync(descriptor)
                os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            finally:
                os.close(descriptor)
