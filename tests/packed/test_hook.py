"""The packed hook, which runs before PyInstaller's importers: a test from source does not see its limits."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from packed.laptop import FOUND, Laptop, borrowed
from packed.releases import BUILDS, Release, copy_sources, make
from recall.wire.lock import HeldLock
from support import wait_until


@pytest.fixture(scope="module")
def ready(release: Release) -> Iterator[Laptop]:
    """One machine for this file: a hook changes nothing that another one sees, and installing takes its time."""
    with borrowed() as laptop:
        laptop.set_up(release.carrier)
        yield laptop


def test_it_answers_and_says_nothing_else(ready: Laptop) -> None:
    done = ready.hook()
    assert (done.returncode, done.stderr) == (0, b"")
    assert FOUND in json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"].encode()


def test_without_arguments_it_is_the_hook_too(ready: Laptop) -> None:
    done = ready.hook(ready.registered()[:1])
    assert (done.returncode, done.stderr) == (0, b"")
    assert FOUND in done.stdout


def test_without_a_daemon_it_starts_one_and_stays_silent(ready: Laptop) -> None:
    ready.recall("stop")
    done = ready.hook()
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    wait_until(lambda: FOUND in ready.hook().stdout, "the daemon that the hook started answers", 60)


def test_a_daemon_that_hangs_keeps_no_message(ready: Laptop) -> None:
    pid = ready.json("status")["serve"]["pid"]
    os.kill(pid, signal.SIGSTOP)
    try:
        done = ready.hook([*ready.registered()[:4], "--budget", "300"])
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    finally:
        os.kill(pid, signal.SIGCONT)


@pytest.mark.parametrize("variable", ["RECALL_OFF=1", "CLAUDE_CODE_ENTRYPOINT=sdk-cli"])
def test_the_environment_can_silence_it(ready: Laptop, variable: str) -> None:
    name, _, value = variable.partition("=")
    done = ready.hook(environment={name: value})
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.parametrize("data", [b"", b"{", b"\xff\xfe" * 9, b'{"prompt": 3}', b"[" * 5000])
def test_whatever_it_is_given_it_ends_well(ready: Laptop, data: bytes) -> None:
    done = subprocess.run(ready.registered(), input=data, capture_output=True, env=ready.environment)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_stdin_that_never_ends_is_left_in_time(ready: Laptop) -> None:
    with subprocess.Popen(
        [*ready.registered()[:4], "--budget", "300"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, env=ready.environment,
    ) as hook:  # fmt: skip
        assert hook.wait(20) == 0
        assert hook.stdout is not None
        assert hook.stdout.read() == b""


def test_help_is_no_hook(ready: Laptop) -> None:
    assert "usage: recall hook" in ready.recall("hook", "--help").stdout


def test_the_daemon_that_it_starts_has_nothing_of_the_session(ready: Laptop) -> None:
    ready.recall("stop")
    session = {
        "ANTHROPIC_API_KEY": "sk-ant-not-for-the-daemon",
        "CLAUDE_CODE_SESSION_ID": "not-for-the-daemon",
        "LD_LIBRARY_PATH": str(ready.home),
        "HF_TOKEN": "not-for-the-daemon",
    }
    ready.hook(environment=session)
    wait_until(lambda: HeldLock.is_held(ready.paths.daemon_lock), "a daemon runs", 60)
    wait_until(lambda: FOUND in ready.hook().stdout, "it answers", 60)
    (daemon,) = ready.processes()
    assert os.getsid(daemon.pid) == daemon.pid
    process = Path(f"/proc/{daemon.pid}")
    assert {str((process / "fd" / stream).readlink()) for stream in "012"} == {os.devnull}
    assert daemon.cwd() == ready.paths.home
    # What the system shows of its start: the bootloader's own variables too are gone.
    assert (process / "environ").read_bytes().strip(b"\0") == b""


def test_what_a_command_starts_finds_the_systems_libraries(ready: Laptop) -> None:
    ready.keep_crontab()
    ready.recall("schedule", "--using", "cron", "--yes")
    seen = ready.seen.read_text()
    assert "LD_LIBRARY_PATH" not in seen
    assert "_PYI_" not in seen


def test_a_hook_that_imports_what_it_cannot_have_fails_the_build(release: Release) -> None:
    tree = BUILDS / f"bad-{time.time_ns()}"
    try:
        copy_sources(tree)
        pipe = tree / "recall" / "hook" / "pipe.py"
        pipe.write_text(pipe.read_text("utf-8").replace("import _socket\n", "import _socket\nimport json\n"), "utf-8")
        done = make(tree, tree / "out")
        assert done.returncode != 0
        assert "json" in done.stderr
    finally:
        subprocess.run(["rm", "-rf", str(tree)], check=True)
