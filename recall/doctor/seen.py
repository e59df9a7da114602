"""A registered command as it is found: whether it is there, can be run, and starts this recall."""

import os
import re
import shutil
import stat
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from recall.setup.command import expanded
from recall.setup.launcher import DEFAULT_BUDGET_MS, hook_entry, launcher_path, own_program, render_launcher
from recall.wire.files import read_file

_PACKAGE = re.compile(r"sys\.path\.append\('(.*)'\)")


@dataclass(frozen=True, slots=True)
class Seen:
    """A registered command as it was found: `python` and `package` are what a launcher names, None for another."""

    exists: bool
    is_file: bool
    executable: bool
    python: bool | None = None
    package: bool | None = None
    is_own: bool = True


def judge_command(seen: Seen) -> tuple[str, str]:
    """What is wrong with a registered command, as a word and for a sentence; ("", "") where nothing is."""
    if not seen.exists:
        return "gone", "is registered and not there"
    if not seen.is_file:
        return "no-file", "is registered and no file"
    if not seen.executable:
        return "not-executable", "is registered and cannot be executed"
    if seen.python is False:
        return "no-python", "starts a Python that is not there any more"
    if seen.package is False:
        return "no-package", "starts a recall that is not there any more"
    return ("", "") if seen.is_own else ("other", "starts another installation of recall than this one")


def program_of(command: str, environment: Mapping[str, str]) -> Path | None:
    """The file that a registered command starts: a person may have written `~`, or a bare name, which is looked for on
    PATH; None where it is not there."""
    word = expanded(command, environment)
    if "/" in word or "\\" in word:
        return Path(word)
    found = shutil.which(word, path=environment.get("PATH"))
    return Path(found) if found else None


def look_at(path: Path | None, home: Path) -> Seen:
    """Look at a registered command; of a launcher of ours also at what it starts."""
    if path is None:
        return Seen(exists=False, is_file=False, executable=False)
    try:
        mode = path.stat().st_mode
    except OSError:
        return Seen(exists=False, is_file=False, executable=False)
    usable = Seen(exists=True, is_file=stat.S_ISREG(mode), executable=os.access(path, os.X_OK))
    if not usable.is_file:
        return usable
    if path != launcher_path(home):
        own = (hook_entry(home, DEFAULT_BUDGET_MS).command, own_program())
        # Environments share the real file of their Python.
        same = os.path.realpath(path) in {os.path.realpath(program) for program in own} or path == Path(sys.executable)
        return Seen(exists=True, is_file=True, executable=usable.executable, is_own=same)
    text = read_file(path).decode("utf-8", "replace")
    python = text.partition("\n")[0].removeprefix("#!").split(" ")[0]
    package = _PACKAGE.search(text)
    return Seen(
        exists=True,
        is_file=True,
        executable=usable.executable,
        python=os.access(python, os.X_OK),
        package=package is not None and (Path(package[1]) / "recall" / "hook" / "pipe.py").exists(),
        is_own=text == own_launcher(home),
    )


def own_launcher(home: Path) -> str:
    """The text that setup would write."""
    return render_launcher(sys.executable, Path(__file__).resolve().parents[2], home)
