"""The unit tests of what differs on Windows, run by the machine's own Python."""

import pytest

from wine.machine import ROOT, Machine

pytestmark = pytest.mark.wine

#: Folders of tests/unit whose code asks the system: locks, files, paths, settings, SQLite.
FOLDERS = ("wire", "core", "hook", "setup", "store", "install", "schedule")


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_units_hold_on_windows(machine: Machine, folder: str) -> None:
    root = machine.named(ROOT)
    words = ["-q", "-p", "no:cacheprovider", "--rootdir", root, "-c", f"{root}\\pyproject.toml"]
    done = machine.run(
        [machine.python, "-m", "pytest", *words, f"{root}\\tests\\unit\\{folder}"],
        cwd=root, environment={"PYTHONUTF8": "1", "PYTHONDONTWRITEBYTECODE": "1"}, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, (done.stdout + done.stderr).decode("utf-8", "replace")
