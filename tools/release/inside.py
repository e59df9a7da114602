"""What is really inside the packed program, from PyInstaller's findings: distributions, native parts, Python itself.

The spec writes inside.json into the work folder (contents.py), before libraries are stripped to copies:

    {"modules": {"yaml.loader": "<path>"}, "files": {"libssl.so.3": "<path>"}, "scripts": {"recall_hook": "<path>"}}

Licences and the bill of materials are made from it, never from pyproject.toml: that names what recall asks for, not
what PyInstaller found.
"""

import fnmatch
import json
import os
import re
import sys
import sysconfig
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path, PurePosixPath
from typing import Any

RECORD = "inside.json"
NATIVES = Path(__file__).with_name("natives.toml")
TEXTS = Path(__file__).with_name("texts")

OWN, PYTHON = "recall", "Python"
#: PyInstaller's loader is in every program that it makes, whatever the analysis says.
LOADER = "pyinstaller"
#: The folders into which auditwheel, delvewheel and delocate put the libraries that a wheel needs.
CARRIED = (".libs", ".dylibs")


@dataclass(frozen=True, slots=True)
class Native:
    """A library that stands in no package's metadata. `modules` and `files` (patterns) tell that it is inside;
    `version` is a pattern that finds its version in the first of the files."""

    name: str
    licence: str
    home: str
    modules: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    text: str = ""
    version: str = ""

    def is_file(self, path: str) -> bool:
        """Whether a file of this path, with / or \\, fits this library."""
        whole = path.replace("\\", "/").lower()
        base = whole.rpartition("/")[2]
        return any(fnmatch.fnmatchcase(whole if "/" in one else base, one.lower()) for one in self.files)

    def version_in(self, file: Path) -> str:
        """The version that a file of this library's says, "" where it says none."""
        found = re.search(self.version.encode(), file.read_bytes()) if self.version else None
        return found[1].decode("ascii") if found else ""


@dataclass(frozen=True, slots=True)
class Inside:
    """What PyInstaller put in: module or path in the program -> file that it came from."""

    modules: Mapping[str, str]
    files: Mapping[str, str]
    scripts: Mapping[str, str]

    def sources(self) -> set[str]:
        return {source for part in (self.modules, self.files, self.scripts) for source in part.values()}


@dataclass(slots=True)
class Contents:
    """The owners of everything inside. `owner_of` maps the files in the program."""

    distributions: list[str] = field(default_factory=list)
    natives: list[Native] = field(default_factory=list)
    owner_of: dict[str, str] = field(default_factory=dict)


def record(analysis: Any, work: Path) -> Path:
    """Write inside.json from PyInstaller's Analysis; its path."""
    found = {
        "modules": {name: source for name, source, _ in analysis.pure if source and Path(source).is_absolute()},
        "files": {
            name.replace("\\", "/"): source
            for name, source, kind in [*analysis.binaries, *analysis.datas]
            if kind != "SYMLINK"
        },
        "scripts": {name: source for name, source, _ in analysis.scripts},
    }
    path = work / RECORD
    path.write_text(json.dumps(found, indent=1, sort_keys=True), encoding="utf-8")
    return path


def read(work: Path) -> Inside:
    """What `record` wrote into the work folder."""
    return Inside(**json.loads((work / RECORD).read_text("utf-8")))


def natives() -> list[Native]:
    """All native libraries that are known, in the order of their file."""
    listed = tomllib.loads(NATIVES.read_text("utf-8"))["native"]
    return [
        Native(
            row["name"],
            row["licence"],
            row["home"],
            tuple(row.get("modules", ())),
            tuple(row.get("files", ())),
            (TEXTS / row["text_file"]).read_text("utf-8") if "text_file" in row else row.get("text", ""),
            row.get("version", ""),
        )
        for row in listed
    ]


def native_of(path: str, known: Iterable[Native]) -> Native | None:
    """The native library that a file of this path is: the first that it fits."""
    return next((native for native in known if native.is_file(path)), None)


def distribution_files() -> dict[str, str]:
    """Every installed file -> the name of its distribution."""
    found = {}
    for distribution in metadata.distributions():
        for file in distribution.files or ():
            found[_plain(str(distribution.locate_file(file)))] = distribution.metadata["Name"]
    return found


def contents(inside: Inside, owners: Mapping[str, str], root: Path, work: Path, known: Iterable[Native]) -> Contents:
    """Who owns what is inside. `owners`: installed file -> distribution. Raises ValueError, naming all files of which
    nobody is known to be the owner: they would go out without a licence."""
    known = list(known)
    by_source = {source: _owner(source, owners, root, work, known) for source in inside.sources()}
    strangers = sorted(source for source, owner in by_source.items() if owner is None)
    if strangers:
        raise ValueError(
            f"expected an owner of every file in the program, found none of {', '.join(strangers)}; "
            f"leave it out in contents.py or name it in {NATIVES.name}"
        )
    names = {owner for owner in by_source.values() if owner} - {OWN, PYTHON} - {native.name for native in known}
    modules = {*inside.modules, *sys.builtin_module_names, *map(_module, inside.files)}
    there = [native_of(path, known) for path in inside.files]
    return Contents(
        distributions=sorted({*names, LOADER}, key=str.lower),
        natives=[native for native in known if modules & set(native.modules) or native in there],
        owner_of={path: by_source[source] or "" for path, source in inside.files.items()},
    )


def _owner(source: str, owners: Mapping[str, str], root: Path, work: Path, known: list[Native]) -> str | None:
    path = Path(source)
    if any(parent.name.endswith(CARRIED) for parent in path.parents) and native_of(source, known) is None:
        return None  # somebody else's work, whatever the wheel's own licence says
    if owner := owners.get(_plain(source)):
        return owner
    if work in path.parents:  # base_library.zip, which PyInstaller makes of Python's own modules
        return PYTHON
    if root / "recall" in path.parents or root / "models" in path.parents:
        return OWN
    if native := native_of(source, known):
        return native.name
    own = {_plain(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib")}
    if (prefix := _plain(sys.base_prefix)) not in _SHARED_PREFIXES:
        own.add(prefix)  # its libraries and framework beside the standard library, on macOS and on Windows
    below = {_plain(str(parent)) for parent in path.parents}
    if below & own and "site-packages" not in path.parts:
        return PYTHON
    return PYTHON if path.name.startswith("libpython3") else None


#: Where a Python shares its folder with everything else that is installed there.
_SHARED_PREFIXES = ("/", "/usr", "/usr/local")


def _plain(path: str) -> str:
    return os.path.normcase(os.path.realpath(path))


def _module(path: str) -> str:
    """The module that an extension is: `_ssl` of python3.11/lib-dynload/_ssl.cpython-311-x86_64-linux-gnu.so."""
    return PurePosixPath(path).name.split(".")[0]
