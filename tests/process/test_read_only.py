"""A state folder on a disk that has become read-only: every command says so in a sentence, and none fails otherwise."""

import os
import subprocess
import sys

import pytest

from namespace import NAMESPACE, needs_namespace
from support import Sandbox

READ_ONLY = (
    'mount --bind "$RECALL_HOME" "$RECALL_HOME" && mount -o remount,bind,ro "$RECALL_HOME" && "$0" -m recall "$@"'
)


@pytest.fixture
def box(sandbox: Sandbox) -> Sandbox:
    """A machine with an index, in a team whose server is not there."""
    sandbox.note("real-database", "Tests talk to a real PostgreSQL", "Never mock the database in integration tests.")
    sandbox.run("index")
    joined = """{"url": "postgresql://ann@127.0.0.1:1/team", "machine": "%s", "name": "laptop", "person": "ann",
    "team": "t", "agreed": true}"""
    (sandbox.state / "share.json").write_text(joined % ("ab" * 16), encoding="utf-8")
    assert sandbox.run("share", "sync", check=False).returncode == 1
    return sandbox


def run(box: Sandbox, *words: str, data: bytes = b"") -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run(
        [*NAMESPACE, READ_ONLY, sys.executable, *words],
        input=data, cwd=box.project, capture_output=True, timeout=60,
        env={**os.environ, "CLAUDE_CODE_ENTRYPOINT": "cli"},
    )  # fmt: skip


@needs_namespace
def test_status_and_doctor_tell_all_that_they_can(box: Sandbox) -> None:
    status = run(box, "status")
    assert (status.returncode, status.stderr) == (0, b"")
    for part in ("model    multilingual-e5-small", "index.sqlite3 cannot be opened", "share.sqlite3 cannot be used"):
        assert part in status.stdout.decode(), status.stdout.decode()
    doctor = run(box, "doctor")
    assert (doctor.returncode, doctor.stderr) == (1, b"")
    lines = doctor.stdout.decode().splitlines()
    problems = {line.split()[1] for line in lines if line.startswith("problem")}
    assert {"index", "sharing"} <= problems, lines
    assert any(line.startswith("ok       model") for line in lines)


@needs_namespace
@pytest.mark.parametrize(
    "words",
    [
        ("index",), ("query", "which database do tests use"), ("report",), ("mute", "real-database"),
        ("share", "status"), ("share", "sync"), ("share", "pause"), ("share", "leave", "--yes"),
    ],
    ids=" ".join,
)  # fmt: skip
def test_what_cannot_be_done_is_one_sentence(box: Sandbox, words: tuple[str, ...]) -> None:
    done = run(box, *words)
    assert (done.returncode, done.stdout) == (1, b"")
    assert len(done.stderr.splitlines()) == 1, done.stderr.decode()
    assert b"Traceback" not in done.stderr


@needs_namespace
def test_the_hook_stays_silent(box: Sandbox) -> None:
    done = run(box, "hook", data=box.message("which database do tests use"))
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
