"""What lies beside the packed program, and what is inside: checksums, bill of materials, licences, no traces."""

import hashlib
import json
import re
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from packed.laptop import Laptop
from packed.releases import Release
from release.program import regular_files, sha256

#: A part of each kind: the interpreter, a package, a package's library, a native library, a Go module, a Rust crate.
PARTS = {
    "Python",
    "numpy",
    "OpenBLAS",
    "OpenSSL",
    "SQLite",
    "libpq",
    "psycopg",
    "pyinstaller",
    "github.com/betterleaks/betterleaks/v2",
    "ahash",
}


def beside(release: Release, pattern: str) -> Path:
    (found,) = release.carrier.parent.glob(pattern)
    return found


def test_the_checksums_are_those_of_the_files(release: Release) -> None:
    lines = beside(release, "SHA256SUMS").read_text("utf-8").splitlines()
    assert len(lines) >= 3
    for line in lines:
        digest, name = line.split("  ")
        assert sha256(release.carrier.parent / name) == digest


def test_program_json_names_every_file_with_its_checksum(release: Release) -> None:
    said = json.loads((release.folder / "program.json").read_text("utf-8"))
    assert said["files"] == {
        name: [path.stat().st_size, sha256(path)] for name, path in regular_files(release.folder).items()
    }
    assert said["name"] == release.name


def test_the_archive_holds_the_folder_without_traces_of_the_builder(release: Release) -> None:
    with tarfile.open(beside(release, "*.tar.gz")) as tar:
        entries = tar.getmembers()
        top = entries[0].name.split("/")[0]
        said = tar.extractfile(f"{top}/program.json")
        assert said is not None
        assert hashlib.sha256(said.read()).hexdigest() == sha256(release.folder / "program.json")
    assert {(entry.uid, entry.gid, entry.uname, entry.gname) for entry in entries} == {(0, 0, "", "")}


def test_the_bill_of_materials_names_parts_of_every_kind_with_files_and_licences(release: Release) -> None:
    bill = json.loads(beside(release, "*.cdx.json").read_text("utf-8"))
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    parts = {part["name"]: part for part in bill["components"]}
    assert set(parts) >= PARTS
    assert not {"pytest", "mypy", "hypothesis", "click"} & set(parts)
    model = parts["multilingual-e5-small"]
    assert (model["type"], model["licenses"]) == ("machine-learning-model", [{"license": {"id": "MIT"}}])
    files = json.loads((release.folder / "program.json").read_text("utf-8"))["files"]
    for part in parts.values():
        if part["type"] == "file":
            assert part["hashes"][0]["content"] == files[f"_internal/{part['name']}"][1]
        elif "golang" not in part.get("purl", ""):
            assert part.get("licenses"), part["name"]
    references = {part["bom-ref"] for part in bill["components"]} | {bill["metadata"]["component"]["bom-ref"]}
    assert {entry["ref"] for entry in bill["dependencies"]} <= references


def test_the_program_shows_the_licences_of_all_parts(release: Release, laptop: Laptop) -> None:
    overview = laptop.run(release.folder / "recall", "licenses").stdout
    for part in PARTS - {"github.com/betterleaks/betterleaks/v2", "ahash"}:
        assert re.search(rf"^{part} ", overview, flags=re.MULTILINE), part
    whole = laptop.run(release.folder / "recall", "licenses", "--texts").stdout
    for words in (
        "PYTHON SOFTWARE FOUNDATION LICENSE", "Bootloader Exception", "github.com/betterleaks", "  ahash ",
        "GNU LESSER GENERAL PUBLIC LICENSE", "The GNU General Public License is a free, copyleft license",
        "PostgreSQL Global Development Group",
    ):  # fmt: skip
        assert words in whole


@pytest.mark.skipif(sys.platform != "linux", reason="only there libraries name folders")
def test_no_library_looks_into_folders_of_the_machine_that_built_it(release: Release) -> None:
    for name, path in regular_files(release.folder).items():
        if ".so" in path.name or name == "recall":
            shown = subprocess.run(["readelf", "--dynamic", path], capture_output=True, encoding="utf-8").stdout
            for folders in re.findall(r"R(?:UN)?PATH.*\[(.*)\]", shown):
                assert all(folder.startswith("$ORIGIN") for folder in folders.split(":")), f"{name}: {folders}"
