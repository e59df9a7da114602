"""The bill of materials of a program, CycloneDX 1.6 in JSON: what PyInstaller really put in, with checksums."""

import json
import platform
import tomllib
import uuid
from datetime import UTC, datetime
from pathlib import Path

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import ExternalReference, ExternalReferenceType, HashAlgorithm, HashType, Property, XsUri
from cyclonedx.model.bom import Bom, BomMetaData
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL

from release.contents import BUNDLED
from release.distributions import Compiled, Distribution
from release.gather import Parts
from release.gomodules import GoModule
from release.inside import OWN, PYTHON, Native, native_of
from release.program import MANIFEST

_LIBRARIES = (".so", ".dylib", ".dll", ".pyd")
#: Where the bundled model lies in the program.
_MODEL_FOLDER = f"recall/_models/{BUNDLED}/"


def write(folder: Path, parts: Parts, root: Path, out: Path) -> Path:
    """Write the bill of a finished program folder (with its program.json) to `out`. Same program, same bytes."""
    about = json.loads((folder / MANIFEST).read_text("utf-8"))
    files = {path.removeprefix("_internal/"): facts for path, facts in about["files"].items()}
    whole = _component(OWN, about["version"], ComponentType.APPLICATION, "", "", ref=f"recall@{about['name']}")
    bill = Bom(
        serial_number=uuid.uuid5(uuid.NAMESPACE_OID, f"recall {about['name']} {about['platform']}"),
        metadata=BomMetaData(component=whole, timestamp=datetime.fromisoformat(about["built"]).replace(tzinfo=UTC)),
    )
    owned: dict[str, list[Component]] = {}
    for path, (size, digest) in files.items():
        if owner := _owner(path, parts):
            owned.setdefault(owner, []).append(_file(path, size, digest))

    python = _component(PYTHON, platform.python_version(), ComponentType.PLATFORM, "PSF-2.0", "https://www.python.org")
    python.purl = PackageURL("generic", name="python", version=platform.python_version())
    model = _model(root / "models", files)
    tops = [(python, owned.get(PYTHON, [])), (model, [])]
    tops += [(_distribution(one), _within(one, parts, owned)) for one in parts.distributions]
    tops += [(_native(one, parts.version_of(one)), owned.get(one.name, [])) for one in parts.contents.natives]
    for top, below in tops:
        bill.components.update([top, *below])
        bill.register_dependency(top, below)
    bill.register_dependency(whole, [top for top, _ in tops])
    out.write_text(JsonV1Dot6(bill).output_as_string(indent=1) + "\n", encoding="utf-8", newline="\n")
    return out


def _owner(path: str, parts: Parts) -> str:
    """Whose a library is, "" for files that are none: a native library's own name before the wheel that carries it."""
    if not any(ending in path.rpartition("/")[2] for ending in _LIBRARIES):
        return ""
    native = native_of(path, parts.contents.natives)
    return native.name if native else parts.contents.owner_of.get(path, PYTHON)


def _within(one: Distribution, parts: Parts, owned: dict[str, list[Component]]) -> list[Component]:
    """What belongs to a distribution: its libraries, and what they were compiled of."""
    found = [*owned.get(one.name, []), *map(_compiled, one.compiled)]
    if one.name == parts.contents.owner_of.get(parts.go_library):
        found += [_go(module) for module in parts.go_modules]
        compiler = _component("Go", parts.go_version, ComponentType.LIBRARY, "BSD-3-Clause", "https://go.dev")
        compiler.purl = PackageURL("golang", name="stdlib", version=parts.go_version)
        found.append(compiler)
    return found


def _component(name: str, version: str, kind: ComponentType, licence: str, home: str, *, ref: str = "") -> Component:
    return Component(
        name=name,
        version=version or None,
        type=kind,
        licenses=[LicenseFactory().make_from_string(licence)] if licence else None,
        bom_ref=ref or f"{name}@{version}",
        external_references=[ExternalReference(type=ExternalReferenceType.WEBSITE, url=XsUri(home))] if home else None,
    )


def _distribution(one: Distribution) -> Component:
    found = _component(one.name, one.version, ComponentType.LIBRARY, one.licence, one.home)
    found.purl = PackageURL("pypi", name=one.name.lower().replace("_", "-"), version=one.version)
    if one.name.lower() == "pyinstaller":
        found.description = "its bootloader begins the executable, its loader modules lie in it"
    return found


def _native(one: Native, version: str) -> Component:
    found = _component(one.name, version, ComponentType.LIBRARY, one.licence, one.home)
    name = one.name.partition(" (")[0].lower().replace(" ", "-")
    found.purl = PackageURL("generic", name=name, version=version or None)
    return found


def _compiled(one: Compiled) -> Component:
    found = _component(one.name, one.version, ComponentType.LIBRARY, one.licence, "", ref=one.purl)
    found.purl = PackageURL.from_string(one.purl)
    return found


def _go(one: GoModule) -> Component:
    found = _component(one.path, one.version, ComponentType.LIBRARY, "", one.licence_page)
    space, _, name = one.path.rpartition("/")
    found.purl = PackageURL("golang", namespace=space, name=name, version=one.version)
    if one.checksum:
        found.properties.add(Property(name="go:h1", value=one.checksum))
    return found


def _file(path: str, size: int, digest: str) -> Component:
    found = _component(path, "", ComponentType.FILE, "", "", ref=f"file:{path}")
    found.hashes.add(HashType(alg=HashAlgorithm.SHA_256, content=digest))
    found.properties.add(Property(name="recall:bytes", value=str(size)))
    return found


def _model(models: Path, files: dict[str, list[int | str]]) -> Component:
    """The bundled model, its origin, the package that its weights came in, and its files."""
    manifest = tomllib.loads((models / f"{BUNDLED}.toml").read_text("utf-8"))
    kind = ComponentType.MACHINE_LEARNING_MODEL
    found = _component(BUNDLED, "", kind, manifest["licence"], manifest["origin"])
    source = manifest["source"]
    found.properties.add(Property(name="recall:weights-from", value=f"{source['package']} {source['version']}"))
    found.properties.add(Property(name="recall:weights-sha256", value=source["sha256"]))
    for path, (size, digest) in files.items():
        if path.startswith(_MODEL_FOLDER):
            found.components.add(_file(path, int(size), str(digest)))
    return found
