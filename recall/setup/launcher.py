"""The command that Claude Code runs for each message, and the launcher that makes it start fast from source.

A console script imports `site` and takes 16 ms, `python -I -S` 7 ms. So where the shebang line can name this
interpreter, `<state>/bin/recall-hook` is a script of a few lines that runs the hook with neither site-packages nor
the person's Python variables.

Where the interpreter's file moves (an upgrade, a deleted environment) the command is broken until `recall setup`
runs again; the path is therefore taken as the environment names it, not where its links lead today.
"""

import sys
from pathlib import Path

from recall.core.atomic import replace_bytes
from recall.core.errors import RecallError
from recall.install.place import PROGRAM, Place, is_fresh, own_place
from recall.setup.entries import HookEntry
from recall.wire.spawn import is_frozen

#: Linux before 5.1 reads 127 bytes of a script's first line and quietly runs whatever they name; 5.1 and newer read
#: 255, macOS 512.
SHEBANG_BYTES = 127

#: Seconds after which Claude Code gives up on the hook; the hook itself ends within its own budget.
TIMEOUT_S = 5

#: The budget that the hook takes without `--budget`.
DEFAULT_BUDGET_MS = 300

_FLAGS = "-IS"

_SCRIPT = """\
#!{python} {flags}
# Written by `recall setup`: starts recall's hook. Whatever goes wrong, the message must pass: exit 0, no output.
import sys
from posix import _exit

try:
    sys.path.append({package})
    if len(sys.argv) == 1:  # clients before 2.1.139 drop the arguments
        sys.argv += {arguments}
    from recall.hook import pipe

    pipe.main()
except BaseException:
    _exit(0)
"""


def launcher_path(state: Path) -> Path:
    """Where the launcher stands."""
    return state / "bin" / "recall-hook"


def shebang_fits(python: str, platform: str) -> bool:
    """Whether the first line of a script can name this interpreter: absolute, short, no white space, valid UTF-8
    (Python refuses to read a script that is not)."""
    try:
        line = f"#!{python} {_FLAGS}".encode()
    except UnicodeEncodeError:
        return False
    return platform != "win32" and python.startswith("/") and len(python.split()) == 1 and len(line) <= SHEBANG_BYTES


def uses_launcher(python: str, platform: str, *, frozen: bool) -> bool:
    """Whether the registered command is the launcher; else it is the program itself."""
    return not frozen and shebang_fits(python, platform)


def program_path(python: str, platform: str, *, frozen: bool) -> Path:
    """The `recall` executable: the packed program itself, else the console script beside the interpreter. On Windows
    the scripts of a Python that is no virtual environment stand in a folder of it."""
    if frozen:
        return Path(python)
    if platform != "win32":
        return Path(python).with_name("recall")
    folder = Path(python).parent
    return (folder if folder.name.lower() == "scripts" else folder / "Scripts") / "recall.exe"


def own_program() -> Path:
    """The `recall` executable to name in other programs' files (crontab, settings.json): where it is installed, the
    path that stays right after an upgrade."""
    place = own_place()
    if is_fresh():
        return Place.of_user().pointer / PROGRAM  # what it is going to be
    lasting = place.lasting_program() if place is not None else None
    return lasting or program_path(sys.executable, sys.platform, frozen=is_frozen())


def entry_for(command: Path, state: Path, budget_ms: int) -> HookEntry:
    """The entry that runs `command`. It names the state folder so that the hook computes nothing."""
    budget = () if budget_ms == DEFAULT_BUDGET_MS else ("--budget", str(budget_ms))
    return HookEntry(str(command), ("hook", "--home", str(state), *budget), TIMEOUT_S)


def hook_entry(state: Path, budget_ms: int) -> HookEntry:
    """The entry for this installation; writes nothing. Raises RecallError when there is no executable to name."""
    if uses_launcher(sys.executable, sys.platform, frozen=is_frozen()):
        return entry_for(launcher_path(state), state, budget_ms)
    program = own_program()
    if not program.is_file() and not is_fresh():
        raise RecallError(
            f"expected the program {program}, found no such file; install recall into this Python and run setup again"
        )
    return entry_for(program, state, budget_ms)


def write_launcher(state: Path) -> Path:
    """Write `<state>/bin/recall-hook`, for the owner only. Needed when it is the command of `hook_entry`.
    Raises RecallError."""
    path = launcher_path(state)
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    script = render_launcher(sys.executable, Path(__file__).resolve().parents[2], state)
    replace_bytes(path, script.encode(), 0o700)
    return path


def render_launcher(python: str, package_folder: Path, state: Path) -> str:
    """The launcher's text. `package_folder` holds the `recall` package; it goes last on the path, because a folder of
    site-packages may hold modules that are named like the standard library's."""
    return _SCRIPT.format(
        python=python,
        flags=_FLAGS,
        package=ascii(str(package_folder)),
        arguments=ascii(["hook", "--home", str(state)]),
    )
