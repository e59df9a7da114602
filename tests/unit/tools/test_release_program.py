"""program.json: every file, a name that follows from the content, and nothing that leads out of the folder."""

import hashlib
import json
import re
from pathlib import Path

import pytest

from release.program import platform_name, write_manifest


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "recall"
    (folder / "_internal" / "numpy.libs").mkdir(parents=True)
    (folder / "recall").write_bytes(b"program")
    (folder / "_internal" / "numpy.libs" / "a.so").write_bytes(b"library")
    (folder / "_internal" / "ログ.txt").write_bytes(b"text")
    (folder / "_internal" / "a.so").symlink_to("numpy.libs/a.so")
    return folder


def test_every_file_stands_in_it_but_itself(folder: Path) -> None:
    write_manifest(folder, "0.1.0", "linux-x86_64")
    name = write_manifest(folder, "0.1.0", "linux-x86_64")  # the second time it is there already
    said = json.loads((folder / "program.json").read_text("utf-8"))
    assert said["files"] == {
        "_internal/numpy.libs/a.so": [7, hashlib.sha256(b"library").hexdigest()],
        "_internal/ログ.txt": [4, hashlib.sha256(b"text").hexdigest()],
        "recall": [7, hashlib.sha256(b"program").hexdigest()],
    }
    assert said["links"] == {"_internal/a.so": "numpy.libs/a.so"}
    assert (said["version"], said["platform"], said["name"]) == ("0.1.0", "linux-x86_64", name)
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", said["built"])


def test_the_name_is_of_paths_and_checksums_alone(folder: Path) -> None:
    digests = {
        "_internal/numpy.libs/a.so": hashlib.sha256(b"library").hexdigest(),
        "_internal/ログ.txt": hashlib.sha256(b"text").hexdigest(),
        "recall": hashlib.sha256(b"program").hexdigest(),
    }
    listed = "".join(f"{name}\0{digests[name]}\n" for name in sorted(digests))
    before = write_manifest(folder, "0.1.0", "linux-x86_64")
    assert before == f"0.1.0-{hashlib.sha256(listed.encode()).hexdigest()[:8]}"
    (folder / "recall").write_bytes(b"program!")
    assert write_manifest(folder, "0.1.0", "linux-x86_64") != before


def test_the_day_can_be_given(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1767225600")
    write_manifest(folder, "0.1.0", "linux-x86_64")
    assert json.loads((folder / "program.json").read_text("utf-8"))["built"] == "2026-01-01"


def test_a_link_that_leads_out_of_the_folder_is_refused(folder: Path) -> None:
    (folder / "out").symlink_to("../../etc")
    with pytest.raises(ValueError, match="leave it out"):
        write_manifest(folder, "0.1.0", "linux-x86_64")


def test_an_empty_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="build it first"):
        write_manifest(tmp_path, "0.1.0", "linux-x86_64")


@pytest.mark.parametrize(
    ("system", "processor", "name"),
    [
        ("linux", "x86_64", "linux-x86_64"),
        ("linux", "aarch64", "linux-arm64"),
        ("darwin", "arm64", "macos-arm64"),
        ("win32", "AMD64", "windows-x86_64"),
        ("win32", "ARM64", "windows-arm64"),
    ],
)
def test_platforms_have_the_same_names_whatever_the_system_calls_them(system: str, processor: str, name: str) -> None:
    assert platform_name(system, processor) == name
