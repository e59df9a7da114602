"""`recall doctor` where a daemon has lost its lock, a stranger sits at its address, or a folder cannot be entered."""

import json
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from recall.core.errors import DaemonError
from recall.daemon.process import daemon_processes
from recall.doctor.daemon import forget_address
from recall.doctor.examine import CHECKS
from support import Sandbox

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="modes and sockets of Unix")

#: A daemon that does not look whether its lock is still there; others do so within 20 seconds, and end.
BLIND = """
from recall.wire.lock import HeldLock
HeldLock.is_in_place = lambda self: True
from recall.__main__ import main
main()
"""
QUESTION = "which port does the staging database listen on?"


@pytest.fixture
def ready(sandbox: Sandbox) -> Sandbox:
    """A machine that `recall setup` has made ready, and no daemon."""
    sandbox.note("staging-port", "The staging database listens on port 6543, not 5432", "It was moved in May.")
    sandbox.configure("[hook]\nbudget_ms = 4000\n")
    Path(sandbox.paths.config).chmod(0o600)
    sandbox.run("setup", "--yes")
    sandbox.close()
    return sandbox


def doctor(box: Sandbox, *words: str) -> dict[tuple[str, str], dict[str, Any]]:
    """Its findings by check and code."""
    done = box.run("doctor", "--json", *words, check=False)
    found = json.loads(done.stdout)
    assert done.returncode == (1 if found["problems"] else 0)
    return {(line["name"], line["code"]): line for line in found["checks"]}


def test_a_daemon_without_its_lock_is_running_and_its_address_is_no_leftover(ready: Sandbox) -> None:
    command = [sys.executable, "-c", BLIND, "serve", "--home", str(ready.state)]
    daemon = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        ready.settled()
        Path(ready.paths.daemon_lock).unlink()
        for words in ([], ["--fix"]):
            found = doctor(ready, *words)
            assert f"process {daemon.pid}" in found["daemon", "ready"]["found"]
            assert found["daemon", "no-lock"]["state"] == "note"
            assert ("address", "stale") not in found
        with pytest.raises(DaemonError, match="a daemon answers by now"):
            forget_address(ready.paths, Path(ready.paths.socket))
        assert "staging-port" in (ready.context(QUESTION) or "")
        assert [process.pid for process in daemon_processes(ready.paths)] == [daemon.pid], "no second one was started"
        assert ready.run("stop").stdout == "stopped\n"
    finally:
        daemon.kill()
        daemon.wait()


@pytest.mark.parametrize("queue", [0, 8])
def test_a_stranger_at_the_address_is_a_problem_and_stays(ready: Sandbox, queue: int) -> None:
    with socket.socket(socket.AF_UNIX) as stranger:
        stranger.bind(ready.paths.socket)
        stranger.listen(queue)
        Path(ready.paths.socket).chmod(0o600)
        for words in ([], ["--fix"]):
            found = doctor(ready, *words)
            assert found["address", "stranger"]["state"] == "problem"
            assert not found["address", "stranger"]["fixable"]
            assert found["daemon", "displaced"]["state"] == "note"
        assert Path(ready.paths.socket).exists()
    assert doctor(ready)["address", "stale"]["fixable"], "it is gone now, and its address is a leftover"


def test_a_folder_that_cannot_be_entered_hides_no_other_line(ready: Sandbox) -> None:
    ready.state.chmod(0)
    try:
        found = doctor(ready)
        assert found["permissions", "read-only"]["fixable"]
        assert {name for name, _ in found} >= set(CHECKS)
        assert ("permissions", "read-only") in doctor(ready, "--fix")
        assert ready.state.stat().st_mode & 0o777 == 0o700
        assert not [line for line in doctor(ready).values() if line["state"] == "problem"]
    finally:
        ready.state.chmod(0o700)


def test_a_lock_that_is_a_folder_is_named_and_taken_away_when_it_is_empty(ready: Sandbox) -> None:
    for name in ("daemon.lock", "start.lock", "index.lock"):
        Path(ready.state / name).unlink(missing_ok=True)
        Path(ready.state / name).mkdir()
    kept = ready.state / "start.lock" / "kept"
    kept.touch()
    found = doctor(ready)
    assert "daemon.lock, start.lock, index.lock" in found["locks", "no-file"]["found"]
    assert not found["locks", "no-file"]["fixable"], "what somebody has put there is not ours to delete"
    assert found["daemon", "blocked"]["state"] == "note"
    kept.unlink()
    assert doctor(ready, "--fix")["locks", "no-file"]["state"] == "fixed"
    ready.start()
    assert "staging-port" in (ready.context(QUESTION) or "")
