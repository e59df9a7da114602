"""The launcher as a process, with a stand-in package in the place of recall, and the choice of the command."""

import subprocess
import sys
from pathlib import Path

import pytest

from recall.core.config import Config
from recall.core.errors import RecallError
from recall.setup import launcher
from recall.setup.launcher import (
    entry_for,
    hook_entry,
    program_path,
    render_launcher,
    shebang_fits,
    uses_launcher,
    write_launcher,
)

TELL = """
import os, sys
def main():
    site = "site" in sys.modules
    sys.stdout.write(repr((sys.argv[1:], sys.flags.isolated, sys.flags.no_site, site, sys.executable)))
    sys.stdout.flush()
    os._exit(0)
"""


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "a state's 記録"


def _launcher(state: Path, package: Path, pipe: str) -> Path:
    """A launcher for a package folder that holds nothing but recall/hook/pipe.py."""
    (package / "recall" / "hook").mkdir(parents=True)
    for name in ("recall/__init__.py", "recall/hook/__init__.py"):
        (package / name).write_text("")
    (package / "recall" / "hook" / "pipe.py").write_text(pipe)
    path = launcher.launcher_path(state)
    path.parent.mkdir(parents=True)
    path.write_text(render_launcher(sys.executable, package, state), encoding="utf-8")
    path.chmod(0o700)
    return path


def _run(*command: object, **environment: str) -> tuple[int, bytes, bytes]:
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, stdin=subprocess.DEVNULL, env=environment, check=False)
    return done.returncode, done.stdout, done.stderr


def test_the_launcher_hands_its_arguments_to_the_hook_without_site_packages(state: Path, tmp_path: Path) -> None:
    path = _launcher(state, tmp_path / "it's a pack\\age", TELL)
    code, out, err = _run(path, "hook", "--home", "/other", PYTHONPATH="/nowhere")
    assert (code, err) == (0, b"")
    assert out.decode() == repr((["hook", "--home", "/other"], 1, 1, False, sys.executable))


def test_a_client_that_drops_the_arguments_gets_the_state_folder_of_the_launcher(state: Path, tmp_path: Path) -> None:
    path = _launcher(state, tmp_path / "package", TELL)
    code, out, err = _run(path, PYTHONUTF8="1")
    assert (code, err) == (0, b"")
    assert out.decode().startswith(repr((["hook", "--home", str(state)], 1, 1, False))[:-1])


@pytest.mark.parametrize("pipe", ["import nothing_such", "def main(): raise SystemExit(2)", "def main(): 1 / 0", "}"])
def test_a_hook_that_fails_does_not_disturb_the_message(state: Path, tmp_path: Path, pipe: str) -> None:
    assert _run(_launcher(state, tmp_path / "package", pipe), "hook") == (0, b"", b"")


def test_a_program_that_was_removed_does_not_disturb_the_message(state: Path, tmp_path: Path) -> None:
    path = _launcher(state, tmp_path / "package", TELL)
    (tmp_path / "package").rename(tmp_path / "moved")
    assert _run(path, "hook") == (0, b"", b"")


def test_modules_of_the_package_folder_do_not_hide_the_standard_library(state: Path, tmp_path: Path) -> None:
    path = _launcher(state, tmp_path / "package", "import fractions\ndef main(): print(fractions.__name__)")
    (tmp_path / "package" / "fractions.py").write_text("raise SystemExit(3)")
    assert _run(path, "hook") == (0, b"fractions\n", b"")


def test_the_written_launcher_is_for_the_owner_only_and_names_this_installation(state: Path) -> None:
    path = write_launcher(state)
    assert path == state / "bin" / "recall-hook"
    assert path.stat().st_mode & 0o777 == 0o700
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert path.read_text() == render_launcher(sys.executable, Path(launcher.__file__).parents[2], state)
    assert write_launcher(state) == path


@pytest.mark.parametrize(
    ("python", "platform", "fits"),
    [
        ("/venv/bin/python", "linux", True),
        ("/opt/homebrew/bin/python3", "darwin", True),
        ("/h/研究/bin/python", "linux", True),
        ("/" + "x" * 120, "linux", True),
        ("/" + "x" * 121, "linux", False),
        ("/h/" + "研" * 40, "linux", False),
        ("/My Folder/bin/python", "darwin", False),
        ("/tab\t/python", "linux", False),
        ("/h/\udcff/python", "linux", False),
        ("python", "linux", False),
        ("", "linux", False),
        ("C:\\venv\\Scripts\\python.exe", "win32", False),
    ],
)
def test_a_first_line_that_the_system_would_misread_is_not_written(python: str, platform: str, fits: bool) -> None:
    assert shebang_fits(python, platform) is fits
    assert uses_launcher(python, platform, frozen=False) is fits


def test_a_packed_program_is_its_own_command() -> None:
    assert not uses_launcher("/opt/recall/recall", "linux", frozen=True)
    assert program_path("/opt/recall/recall", "linux", frozen=True) == Path("/opt/recall/recall")
    assert program_path("/My Venv/bin/python3", "darwin", frozen=False) == Path("/My Venv/bin/recall")


def test_the_entry_names_the_state_folder_and_an_unusual_budget() -> None:
    command, state = Path("/s/bin/recall-hook"), Path("/s")
    assert entry_for(command, state, 300).args == ("hook", "--home", "/s")
    assert entry_for(command, state, 450).args == ("hook", "--home", "/s", "--budget", "450")
    assert entry_for(command, state, 450).timeout == 5
    assert entry_for(command, state, 300).command == "/s/bin/recall-hook"


def test_the_budget_that_needs_no_argument_is_the_default_setting() -> None:
    assert Config()["hook.budget_ms"] == launcher.DEFAULT_BUDGET_MS


def test_the_entry_of_this_installation(state: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "executable", "/venv/bin/python")
    assert hook_entry(state, 300).command == str(state / "bin" / "recall-hook")
    spaced = tmp_path / "My Venv"
    spaced.mkdir()
    monkeypatch.setattr(sys, "executable", str(spaced / "python"))
    with pytest.raises(RecallError, match="no such file"):
        hook_entry(state, 300)
    (spaced / "recall").write_text("")
    assert hook_entry(state, 300).command == str(spaced / "recall")
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "executable", str(spaced / "recall"))
    assert hook_entry(state, 300).command == str(spaced / "recall")
    assert not state.exists()
