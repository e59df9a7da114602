"""Starting the daemon so that nothing of the starter stays in it: no stream, no session, no environment."""

import os
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

#: Variables that the daemon may inherit. Everything else stays behind: keys of the Claude Code session, variables of
#: PyInstaller and virtual environments, editors' loader paths.
KEPT = frozenset(
    "PATH HOME USER LOGNAME LANG LANGUAGE TZ SHELL XDG_DATA_HOME XDG_CONFIG_HOME CLAUDE_CONFIG_DIR "
    "SYSTEMROOT SYSTEMDRIVE WINDIR COMSPEC PATHEXT USERPROFILE USERNAME USERDOMAIN APPDATA LOCALAPPDATA PROGRAMDATA "
    "TEMP TMP TMPDIR NUMBER_OF_PROCESSORS PROCESSOR_ARCHITECTURE".split()
)
KEPT_PREFIXES = ("LC_", "RECALL_", "HF_", "CUDA_", "NVIDIA_")


def clean_environment(environment: Mapping[str, str], *, frozen: bool) -> dict[str, str]:
    """What the daemon gets of `environment`.

    A frozen program's bootloader sets LD_LIBRARY_PATH for itself and keeps the user's in LD_LIBRARY_PATH_ORIG; the
    daemon and what it starts must see the user's.
    """
    kept = {k: v for k, v in environment.items() if k.upper() in KEPT or k.startswith(KEPT_PREFIXES)}
    library_path = environment.get("LD_LIBRARY_PATH_ORIG" if frozen else "LD_LIBRARY_PATH")
    if library_path:
        kept["LD_LIBRARY_PATH"] = library_path
    kept.pop("RECALL_OFF", None)  # it silences a session, not the daemon that others use too
    kept["PYINSTALLER_RESET_ENVIRONMENT"] = "1"
    kept["MALLOC_ARENA_MAX"] = "2"  # glibc: a heap per thread would keep freed memory
    return kept


def is_frozen() -> bool:
    """Whether this is the packed program."""
    return bool(getattr(sys, "frozen", False))


def own_command() -> list[str]:
    """The command line that runs this program again."""
    if is_frozen():
        return [sys.executable]
    # -P: the daemon's working folder is the state folder, and nothing may be imported from there.
    return [sys.executable, "-P", "-m", "recall"]


def start_daemon(home: str, *, replace: str = "", program: str = "") -> None:
    """Start `recall serve` detached from this process and return at once. Raises OSError.

    `replace`: whose place it may take, `older` or `any`. `program`: the executable, this program by default.

    None of the three streams is inherited: Claude Code waits for end-of-file on the hook's stdout and stderr, and a
    daemon that held one would hang every message.
    """
    command = [*([program] if program else own_command()), "serve", "--home", home, "--detached"]
    command += ["--replace", replace] if replace else []
    environment = clean_environment(os.environ, frozen=is_frozen())
    if sys.platform != "win32":
        _launch(command, home, environment, start_new_session=True)
        return
    flags = subprocess.CREATE_NO_WINDOW | subprocess.CREATE_NEW_PROCESS_GROUP
    try:
        _launch(command, home, environment, creationflags=flags | subprocess.CREATE_BREAKAWAY_FROM_JOB)
    except PermissionError:  # the job that we run in forbids leaving it
        _launch(command, home, environment, creationflags=flags)


def _launch(command: list[str], folder: str, environment: dict[str, str], **options: Any) -> None:
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        close_fds=True,
        **options,
    )
    process.returncode = 0  # it outlives us and is never waited for; else Python warns of a forgotten child
