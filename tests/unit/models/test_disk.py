"""Whether the disk has room, and what it refuses, as sentences; the refusals are real ones."""

import os
import sys
from pathlib import Path

import pytest

from recall.core.errors import ModelError
from recall.models.disk import MARGIN, check_space, disk_errors, free_bytes


def test_the_free_bytes_are_those_of_the_disk_that_will_hold_the_folder(tmp_path: Path) -> None:
    disk = os.statvfs(tmp_path)
    found = free_bytes(tmp_path / "not" / "made" / "yet")
    assert found == pytest.approx(disk.f_bavail * disk.f_frsize, rel=0.1)


@pytest.mark.parametrize(
    ("needed", "free", "fits"),
    [
        (600_000_000, 600_000_000 + MARGIN, True),
        (600_000_000, 600_000_000 + MARGIN - 1, False),
        (1, 0, False),
        (0, 0, True),
    ],
)
def test_a_disk_that_is_too_small(needed: int, free: int, *, fits: bool) -> None:
    if fits:
        check_space("small", needed, free)
        return
    with pytest.raises(ModelError, match=rf"needs {needed / 1e6:.0f} MB.* has only {free / 1e6:.0f} MB left"):
        check_space("small", needed, free)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a disk that is always full")
def test_a_full_disk(tmp_path: Path) -> None:
    with (
        pytest.raises(ModelError, match=r"is full; make room, then `recall models add m` goes on where it stopped"),
        disk_errors("recall models add m", tmp_path),
        Path("/dev/full").open("wb", buffering=0) as file,
    ):
        file.write(b"x")


@pytest.mark.skipif(sys.platform == "win32", reason="permissions of another kind")
def test_a_folder_of_somebody_else(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    superuser = os.geteuid() == 0
    if superuser:  # who may write everywhere
        os.seteuid(65534)
    try:
        with (
            pytest.raises(ModelError, match=r"models cannot be written .* mend its permissions"),
            disk_errors("m", tmp_path),
        ):
            (tmp_path / "models").mkdir()
    finally:
        if superuser:
            os.seteuid(0)
        tmp_path.chmod(0o700)


def test_any_other_failure_comes_through(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), disk_errors("m", tmp_path):
        (tmp_path / "nowhere" / "x").read_bytes()
