"""Facts of an installed distribution from its own metadata: version, licence, texts, what was compiled into it."""

import json
import re
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path, PurePosixPath

#: Words of older metadata -> identifiers of SPDX.
_SPDX = {
    "MIT License": "MIT",
    "Apache Software License": "Apache-2.0",
    "Apache 2.0": "Apache-2.0",
    "BSD License": "LicenseRef-BSD",
    "Python Software Foundation License": "PSF-2.0",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
}
#: Where the metadata says it in a sentence.
_SPOKEN = {"pyinstaller": "GPL-2.0-or-later WITH Bootloader-exception"}

_TEXT = re.compile(r"(licen[cs]e|copying|notice|third.?party)", re.IGNORECASE)
_CODE = (".py", ".pyc", ".pyi", ".so", ".json")


@dataclass(frozen=True, slots=True)
class Compiled:
    """A part that was compiled into a distribution's library, as the distribution's own bill of materials names it."""

    name: str
    version: str
    licence: str
    purl: str


@dataclass(frozen=True, slots=True)
class Distribution:
    """One installed distribution. `texts`: (file name, text of a licence or notice)."""

    name: str
    version: str
    licence: str
    home: str
    texts: tuple[tuple[str, str], ...]
    compiled: tuple[Compiled, ...]


def read(name: str) -> Distribution:
    """The facts of an installed distribution. Raises ValueError where it says nothing of its licence."""
    found = metadata.distribution(name)
    own = found.metadata
    licence = licence_of(name, _one(own, "License-Expression"), _one(own, "License"), own.get_all("Classifier") or [])
    texts = _texts(found)
    if not licence and not texts:
        raise ValueError(f"expected a licence in the metadata of {name} {found.version}, found none; leave it out")
    return Distribution(own["Name"], found.version, licence, _home(own), texts, compiled_in(found))


def licence_of(name: str, expression: str, words: str, classifiers: list[str]) -> str:
    """The licence as an SPDX expression where the metadata can be read so, else in its words; "" where it has none."""
    if spoken := _SPOKEN.get(name.lower()):
        return spoken
    if expression:
        return expression
    if words and "\n" not in words.strip() and len(words) <= 60 and words != "UNKNOWN":
        return _SPDX.get(words.strip(), words.strip())
    named = [line.split(" :: ")[-1] for line in classifiers if line.startswith("License :: ")]
    return " OR ".join(_SPDX.get(word, word) for word in named if word != "OSI Approved")


def is_text(path: str) -> bool:
    """Whether a distribution's file of this path is a licence or notice: by its name, or by lying in licenses/."""
    file = PurePosixPath(path)
    if file.suffix in _CODE:
        return False
    return bool(_TEXT.match(file.name)) or (".dist-info/licenses/" in path)


def _texts(found: metadata.Distribution) -> tuple[tuple[str, str], ...]:
    """Each text once: wheels carry the same file in two places."""
    texts: dict[str, str] = {}
    for file in sorted(found.files or (), key=str):
        if is_text(file.as_posix()):
            text = Path(file.locate()).read_bytes().decode("utf-8", "replace").replace("\r\n", "\n").strip("\n")
            texts.setdefault(text, re.sub(r"^[^/]*\.dist-info/(licenses/)?", "", file.as_posix()))
    return tuple((label, text) for text, label in texts.items())


def _home(own: metadata.PackageMetadata) -> str:
    """The project's page: the first of its addresses that is called so, else any."""
    pages: dict[str, str] = {
        label.strip().lower(): page.strip()
        for label, _, page in (line.partition(",") for line in own.get_all("Project-URL") or [])
    }
    for label in ("homepage", "home", "source", "source code", "repository", "github"):
        if label in pages:
            return pages[label]
    return _one(own, "Home-page") or next(iter(pages.values()), "")


def _one(own: metadata.PackageMetadata, name: str) -> str:
    return str(next(iter(own.get_all(name) or []), ""))


def compiled_in(found: metadata.Distribution) -> tuple[Compiled, ...]:
    """The parts in a distribution's own bills of materials (CycloneDX in .dist-info/sboms, PEP 770), sorted. Not what
    auditwheel names there, the wheel and a system's packages: these are files of their own, which natives.toml knows.
    """
    parts = set()
    for file in found.files or ():
        if ".dist-info/sboms/" in file.as_posix() and file.suffix == ".json":
            listed = json.loads(Path(file.locate()).read_bytes())
            for part in listed.get("components", []):
                purl = part.get("purl", "").partition("?")[0]
                if purl and not purl.startswith(("pkg:pypi/", "pkg:rpm/", "pkg:deb/", "pkg:apk/")):
                    parts.add(Compiled(part["name"], part.get("version", ""), _listed(part), purl))
    return tuple(sorted(parts, key=lambda part: (part.name, part.version)))


def _listed(part: dict[str, list[dict[str, dict[str, str] | str]]]) -> str:
    words = []
    for row in part.get("licenses", []):
        licence = row.get("license")
        words.append(
            str(
                row.get("expression")
                or (isinstance(licence, dict) and (licence.get("id") or licence.get("name")))
                or ""
            )
        )
    return " AND ".join(filter(None, words))
