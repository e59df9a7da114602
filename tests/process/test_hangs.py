"""Nobody waits for ever: neither the daemon for a file that is none, nor a command for a daemon that hangs."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from recall.cli import index as index_command
from recall.core.errors import DaemonMute
from recall.daemon import process
from recall.wire.lock import HeldLock, holder
from support import Sandbox, wait_until

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="pipes and signals of Unix")

QUESTION = "which port does the staging database listen on?"
#: A daemon of which a thread hangs, as in a driver: it answers, agrees to end, and waits for that thread.
HANGING = """
import time
from recall.daemon.handlers import Handlers
Handlers.close = lambda self: time.sleep(3600)
from recall.__main__ import main
main()
"""
#: A daemon that does not look whether its lock is still there; others do so within 20 seconds, and end.
BLIND = """
from recall.wire.lock import HeldLock
HeldLock.is_in_place = lambda self: True
from recall.__main__ import main
main()
"""


def noted(sandbox: Sandbox) -> None:
    sandbox.note("staging-port", "The staging database listens on port 6543, not 5432", "It was moved in May.")


@contextmanager
def stopped(pid: int) -> Iterator[None]:
    """A process that is stopped, as by Ctrl-Z, during the block."""
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        if psutil.pid_exists(pid):
            os.kill(pid, signal.SIGCONT)


def test_a_daemon_waits_for_no_file_that_is_none(sandbox: Sandbox) -> None:
    noted(sandbox)
    pid = sandbox.start()["pid"]
    paths = sandbox.paths
    for name in (paths.config, paths.mutes, paths.gates, paths.share, paths.injections, paths.hook_log):
        Path(name).unlink(missing_ok=True)
        os.mkfifo(name, 0o600)
    for _ in range(4):
        assert "staging-port" in (sandbox.context(QUESTION) or "")
    assert "mutes.json: expected a file, found a named pipe; take it away" in sandbox.json("status")["serve"]["problem"]
    done = sandbox.run("mute", "staging-port", check=False, timeout=30)
    assert (done.returncode, done.stdout) == (1, "")
    assert sandbox.settled()["pid"] == pid
    assert sandbox.run("stop", timeout=30).stdout == "stopped\n"


def test_a_daemon_starts_beside_files_that_are_none(sandbox: Sandbox) -> None:
    noted(sandbox)
    sandbox.run("index")
    paths = sandbox.paths
    kept = list((sandbox.state / "everyday").iterdir())
    assert kept
    others = (paths.config, paths.mutes, paths.injections, paths.hook_log, paths.daemon_log)
    for path in [*map(Path, others), *kept]:
        path.unlink(missing_ok=True)
        os.mkfifo(path, 0o600)
    assert sandbox.context(QUESTION) is None  # the message that starts it
    sandbox.settled()
    assert "staging-port" in (sandbox.context(QUESTION) or "")
    assert sandbox.run("stop", timeout=30).stdout == "stopped\n"


def test_an_index_that_is_a_pipe_is_a_sentence(sandbox: Sandbox) -> None:
    sandbox.start()
    sandbox.run("stop")
    for path in sandbox.state.glob("index.sqlite3*"):
        path.unlink()
    os.mkfifo(sandbox.paths.index, 0o600)
    done = sandbox.run("index", check=False, timeout=60)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"recall: {sandbox.paths.index}: expected a file, found a named pipe; take it away\n"
    assert sandbox.start()["state"] == "ready"


@pytest.mark.parametrize("name", ["daemon_lock", "index_lock"])
def test_a_lock_that_is_a_folder_is_a_sentence(sandbox: Sandbox, name: str) -> None:
    sandbox.run("index")
    lock = Path(getattr(sandbox.paths, name))
    lock.unlink(missing_ok=True)
    lock.mkdir()
    done = sandbox.run("index", check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"recall: {lock}: expected a file, found a folder; take it away\n"
    assert sandbox.json("status")["serve"]["state"] == "stopped"
    lock.rmdir()
    sandbox.run("index")


def test_stop_ends_a_daemon_that_is_stopped_and_names_its_process(sandbox: Sandbox) -> None:
    noted(sandbox)
    pid = sandbox.start()["pid"]
    with stopped(pid):
        done = sandbox.run("stop", timeout=60)
        assert done.stdout == f"stopped: it did not end by itself, so its process {pid} was ended\n"
        assert not HeldLock.is_held(sandbox.paths.daemon_lock)


def test_stop_ends_a_daemon_that_agreed_to_end_and_does_not(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """It hangs in a thread. No --home in its command line: a person has typed it, and the lock says who it is."""
    daemon = subprocess.Popen([sys.executable, "-c", HANGING, "serve"], stderr=subprocess.DEVNULL)
    sandbox.settled()
    monkeypatch.setattr(process, "AGREED_SECONDS", 1.0)
    monkeypatch.setattr(process, "END_SECONDS", 1.0)
    assert holder(sandbox.paths.daemon_lock) == daemon.pid
    said = process.end_daemon(sandbox.paths)
    assert said == f"stopped: it did not end by itself, so its process {daemon.pid} was ended"
    assert daemon.wait(timeout=30) == -signal.SIGKILL


def test_a_command_does_not_wait_for_a_daemon_that_hangs(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    noted(sandbox)
    pid = sandbox.start()["pid"]
    monkeypatch.setattr(index_command, "SILENT_SECONDS", 3.0)
    advice = f"(process {pid}) did not answer within "
    with stopped(pid):
        with pytest.raises(DaemonMute) as raised:
            index_command.index(sandbox.paths, silent=True)
        assert advice in str(raised.value)
        done = sandbox.run("query", QUESTION, check=False, timeout=60)
        assert (done.returncode, done.stdout) == (1, "")
        for said in (str(raised.value), done.stderr):
            assert advice in said
            assert "`recall doctor --fix`" in said
    assert sandbox.json("index")["complete"]


def test_a_daemon_that_works_is_not_taken_for_one_that_hangs(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(300):
        sandbox.note(f"filler-{number}", f"Filler number {number} about nothing", "x " * 300)
    sandbox.start_without_waiting()
    wait_until(lambda: sandbox.daemon() is not None, "the daemon answers")
    monkeypatch.setattr(index_command, "SILENT_SECONDS", 0.0)
    assert index_command.index(sandbox.paths, silent=True)["complete"]


def test_a_daemon_without_its_lock_is_one_all_the_same(sandbox: Sandbox) -> None:
    noted(sandbox)
    daemon = subprocess.Popen([sys.executable, "-c", BLIND, "serve"], stderr=subprocess.DEVNULL)
    try:
        sandbox.settled()
        Path(sandbox.paths.daemon_lock).unlink()
        assert sandbox.json("status")["serve"]["pid"] == daemon.pid
        assert sandbox.run("stop").stdout == "stopped\n"
        assert daemon.wait(timeout=30) == 0
    finally:
        daemon.kill()
        daemon.wait()
    assert sandbox.run("stop").stdout == "no daemon was running\n"


def test_a_stranger_at_the_address_is_neither_asked_to_end_nor_waited_for(sandbox: Sandbox) -> None:
    sandbox.state.mkdir(mode=0o700)
    with socket.socket(socket.AF_UNIX) as stranger:
        stranger.bind(sandbox.paths.socket)
        stranger.listen(1)
        assert sandbox.run("stop", timeout=60).stdout == "no daemon was running\n"
        assert sandbox.json("status")["serve"]["state"] == "unreachable"
        done = sandbox.run("query", QUESTION, check=False, timeout=60)
        assert (done.returncode, done.stdout) == (1, "")
        assert "did not answer" in done.stderr
