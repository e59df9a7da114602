"""Unit tests of what asks the system, run by the Windows machine's own Python."""

import pytest

from wine.machine import ROOT, Machine

pytestmark = pytest.mark.wine

#: Below tests/unit; none of them speaks of modes, links or shells of other systems.
FILES = ("wire/test_lock.py", "wire/test_protocol.py", "setup/test_settings.py", "setup/test_settings_golden.py")


def test_the_units_hold_on_windows(machine: Machine) -> None:
    root = machine.named(ROOT)
    files = [f"{root}\\tests\\unit\\" + file.replace("/", "\\") for file in FILES]
    words = ["-q", "-p", "no:cacheprovider", "--rootdir", root, "-c", f"{root}\\pyproject.toml"]
    command = [machine.python, "-m", "pytest", *words, *files]
    done = machine.run(command, cwd=root, environment={"PYTHONUTF8": "1"}, timeout=300)
    assert done.returncode == 0, (done.stdout + done.stderr).decode("utf-8", "replace")
