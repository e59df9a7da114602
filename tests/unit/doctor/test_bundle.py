"""The bundle's own facts, and the names of a file that it takes."""

import importlib.metadata
from pathlib import Path

import pytest

from recall.cli.doctor import _target
from recall.core.errors import UsageError
from recall.doctor import bundle
from recall.doctor.bundle import LIBRARIES, version_of


@pytest.fixture
def packed(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in the packed program, which holds no metadata."""

    def none(name: str) -> str:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", none)


KNOWN = {library: version_of(library) for library in LIBRARIES}


@pytest.mark.usefixtures("packed")
@pytest.mark.parametrize("library", ["onnxruntime", "tokenizers", "numpy", "psutil"])
def test_a_library_without_metadata_is_asked_itself(library: str) -> None:
    assert KNOWN[library]
    assert version_of(library) == KNOWN[library]


@pytest.mark.usefixtures("packed")
def test_the_packed_program_s_list_of_parts_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parts = tmp_path / "_licenses.txt"
    parts.write_text("This program holds parts.\n\nnumpy 9.8.7  BSD\npsycopg 3.2.1  LGPL\n" + "=" * 100, "utf-8")
    monkeypatch.setattr(bundle, "PARTS", parts)
    assert [version_of("numpy"), version_of("psycopg"), version_of("psutil")] == ["9.8.7", "3.2.1", KNOWN["psutil"]]


def test_what_is_not_installed_has_no_version() -> None:
    assert version_of("nobody_has_this_library") is None


@pytest.mark.parametrize("named", ["", " ", "-"])
def test_a_bundle_needs_a_name_and_is_never_printed(named: str) -> None:
    with pytest.raises(UsageError, match=r"such as recall\.zip"):
        _target(named)


def test_a_bundle_is_a_new_file(tmp_path: Path) -> None:
    assert _target(None) is None
    assert _target(str(tmp_path / "a.zip")) == tmp_path / "a.zip"
    (tmp_path / "a.zip").symlink_to("nowhere")
    with pytest.raises(UsageError, match="exists"):
        _target(str(tmp_path / "a.zip"))
