"""All that is known of a program's parts, gathered once for the licences and for the bill of materials."""

import re
import sqlite3
import ssl
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import __libmpdec_version__ as mpdecimal_version
from pathlib import Path
from pyexpat import EXPAT_VERSION

from psycopg.pq import version as libpq_version

from release import distributions, gomodules, inside, licences
from release.contents import BUNDLED
from release.distributions import Distribution
from release.gomodules import GoModule
from release.inside import Contents, Native

#: What the running interpreter, which the program is built of, says of the libraries that it is linked with.
_VERSIONS = {
    "OpenSSL": ssl.OPENSSL_VERSION.split()[1],
    "SQLite": sqlite3.sqlite_version,
    "zlib": zlib.ZLIB_RUNTIME_VERSION,
    "expat": EXPAT_VERSION.removeprefix("expat_"),
    "mpdecimal": mpdecimal_version,
    "libpq": "{}.{}".format(*divmod(libpq_version(), 10_000)),
}


@dataclass(frozen=True, slots=True)
class Parts:
    """Distributions, native libraries, Go modules (`go_library`: the file in the program that holds them), and the
    `sources` of the files in the program."""

    contents: Contents
    distributions: Sequence[Distribution]
    go_modules: Sequence[GoModule]
    go_version: str
    go_library: str
    sources: Mapping[str, str]

    def files_of(self, native: Native) -> list[str]:
        """The files in the program that are this library."""
        known = self.contents.natives
        return sorted(path for path in self.contents.owner_of if inside.native_of(path, known) is native)

    def version_of(self, native: Native) -> str:
        """The version of a native library, "" where nothing tells it."""
        said = (native.version_in(Path(self.sources[path])) for path in self.files_of(native))
        return _VERSIONS.get(native.name, "") or next(filter(None, said), "")


def gather(root: Path, work: Path) -> Parts:
    """Read inside.json of the work folder and everything that the installed packages say. Raises ValueError for a part
    of which no licence is known."""
    found = inside.read(work)
    contents = inside.contents(found, inside.distribution_files(), root, work, inside.natives())
    library = next((path for path in found.files if re.search(r"libbetterleaks\.(so|dylib|dll)$", path)), "")
    built = Path(found.files[library]) if library else None
    return Parts(
        contents,
        [distributions.read(name) for name in contents.distributions],
        gomodules.modules(built) if built else [],
        gomodules.compiler(built) if built else "",
        library,
        found.files,
    )


def licence_text(parts: Parts, root: Path) -> str:
    """The whole text that `recall licenses` shows."""
    sections = [licences.python_section(), licences.model_section(root / "models", BUNDLED)]
    sections += map(licences.distribution_section, parts.distributions)
    if parts.go_modules:
        sections.append(licences.go_section(parts.go_modules, parts.go_version, parts.go_library))
    for native in parts.contents.natives:
        sections.append(licences.native_section(native, parts.version_of(native), parts.files_of(native)))
    return licences.render(sections)
