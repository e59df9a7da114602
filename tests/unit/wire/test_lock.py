"""The held lock, with real processes on the other side."""

import os
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from recall.wire.lock import HeldLock

HOLDER = """
import sys
from recall.wire.lock import HeldLock
lock = HeldLock.acquire(sys.argv[1])
print("held" if lock else "refused", flush=True)
sys.stdin.read()
"""

WITH_CHILD = """
import subprocess, sys
from recall.wire.lock import HeldLock
lock = HeldLock.acquire(sys.argv[1])
code = "import os, time; print(os.getpid(), flush=True); time.sleep(600)"
child = subprocess.Popen([sys.executable, "-c", code], close_fds=False)
sys.stdin.read()
"""


@contextmanager
def holder(path: Path, program: str = HOLDER) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A process that tried to take the lock and lives until its stdin closes, with the word it said."""
    with subprocess.Popen(
        [sys.executable, "-c", program, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        yield process, process.stdout.readline().strip()
        process.kill()


def test_a_second_process_is_refused_and_gets_the_lock_after_kill_9(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    with holder(path) as (process, word):
        assert word == "held"
        assert HeldLock.acquire(path) is None
        assert HeldLock.is_held(path)
        process.kill()
        process.wait()
        assert path.exists()
        assert not HeldLock.is_held(path)
        with HeldLock.wait(path, 5) or pytest.fail("the lock of a killed process stayed held"):
            assert HeldLock.is_held(path)
    assert not HeldLock.is_held(path)


def test_the_lock_of_this_process_refuses_another_until_it_is_released(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    lock = HeldLock.acquire(path)
    assert lock
    with holder(path) as (_, word):
        assert word == "refused"
    lock.release()
    lock.release()
    with holder(path) as (_, word):
        assert word == "held"


def test_a_child_of_the_holder_does_not_inherit_the_lock(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    with holder(path, WITH_CHILD) as (process, word):
        child = int(word)
        try:
            process.kill()
            process.wait()
            assert psutil.pid_exists(child)
            assert not HeldLock.is_held(path)
        finally:
            psutil.Process(child).kill()


def test_asking_about_a_missing_file_does_not_make_it(tmp_path: Path) -> None:
    assert not HeldLock.is_held(tmp_path / "a.lock")
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_missing_is_an_error_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        HeldLock.acquire(tmp_path / "missing" / "a.lock")


@pytest.mark.skipif(sys.platform == "win32", reason="permissions are access lists there")
def test_the_file_is_readable_by_its_owner_only(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        with HeldLock.acquire(tmp_path / "a.lock") or pytest.fail("a new lock was refused"):
            assert stat.S_IMODE((tmp_path / "a.lock").stat().st_mode) == 0o600
    finally:
        os.umask(before)


def test_taking_the_lock_sets_the_time_of_the_file_and_asking_does_not(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    path.touch()
    os.utime(path, (1000, 1000))
    HeldLock.is_held(path)
    assert path.stat().st_mtime == 1000
    with HeldLock.acquire(path) or pytest.fail("a free lock was refused"):
        assert path.stat().st_mtime > 1_000_000


def test_waiting_gives_up_after_the_time_and_succeeds_as_soon_as_the_holder_ends(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    with holder(path) as (process, _):
        assert HeldLock.wait(path, 0.05) is None
        assert process.stdin
        process.stdin.close()
        lock = HeldLock.wait(path, 60)
        assert lock
        lock.release()


def test_questions_about_a_free_lock_never_keep_anybody_from_taking_it(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    path.touch()
    done = threading.Event()

    def ask() -> None:
        while not done.is_set():
            HeldLock.is_held(path)

    askers = [threading.Thread(target=ask) for _ in range(2)]
    for asker in askers:
        asker.start()
    try:
        for _ in range(300):
            with HeldLock.acquire(path) or pytest.fail("a question was taken for a holder"):
                pass
    finally:
        done.set()
        for asker in askers:
            asker.join()
