"""`recall schedule` as a person runs it, with a stand-in crontab, and the line that it writes as cron would run it."""

import os
import pwd
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from recall.cli.main import main
from recall.core.config import load_config
from recall.wire.paths import state_home
from support import Sandbox

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the stand-in is for a system with cron")

#: A line of index.log.
LINE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d (done|failed): \S.*")

CRONTAB = """\
#!/bin/sh
PATH=/usr/bin:/bin
case "$1" in
-l) if [ -f "{file}" ]; then cat "{file}"; else echo "no crontab for you" >&2; exit 1; fi ;;
-r) rm "{file}" ;;
-) cat > "{file}" ;;
esac
"""


@pytest.fixture
def scheduled(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> Iterator[Sandbox]:
    """A set-up state folder with a name that has everything to trip over, and a PATH with the stand-in alone."""
    sandbox.move_state(sandbox.root / "状態 100% 'q' $x")
    sandbox.note("日本語のメモ", "ログは90日で消す", "本文。")
    sandbox.configure(f'claude_folders = ["{sandbox.claude}"]\n')
    program = sandbox.root / "bin" / "crontab"
    program.parent.mkdir()
    program.write_text(CRONTAB.format(file=sandbox.root / "tab"))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent))
    yield sandbox
    sandbox.configure("")  # so that the sandbox can end a daemon also where a test broke the configuration


def run_as_cron(sandbox: Sandbox, **environment: str) -> "subprocess.CompletedProcess[bytes]":
    """Run our line of the crontab as cron does: by sh, in the home folder, with next to no environment."""
    line = (sandbox.root / "tab").read_text().splitlines()[0]
    command = line.split(" ", 5)[5].replace("\\%", "%")
    return subprocess.run(
        ["/bin/sh", "-c", command],
        cwd="/", env={"PATH": "/usr/bin:/bin", **environment}, capture_output=True, timeout=120,
    )  # fmt: skip


def log(sandbox: Sandbox) -> list[str]:
    lines = Path(sandbox.paths.index_log).read_text("utf-8").splitlines()
    assert all(LINE.fullmatch(line) for line in lines), lines
    return lines


def test_it_shows_asks_writes_says_so_and_takes_it_out(scheduled: Sandbox) -> None:
    tab = scheduled.root / "tab"
    before = b"# mine\n5 4 * * * true\n"
    tab.write_bytes(before)
    shown = scheduled.run("schedule", "--dry-run").stdout
    assert "*/15 * * * *" in shown
    refused = scheduled.run("schedule", check=False)
    assert refused.returncode == 1
    assert "--yes" in refused.stdout
    assert tab.read_bytes() == before
    assert "every 15m" in scheduled.run("schedule", "--yes").stdout
    assert "stands already" in scheduled.run("schedule").stdout
    assert scheduled.run("schedule", "--every", "2h", "--yes").returncode == 0
    assert tab.read_text().startswith("0 */2 * * * ")
    assert "would take out" in scheduled.run("schedule", "--remove", "--dry-run").stdout
    scheduled.run("schedule", "--remove")
    assert tab.read_bytes() == before
    assert "nothing was scheduled" in scheduled.run("schedule", "--remove").stdout


def test_the_line_finds_notes_and_state_in_a_bare_environment_and_leaves_one_line_a_run(scheduled: Sandbox) -> None:
    scheduled.run("schedule", "--yes")
    for environment in ({}, {"HOME": "/"}, {"LC_ALL": "C"}, {"LANG": "ja_JP.eucJP", "HOME": str(scheduled.home)}):
        done = run_as_cron(scheduled, **environment)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    lines = log(scheduled)
    assert len(lines) == 4
    assert "done: 1 files: 1 added" in lines[0]
    assert all("1 unchanged" in line for line in lines[1:])


def test_a_run_that_fails_leaves_one_line_too(scheduled: Sandbox) -> None:
    scheduled.run("schedule", "--yes")
    scheduled.configure("model = \n")
    done = run_as_cron(scheduled)
    assert (done.returncode, done.stdout, done.stderr) == (1, b"", b"")
    scheduled.configure('model = "なし"\n')
    assert run_as_cron(scheduled).returncode == 1
    lines = log(scheduled)
    assert len(lines) == 2
    assert all("failed: " in line for line in lines)
    assert "なし" in lines[1]


def test_a_run_through_a_daemon_leaves_one_line_too(scheduled: Sandbox) -> None:
    scheduled.run("schedule", "--yes")
    scheduled.start()
    done = run_as_cron(scheduled)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert len(log(scheduled)) == 1


def test_a_state_folder_that_was_deleted_is_not_made_again(scheduled: Sandbox) -> None:
    scheduled.run("schedule", "--yes")
    moved = scheduled.state.rename(scheduled.root / "elsewhere")
    done = run_as_cron(scheduled)
    assert done.returncode == 1
    assert b"recall schedule --remove" in done.stderr
    assert not scheduled.state.exists()
    moved.rename(scheduled.state)


def test_an_unforeseen_error_is_a_line_without_its_message(
    scheduled: Sandbox, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ValueError("a sentence of a note")

    monkeypatch.setattr("recall.cli.index.index", fail)
    assert main(["index", "--log", "--home", str(scheduled.state)]) == 1
    assert capsys.readouterr() == ("", "")
    (line,) = log(scheduled)
    assert "failed: ValueError at " in line
    assert "sentence" not in line


def test_what_a_bare_run_would_not_find_is_refused(scheduled: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    scheduled.configure("")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(scheduled.root / "work"))
    done = scheduled.run("schedule", "--yes", check=False)
    assert done.returncode == 1
    assert "claude_folders" in done.stderr
    Path(scheduled.paths.config).unlink()
    done = scheduled.run("schedule", "--yes", check=False)
    assert done.returncode == 1
    assert "recall setup" in done.stderr
    assert not (scheduled.root / "tab").exists()


def test_setup_writes_down_the_claude_folder_that_a_bare_run_cannot_know(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = sandbox.root / "work"
    sandbox.claude.rename(work)
    sandbox.claude = work
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(work))
    sandbox.note("a-note", "The one note of this account", "Body.")
    sandbox.run("setup")
    sandbox.run("stop")
    bare = {"PATH": "/usr/bin:/bin", "HOME": str(sandbox.home)}
    program = Path(sys.executable).with_name("recall")
    subprocess.run([program, "index", "--log", "--home", sandbox.state], env=bare, cwd="/", check=True, timeout=120)
    (line,) = log(sandbox)
    assert "1 unchanged" in line
    assert "0 removed" in line


def test_without_home_the_password_database_says_where_the_folders_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOME", raising=False)
    home = Path(pwd.getpwuid(os.getuid()).pw_dir)
    assert load_config(Path("/nowhere/config.toml")).claude_folders({}) == [home / ".claude"]
    assert state_home("~/state") == str(home / "state")
