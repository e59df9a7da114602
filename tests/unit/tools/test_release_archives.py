"""Archives: the same bytes from the same folder, no traces of the builder; checksums; sizes against limits."""

import hashlib
import os
import tarfile
import zipfile
from pathlib import Path

import pytest

from release import archives, glibc, sizes


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "recall"
    (folder / "_internal").mkdir(parents=True)
    (folder / "recall").write_bytes(b"program")
    (folder / "recall").chmod(0o700)
    (folder / "_internal" / "b.so").write_bytes(b"library" * 1000)
    os.link(folder / "_internal" / "b.so", folder / "_internal" / "a.so")
    (folder / "_internal" / "c.so").symlink_to("b.so")
    return folder


@pytest.mark.parametrize("platform", ["linux-x86_64", "windows-x86_64"])
def test_an_archive_has_the_same_bytes_whoever_makes_it_and_when(folder: Path, tmp_path: Path, platform: str) -> None:
    name = archives.name_of("0.1.0", platform)
    made = []
    for place in ("one", "two"):
        (tmp_path / place).mkdir()
        made.append(archives.pack(folder, tmp_path / place / name).read_bytes())
        os.utime(folder / "recall", (1, 1))
        (folder / "_internal" / "b.so").chmod(0o600)
    assert made[0] == made[1]


def test_a_tar_holds_every_file_with_plain_modes_and_no_names_of_people(folder: Path, tmp_path: Path) -> None:
    made = archives.pack(folder, tmp_path / "recall-0.1.0-linux-x86_64.tar.gz")
    with tarfile.open(made) as tar:
        entries = {entry.name: entry for entry in tar.getmembers()}
        assert list(entries) == sorted(entries)
        assert {(entry.uid, entry.gid, entry.uname, entry.mtime) for entry in entries.values()} == {(0, 0, "", 0)}
        top = "recall-0.1.0-linux-x86_64"
        assert entries[f"{top}/recall"].mode == 0o755
        assert entries[f"{top}/_internal/b.so"].mode == 0o644
        assert entries[f"{top}/_internal/c.so"].linkname == "b.so"
        tar.extractall(tmp_path / "out", filter="data")
    assert (tmp_path / "out" / top / "_internal" / "a.so").read_bytes() == b"library" * 1000


def test_a_zip_holds_every_file(folder: Path, tmp_path: Path) -> None:
    (folder / "_internal" / "c.so").unlink()
    made = archives.pack(folder, tmp_path / archives.name_of("0.1.0", "windows-x86_64"))
    with zipfile.ZipFile(made) as packed:
        assert packed.testzip() is None
        assert packed.namelist() == [
            f"recall-0.1.0-windows-x86_64/{name}" for name in ("_internal/a.so", "_internal/b.so", "recall")
        ]


def test_checksums_are_those_that_the_usual_tool_reads(folder: Path) -> None:
    (folder / "SHA256SUMS").write_text("old")
    sums = archives.write_sums(folder)
    assert sums.read_bytes() == f"{hashlib.sha256(b'program').hexdigest()}  recall\n".encode()


def test_every_part_is_named_and_the_rest_is_counted() -> None:
    found = sizes.by_part(
        {
            "recall": 1,
            "_internal/recall/_models/multilingual-e5-small/model.onnx.data": 100,
            "_internal/numpy.libs/libscipy_openblas64_-1.so": 20,
            "_internal/numpy/_core/_multiarray_umath.so": 20,
            "_internal/python3.12/lib-dynload/_ssl.so": 3,
            "_internal/libcrypto.so.3": 4,
            "_internal/python312.dll": 5,
            "_internal/libstdc++.so.6": 6,
        }
    )
    assert found == {
        "model": 100,
        "numpy and OpenBLAS": 40,
        "Python and its libraries": 12,
        sizes.REST: 6,
        "Python modules (in the executable)": 1,
        "onnxruntime": 0,
        "betterleaks": 0,
        "tokenizers": 0,
        "psycopg and libpq": 0,
    }


def test_a_limit_that_is_exceeded_says_both_sizes_and_what_to_do() -> None:
    assert sizes.Limit("a download", 130_000_000, sizes.DOWNLOAD_LIMIT).fits
    over = sizes.Limit("a download", 131_000_000, sizes.DOWNLOAD_LIMIT)
    assert not over.fits
    assert "at most 130.0 MB, found 131.0 MB" in over.sentence()


def test_the_newest_glibc_that_a_file_asks_for_is_found(tmp_path: Path) -> None:
    (tmp_path / "old.so").write_bytes(b"\x7fELF..\0GLIBC_2.2.5\0GLIBC_2.28\0")
    (tmp_path / "new.so").write_bytes(b"\x7fELF..\0GLIBC_2.9\0GLIBC_2.36\0GLIBC_PRIVATE\0")
    (tmp_path / "note.txt").write_bytes(b"\0GLIBC_2.99\0")
    assert glibc.needed(tmp_path) == ((2, 36), "new.so")
