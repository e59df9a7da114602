"""The licences of all that is inside the packed program, as one text: what `recall licenses` shows.

An overview first, one part a line; then, below a line of `=`, each part with its texts.
"""

import os
import platform
import sys
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from release.distributions import Distribution
from release.gomodules import GoModule
from release.inside import TEXTS, Native

RULE = "=" * 100
#: The file's name in the program, in recall's own folder.
NAME = "_licenses.txt"

_HEAD = """\
This program holds parts by other people, each under its own licence. Their licences follow below; none of them is
changed by being in here."""

_BOOTLOADER = """\
The executable begins with PyInstaller's bootloader, and PyInstaller's loader modules lie in it. PyInstaller is under
the GPL (version 2 or later), with an exception by its authors for the bootloader and what belongs to it: these may be
put into a program and passed on without the GPL applying to the program. The exception's own words stand in the text
below."""

_LESSER = """\
Its licence adds to the GNU General Public License 3, whose text follows too. Its modules lie in the program's folder as
they were published, and its libraries beside them: what is put in their place there is used instead."""


@dataclass(frozen=True, slots=True)
class Section:
    """One part: what it is called, its licence in a few words, notes and texts (label, text)."""

    name: str
    version: str
    licence: str
    home: str = ""
    notes: tuple[str, ...] = ()
    texts: tuple[tuple[str, str], ...] = ()


def python_section() -> Section:
    """The interpreter and its standard library. Raises ValueError where its licence is not beside it."""
    library = Path(os.__file__).parent
    for place in (library / "LICENSE.txt", Path(sys.base_prefix) / "LICENSE.txt", library.parent / "LICENSE.txt"):
        if place.is_file():
            texts = (("LICENSE.txt", place.read_text("utf-8", "replace").strip("\n")),)
            return Section("Python", platform.python_version(), "PSF-2.0", "https://www.python.org", texts=texts)
    raise ValueError(f"expected Python's LICENSE.txt in {library} or {sys.base_prefix}, found none; use another Python")


def distribution_section(of: Distribution) -> Section:
    """A distribution with all its texts and what was compiled into its library."""
    notes = [_BOOTLOADER] if of.name.lower() == "pyinstaller" else []
    if of.compiled:
        rows = "\n".join(f"  {part.name} {part.version}: {part.licence or 'see ' + part.purl}" for part in of.compiled)
        notes.append(f"Compiled into its library, as its own bill of materials says:\n{rows}")
    texts = of.texts
    if of.licence.startswith("LGPL-3.0"):
        notes.append(_LESSER)
        texts += (("GNU General Public License", (TEXTS / "gpl-3.0.txt").read_text("utf-8").strip("\n")),)
    return Section(of.name, of.version, of.licence, of.home, tuple(notes), texts)


def native_section(of: Native, version: str, files: Iterable[str]) -> Section:
    """A native library: the files that are it, or that it has none."""
    listed = sorted(files)
    note = f"Files: {', '.join(listed)}" if listed else "Linked into the libraries that need it."
    return Section(of.name, version, of.licence, of.home, (note,), (("", of.text.strip("\n")),) if of.text else ())


def go_section(modules: Sequence[GoModule], compiler: str, library: str) -> Section:
    """What a library was built of by Go; the library carries no texts, so each module's page is named."""
    rows = "\n".join(f"  {module.path} {module.version}: {module.licence_page}" for module in modules)
    note = f"Compiled into {library} by Go {compiler} (https://go.dev/LICENSE), each with its licence's page:\n{rows}"
    return Section("Go and Go modules", compiler, "BSD-3-Clause (Go); each module its own", "", (note,))


def model_section(models: Path, name: str) -> Section:
    """The bundled model: its manifest says licence and origin."""
    manifest = tomllib.loads((models / f"{name}.toml").read_text("utf-8"))
    text = (models / f"LICENSE-{name}").read_text("utf-8").strip("\n")
    return Section(name, "", manifest["licence"], manifest["origin"], ("The embedding model.",), (("", text),))


def render(sections: Sequence[Section]) -> str:
    """The whole text. A licence whose text is in no part of its own is pointed to where it stands."""
    lines = [_HEAD, ""]
    lines += [f"{f'{part.name} {part.version}'.strip():<44} {part.licence or 'see its text'}" for part in sections]
    apache = next((part.name for part in sections if any("Apache License" in text for _, text in part.texts)), "")
    for part in sections:
        lines += [
            "",
            RULE,
            f"{part.name} {part.version}".strip(),
            *filter(None, [f"Licence: {part.licence}", part.home]),
            "",
        ]
        lines += [f"{note}\n" for note in part.notes]
        for label, text in part.texts:
            lines += [f"--- {label}\n" * bool(label) + text, ""]
        if not part.texts:
            lines.append(_elsewhere(part, apache))
    return "\n".join(line.rstrip() for line in "\n".join(lines).splitlines()) + "\n"


def _elsewhere(part: Section, apache: str) -> str:
    if part.licence == "Apache-2.0" and apache:
        return f"It carries no text of its own; the Apache License 2.0 stands under {apache}."
    return f"Its text is not in the files that this program was built of; it can be read at {part.home}." * bool(
        part.home
    )
