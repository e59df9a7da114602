"""The environment variables of our processes: what the daemon gets, and what PyInstaller's bootloader has put there."""

import sys
from collections.abc import Mapping, MutableMapping

#: Variables that the daemon may inherit. Everything else stays behind: keys of the Claude Code session, variables of
#: PyInstaller and virtual environments, editors' loader paths.
KEPT = frozenset(
    "PATH HOME USER LOGNAME LANG LANGUAGE TZ SHELL XDG_DATA_HOME XDG_CONFIG_HOME CLAUDE_CONFIG_DIR LD_LIBRARY_PATH "
    "SYSTEMROOT SYSTEMDRIVE WINDIR COMSPEC PATHEXT USERPROFILE USERNAME USERDOMAIN APPDATA LOCALAPPDATA PROGRAMDATA "
    "TEMP TMP TMPDIR NUMBER_OF_PROCESSORS PROCESSOR_ARCHITECTURE "
    # Where the person keeps what a connection to the team's server needs; PGPASSWORD itself stays behind.
    "PGPASSFILE PGSSLMODE PGSSLROOTCERT PGSSLCERT PGSSLKEY PGSERVICEFILE".split()
)
KEPT_PREFIXES = ("LC_", "RECALL_", "CUDA_", "NVIDIA_")

#: What the bootloader sets for the process that it starts, in every packed program on every system.
_MARK = "_PYI_ARCHIVE_FILE"


def clean_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """What the daemon gets of `environment`."""
    whole = dict(environment)
    restore_environment(whole)
    kept = {k: v for k, v in whole.items() if k.upper() in KEPT or k.startswith(KEPT_PREFIXES)}
    kept.pop("RECALL_OFF", None)  # it silences a session, not the daemon that others use too
    kept["MALLOC_ARENA_MAX"] = "2"  # glibc: a heap per thread would keep freed memory
    return kept


def restore_environment(environment: MutableMapping[str, str]) -> None:
    """Take out what the bootloader has put in: `git` and `sh` must load the system's libraries, not ours.

    It sets LD_LIBRARY_PATH for this process and keeps the person's in LD_LIBRARY_PATH_ORIG.
    """
    if _MARK not in environment:
        return
    for name in [name for name in environment if name.startswith("_PYI_")]:
        del environment[name]
    if sys.platform == "linux":
        environment.pop("LD_LIBRARY_PATH", None)
        if original := environment.pop("LD_LIBRARY_PATH_ORIG", None):
            environment["LD_LIBRARY_PATH"] = original


def forget_start() -> None:
    """Overwrite the environment that the process was started with, which /proc shows for as long as it lives.

    Only where nothing points there any more: after every variable has been taken out of `os.environ` and set anew.
    """
    if sys.platform != "linux":
        return
    import ctypes  # noqa: PLC0415  (the hook loads this file)

    with open("/proc/self/stat", "rb") as file:
        fields = file.read().rpartition(b")")[2].split()
    start, end = int(fields[47]), int(fields[48])  # env_start and env_end, the 50th and 51st in proc(5)
    if 0 < start < end:
        ctypes.memset(start, 0, end - start)
