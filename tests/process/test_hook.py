"""The hook as Claude Code runs it, against real daemons: whatever happens, exit 0, and an answer or nothing."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from recall.wire.lock import HeldLock
from support import Sandbox, wait_until

QUESTION = "which port does the staging database listen on?"


@pytest.fixture
def ready(sandbox: Sandbox) -> Sandbox:
    """A sandbox with three notes and a warm daemon."""
    sandbox.note("staging-port", "The staging database listens on port 6543, not 5432", "It was moved in May.")
    sandbox.note("返信は日本語で", "このプロジェクトでは日本語で返事をする", "コードのコメントは英語のままでよい。")
    sandbox.note("no-friday-deploys", "Never deploy on a Friday afternoon", "Nobody is there when it breaks.")
    sandbox.start()
    return sandbox


def silent(done: "subprocess.CompletedProcess[bytes]") -> bool:
    return (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_question_brings_its_note_in_either_language(ready: Sandbox) -> None:
    context = ready.context(QUESTION)
    assert context is not None
    assert "[memory] staging-port — The staging database listens on port 6543, not 5432" in context
    japanese = ready.context("ステージングのデータベース（staging database）のポートは 5432 で合っている？")
    assert japanese is not None
    assert "staging-port" in japanese
    english = ready.context("In which language should you answer me in this project?")
    assert english is not None
    assert "返信は日本語で" in english


def test_the_answer_is_one_line_that_the_client_accepts(ready: Sandbox) -> None:
    done = ready.hook(ready.message(QUESTION))
    assert done.stdout.count(b"\n") == 1
    output = json.loads(done.stdout)["hookSpecificOutput"]
    assert output["hookEventName"] == "UserPromptSubmit"
    assert set(output) == {"hookEventName", "additionalContext"}


def test_without_a_daemon_the_hook_starts_one_and_stays_silent(sandbox: Sandbox) -> None:
    sandbox.note("staging-port", "The staging database listens on port 6543", "It was moved in May.")
    # `run` returns only when both streams ended: a daemon that held one would keep it for hours.
    assert silent(sandbox.hook(sandbox.message(QUESTION)))
    wait_until(lambda: (sandbox.daemon() or {}).get("state") == "ready", "the daemon that the hook started is ready")
    assert sandbox.context(QUESTION) is not None


def test_twenty_hooks_at_once_on_a_cold_machine_leave_one_daemon(sandbox: Sandbox) -> None:
    sandbox.note("staging-port", "The staging database listens on port 6543", "It was moved in May.")
    sandbox.hooks_at_once(20, QUESTION)  # each exits 0; the last may meet a daemon that is warm already
    sandbox.settled()
    log = Path(sandbox.paths.daemon_log).read_text(encoding="utf-8")
    assert log.count(" started ") == 1
    assert sandbox.context(QUESTION) is not None


def test_a_killed_daemon_is_replaced_at_the_next_message(ready: Sandbox) -> None:
    pid = ready.settled()["pid"]
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not HeldLock.is_held(ready.paths.daemon_lock), "the killed daemon is gone")
    assert Path(ready.paths.socket).exists()  # the stale socket is what the next hook meets
    assert silent(ready.hook(ready.message(QUESTION)))
    assert ready.settled()["pid"] != pid
    assert ready.context(QUESTION) is not None


def test_a_stopped_daemon_delays_nothing_and_answers_again_when_it_goes_on(ready: Sandbox) -> None:
    pid = ready.settled()["pid"]
    os.kill(pid, signal.SIGSTOP)
    try:
        assert silent(ready.hook(ready.message(QUESTION)))
        assert silent(ready.hook(ready.message(QUESTION)))
    finally:
        os.kill(pid, signal.SIGCONT)
    assert ready.context(QUESTION) is not None
    assert ready.settled()["pid"] == pid
    assert Path(ready.paths.hook_log).read_text(encoding="utf-8").count(" timeout 300") == 2


def test_stdin_that_never_closes_ends_with_the_budget(ready: Sandbox) -> None:
    command = [sys.executable, "-m", "recall", "hook", "--home", str(ready.state)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as call:
        assert call.stdin
        assert call.stdout
        assert call.stderr
        call.stdin.write(ready.message(QUESTION)[:40])
        call.stdin.flush()
        assert call.wait(timeout=20) == 0
        assert call.stdout.read() + call.stderr.read() == b""
    assert ready.context(QUESTION) is not None


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"x" * 50_000_000, id="50 MB"),
        pytest.param(b'{"prompt": "' + b"x" * 50_000_000 + b'"}', id="50 MB of prompt"),
        pytest.param(b'{"prompt": "which port does the', id="half a JSON"),
        pytest.param(b"[" * 100_000, id="deep JSON"),
        pytest.param(b'{"prompt": 7, "cwd": []}', id="wrong types"),
        pytest.param(b'["prompt"]', id="a list"),
        pytest.param(b'{"prompt": "\xff\xfe\x00 which port does it use?"}', id="not UTF-8"),
        pytest.param(b"\x00" * 1000, id="NUL"),
    ],
)
def test_input_that_is_no_message_gets_nothing_and_harms_nothing(ready: Sandbox, data: bytes) -> None:
    assert silent(ready.hook(data))
    assert ready.context(QUESTION) is not None


def test_a_lone_surrogate_in_the_message_harms_nothing(ready: Sandbox) -> None:
    done = ready.hook(ready.message(QUESTION + " \ud83d \udc00"), "--budget", "5000")
    assert done.returncode == 0
    assert done.stderr == b""
    assert ready.context(QUESTION) is not None


@pytest.mark.parametrize(
    "environment",
    [{"CLAUDE_CODE_ENTRYPOINT": "sdk-cli"}, {"CLAUDE_CODE_ENTRYPOINT": "mcp"}, {"RECALL_OFF": "1"}],
    ids=["claude -p", "mcp", "switched off"],
)
def test_who_must_not_be_answered_does_not_even_wake_the_daemon(sandbox: Sandbox, environment: dict[str, str]) -> None:
    sandbox.state.mkdir(mode=0o700)
    assert silent(sandbox.hook(sandbox.message(QUESTION), environment=environment))
    assert not Path(sandbox.paths.daemon_lock).exists()


@pytest.mark.parametrize(
    ("prompt", "fields"),
    [
        ("port?", {}),
        ("/clear", {}),
        ("/model which port does staging listen on?", {}),
        ("! grep the port of the staging database", {}),
        ("<task-notification>which port does the staging database listen on?</task-notification>", {}),
        (QUESTION + " #norecall", {}),
        (QUESTION, {"agent_id": "a1"}),
        (QUESTION, {"hook_event_name": "Stop"}),
        ("おすすめの映画を教えてください", {"cwd": "/nowhere"}),
    ],
)
def test_what_is_no_persons_question_gets_nothing(ready: Sandbox, prompt: str, fields: dict[str, object]) -> None:
    assert ready.context(prompt, **fields) is None


def test_the_off_switch_in_the_configuration_works_at_once(ready: Sandbox) -> None:
    ready.configure("enabled = false\n")
    assert ready.context(QUESTION) is None
    ready.configure("enabled = true\n")
    assert ready.context(QUESTION) is not None


def test_a_broken_configuration_leaves_the_last_good_one_in_force(ready: Sandbox) -> None:
    ready.configure("enabled = maybe\n")
    assert ready.context(QUESTION) is not None
    problem = ready.json("status")["problem"]
    assert "config.toml" in problem
    assert "line 1" in problem


def test_a_word_of_a_message_is_found_nowhere_in_the_state_folder(ready: Sandbox) -> None:
    canary = "Quetzalcoatlus7391"
    assert ready.context(f"{QUESTION} {canary}", session_id=f"s {canary}") is not None
    ready.context(f"/{canary} and more")
    ready.hook(b'{"prompt": "' + canary.encode())
    ready.run("query", f"the port of {canary}")
    ready.close()
    files = [path for path in ready.state.rglob("*") if path.is_file()]
    assert {"index.sqlite3", "injections.jsonl", "daemon.log"} <= {path.name for path in files}
    assert [path for path in files if canary.encode() in path.read_bytes()] == []


def test_the_journal_says_what_was_shown_and_why_nothing_was(ready: Sandbox) -> None:
    ready.context(QUESTION, session_id="s-1")
    ready.context("/clear")
    shown, silent_one = [json.loads(line) for line in Path(ready.paths.injections).read_text("utf-8").splitlines()]
    assert shown["items"][0]["path"].endswith("staging-port.md")
    assert (shown["session"], silent_one["reason"], silent_one["items"]) == ("s-1", "command", [])
    day = ready.json("status")["hook"]["last_24h"]
    assert (day["asked"], day["shown"], day["silent"]) == (2, 1, {"command": 1})


def test_without_arguments_and_with_json_on_stdin_recall_is_the_hook(ready: Sandbox) -> None:
    done = subprocess.run([sys.executable, "-m", "recall"], input=ready.message(QUESTION), capture_output=True)
    assert done.returncode == 0
    assert b"staging-port" in done.stdout


def test_a_very_long_state_folder_works_through_the_short_socket_folder(sandbox: Sandbox) -> None:
    sandbox.move_state(sandbox.root / ("状態" * 20))
    sandbox.note("staging-port", "The staging database listens on port 6543", "It was moved in May.")
    sandbox.start()
    assert Path(sandbox.paths.socket).parent.parent == sandbox.home / ".recall"
    assert sandbox.context(QUESTION) is not None
