"""The Go modules that a library was built of, read from the note that Go's linker leaves in it."""

import re
from dataclasses import dataclass
from pathlib import Path

#: `dep<TAB>path<TAB>version<TAB>h1:checksum`, a line each; the checksum is missing where a local folder stood in.
_MODULE = re.compile(rb"\ndep\t([!-~]+)\t([!-~]+)(?:\t(h1:[!-~]+))?(?=\n)")
_NO_TIME = "-00010101000000-000000000000"
#: The note begins so; 18 bytes later the length of the compiler's version and the version itself.
_COMPILER = re.compile(rb"\xff Go buildinf:.{18}.go(1\.\d+(?:\.\d+)?)", re.DOTALL)


@dataclass(frozen=True, slots=True, order=True)
class GoModule:
    """One module: path (github.com/...), version, Go's checksum of it or ""."""

    path: str
    version: str
    checksum: str = ""

    @property
    def licence_page(self) -> str:
        """Where its licence can be read; libraries built of it do not carry the text."""
        return f"https://pkg.go.dev/{self.path}@{self.version}?tab=licenses"


def modules(library: Path) -> list[GoModule]:
    """The modules in a library or program that Go built, sorted; [] where it holds no such note."""
    found = _MODULE.findall(library.read_bytes())
    return sorted(
        {
            # A module that was built from a local folder has no time and no checksum: only its version says anything.
            GoModule(path.decode(), version.decode().removesuffix(_NO_TIME), checksum.decode())
            for path, version, checksum in found
        }
    )


def compiler(library: Path) -> str:
    """The version of Go that built it ("1.27.1"), whose run-time library is inside; "" where none is named."""
    found = _COMPILER.search(library.read_bytes())
    return found[1].decode() if found else ""
