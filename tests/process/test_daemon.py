"""What the daemon promises to everyone on the machine: one at a time, no strangers, no hanging, an orderly end."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from recall.daemon.lifecycle import MAX_IN_FLIGHT, MAX_WAITING
from recall.version import BUILD, PROTOCOL
from recall.wire.lock import HeldLock
from recall.wire.protocol import MAX_BODY, Reply, Request
from recall.wire.transport import LOOPBACK, Refused, ask
from support import Sandbox, wait_until

QUESTION = "which port does the staging database listen on?"
TCP = 'daemon.transport = "tcp"\n'


def noted(sandbox: Sandbox) -> None:
    sandbox.note("staging-port", "The staging database listens on port 6543, not 5432", "It was moved in May.")
    sandbox.note("no-friday-deploys", "Never deploy on a Friday afternoon", "Nobody is there when it breaks.")


def gone(sandbox: Sandbox) -> bool:
    return not HeldLock.is_held(sandbox.paths.daemon_lock)


def endpoint(sandbox: Sandbox) -> tuple[int, str, str]:
    port, secret, proof = Path(sandbox.paths.endpoint).read_text("ascii").split()
    return int(port), secret, proof


def raw(sandbox: Sandbox, data: bytes) -> bytes:
    """Send bytes to the TCP daemon and read until it closes."""
    with socket.create_connection((LOOPBACK, endpoint(sandbox)[0]), timeout=20) as sock:
        with contextlib.suppress(ConnectionError):
            sock.sendall(data)
            sock.shutdown(socket.SHUT_WR)
            return b"".join(iter(lambda: sock.recv(65536), b""))
        return b""


def test_state_is_readable_by_its_owner_only(sandbox: Sandbox) -> None:
    noted(sandbox)
    sandbox.start()
    sandbox.context(QUESTION)
    assert sandbox.state.stat().st_mode & 0o777 == 0o700
    files = [path for path in sandbox.state.rglob("*") if not path.is_dir()]
    assert [path.name for path in files if path.stat().st_mode & 0o077] == []


def test_a_second_daemon_ends_at_once_with_code_0(sandbox: Sandbox) -> None:
    pid = sandbox.start()["pid"]
    done = sandbox.run("serve")
    assert "already serves" in done.stderr
    assert sandbox.settled()["pid"] == pid


def test_over_tcp_the_same_questions_are_answered(sandbox: Sandbox) -> None:
    noted(sandbox)
    sandbox.configure(TCP)
    sandbox.start()
    assert not Path(sandbox.paths.socket).exists()
    assert "staging-port" in (sandbox.context(QUESTION) or "")
    assert sandbox.json("query", QUESTION)["hits"][0]["name"] == "staging-port"


@pytest.mark.parametrize("secret", ["", "0" * 32])
def test_over_tcp_nobody_is_answered_without_the_secret(sandbox: Sandbox, secret: str) -> None:
    sandbox.configure(TCP)
    sandbox.start()
    for verb in ("hook", "query", "status", "index", "stop"):
        assert raw(sandbox, Request(verb, 0, 2, secret).encode() + b"{}") == b""
    assert sandbox.daemon() is not None


def test_over_tcp_an_answer_without_the_proof_is_dropped(sandbox: Sandbox) -> None:
    """A stranger sits on the port that a dead daemon left."""
    sandbox.state.mkdir(mode=0o700)
    with socket.create_server((LOOPBACK, 0)) as stranger, HeldLock.acquire(sandbox.paths.daemon_lock) as lock:  # type: ignore[union-attr]
        assert lock
        Path(sandbox.paths.endpoint).write_text(f"{stranger.getsockname()[1]} {'a' * 32} {'b' * 32}\n")
        body = b'{"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "evil"}}\n'

        def answer() -> None:
            for proof in ("", "c" * 32, ""):
                connection, _ = stranger.accept()
                with connection:
                    connection.recv(65536)
                    connection.sendall(Reply("ok", len(body), proof).encode() + body)

        thread = threading.Thread(target=answer)
        thread.start()
        for _ in range(2):
            done = sandbox.hook(sandbox.message(QUESTION))
            assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
        with pytest.raises(Refused, match="proof"):
            ask(sandbox.paths, "status", timeout=20)
        thread.join()


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"RECALL/1 " + b"x" * 100_000,
        Request("status", 0, 1000).encode() + b"{}",
        Request("hook", 0, MAX_BODY + 1).encode(),
        b"\xff" * 4096,
    ],
)
def test_garbage_on_the_wire_is_dropped_and_harms_nobody(sandbox: Sandbox, data: bytes) -> None:
    sandbox.configure(TCP)
    sandbox.start()
    secret = endpoint(sandbox)[1].encode()
    assert raw(sandbox, data.replace(b"\n", b" " + secret + b"\n", 1)) == b""
    assert sandbox.daemon() is not None


def test_unknown_verbs_and_other_protocols_are_told_so_but_stop_is_for_ever(sandbox: Sandbox) -> None:
    sandbox.configure(TCP)
    sandbox.start()
    secret = endpoint(sandbox)[1]
    assert b" error " in raw(sandbox, Request("dance", 0, 0, secret).encode())
    newer = b"RECALL/%d status 0 %d 0 %s\n" % (PROTOCOL + 1, BUILD + 1, secret.encode())
    assert b" error " in raw(sandbox, newer)
    assert b" ok " in raw(sandbox, newer.replace(b"status", b"stop"))
    wait_until(lambda: gone(sandbox), "the daemon has ended")


def test_connections_that_say_nothing_keep_nobody_waiting(sandbox: Sandbox) -> None:
    noted(sandbox)
    sandbox.start()
    with contextlib.ExitStack() as stack:
        for _ in range(100):
            sock = stack.enter_context(socket.socket(socket.AF_UNIX))
            sock.connect(sandbox.paths.socket)
            sock.send(b"RECALL/1 hook")
        assert "staging-port" in (sandbox.context(QUESTION) or "")


def asking(sandbox: Sandbox, budget_ms: int) -> bytes:
    """A whole request for a message in a session of its own."""
    message = sandbox.message(QUESTION)
    return Request("hook", budget_ms, len(message)).encode() + message


def statuses(sandbox: Sandbox, requests: list[bytes]) -> list[str]:
    """Have all requests lie before the daemon when it looks, and return the status of each reply."""
    pid = sandbox.settled()["pid"]
    with contextlib.ExitStack() as stack:
        os.kill(pid, signal.SIGSTOP)
        try:
            sockets = [stack.enter_context(socket.socket(socket.AF_UNIX)) for _ in requests]
            for sock, request in zip(sockets, requests, strict=True):
                sock.settimeout(60)
                sock.connect(sandbox.paths.socket)
                sock.sendall(request)
        finally:
            os.kill(pid, signal.SIGCONT)
        assert ask(sandbox.paths, "status", timeout=60)[0].status == "ok"
        replies = [b"".join(iter(lambda sock=sock: sock.recv(65536), b"")) for sock in sockets]  # type: ignore[misc]
    return [Reply.decode(reply.partition(b"\n")[0] + b"\n").status for reply in replies]


def test_beyond_a_bounded_queue_the_answer_is_busy_at_once_and_status_still_comes(sandbox: Sandbox) -> None:
    noted(sandbox)
    sandbox.start()
    found = statuses(sandbox, [asking(sandbox, 0) for _ in range(110)])
    assert set(found) == {"ok", "busy"}
    assert found.count("ok") >= MAX_IN_FLIGHT + MAX_WAITING


def test_requests_whose_asker_has_given_up_are_dropped(sandbox: Sandbox) -> None:
    noted(sandbox)
    sandbox.start()
    patient = [asking(sandbox, 0) for _ in range(40)]
    assert statuses(sandbox, [*patient, asking(sandbox, 1)]) == [*["ok"] * 40, "none"]


def test_term_drains_and_ends_with_code_0(sandbox: Sandbox) -> None:
    noted(sandbox)
    with subprocess.Popen([sys.executable, "-m", "recall", "serve"], stderr=subprocess.PIPE) as daemon:
        sandbox.settled()
        daemon.send_signal(signal.SIGTERM)
        assert daemon.wait(timeout=30) == 0
    assert not Path(sandbox.paths.socket).exists()
    assert Path(sandbox.paths.daemon_lock).exists()


def test_stop_ends_the_daemon_and_says_when_there_was_none(sandbox: Sandbox) -> None:
    sandbox.start()
    assert sandbox.run("stop").stdout == "stopped\n"
    assert gone(sandbox)
    assert sandbox.run("stop").stdout == "no daemon was running\n"


def test_an_idle_daemon_ends_by_itself(sandbox: Sandbox) -> None:
    sandbox.configure("daemon.idle_hours = 0.004\n")  # 14 s: more than loading takes on a busy machine
    sandbox.start()
    wait_until(lambda: gone(sandbox), "the idle daemon has ended")
    assert " idle" in Path(sandbox.paths.daemon_log).read_text("utf-8")


def test_notes_are_looked_over_again_while_the_daemon_is_in_use(sandbox: Sandbox) -> None:
    noted(sandbox)
    sandbox.configure("daemon.scan_seconds = 1\n")
    sandbox.start()
    sandbox.note("tabs", "Indent Makefiles of this project with tabs, never with spaces", "make refuses spaces.")

    def found() -> bool:
        return "tabs" in (sandbox.context("Should I indent the Makefile with tabs or spaces?") or "")

    wait_until(found, "the new note is found")


def displaced(sandbox: Sandbox) -> bool:
    return " displaced" in Path(sandbox.paths.daemon_log).read_text("utf-8")


def test_a_daemon_whose_address_was_removed_ends_and_the_next_message_starts_another(sandbox: Sandbox) -> None:
    noted(sandbox)
    pid = sandbox.start()["pid"]
    Path(sandbox.paths.socket).unlink()
    assert sandbox.context(QUESTION) is None
    wait_until(lambda: gone(sandbox), "the daemon that nobody can find has ended")
    assert displaced(sandbox)
    assert sandbox.context(QUESTION) is None
    assert sandbox.settled()["pid"] != pid
    assert sandbox.context(QUESTION) is not None


def test_a_daemon_whose_state_folder_was_deleted_leaves_its_successor_alone(sandbox: Sandbox) -> None:
    noted(sandbox)
    daemon = subprocess.Popen([sys.executable, "-m", "recall", "serve"], stderr=subprocess.DEVNULL)
    sandbox.settled()
    shutil.rmtree(sandbox.state)
    successor = sandbox.start()["pid"]
    daemon.terminate()
    assert daemon.wait(timeout=30) == 0
    assert sandbox.settled()["pid"] == successor
    assert "staging-port" in (sandbox.context(QUESTION) or "")


def test_questions_find_what_a_running_index_has_already(sandbox: Sandbox) -> None:
    for number in range(400):
        sandbox.note(f"filler-{number}", f"Filler number {number} about nothing", "x " * 300)
    sandbox.start_without_waiting()
    noted(sandbox)
    wait_until(lambda: (sandbox.daemon() or {}).get("counts", {}).get("memory", 0) > 0, "a first part is in view")
    assert (sandbox.daemon() or {})["state"] == "indexing"
    assert sandbox.json("query", "filler about nothing")["hits"] != []


OLDER = "import recall.version as v; v.BUILD = 1; from recall.__main__ import main; main()"


@pytest.fixture
def older(sandbox: Sandbox) -> subprocess.Popen[bytes]:
    """A warm daemon of an older build."""
    noted(sandbox)
    daemon = subprocess.Popen([sys.executable, "-c", OLDER, "serve"], stderr=subprocess.DEVNULL)
    assert sandbox.settled()["build"] == 1
    return daemon


def test_a_newer_hook_replaces_an_older_daemon_after_its_answer(
    sandbox: Sandbox, older: "subprocess.Popen[bytes]"
) -> None:
    an_hour_ago = time.time() - 3600
    os.utime(sandbox.paths.daemon_lock, (an_hour_ago, an_hour_ago))
    assert "staging-port" in (sandbox.context(QUESTION) or "")
    assert older.wait(timeout=30) == 0
    assert sandbox.settled()["build"] == BUILD
    assert "staging-port" in (sandbox.context(QUESTION) or "")


def test_many_newer_hooks_at_once_replace_an_older_daemon_once(
    sandbox: Sandbox, older: "subprocess.Popen[bytes]"
) -> None:
    an_hour_ago = time.time() - 3600
    os.utime(sandbox.paths.daemon_lock, (an_hour_ago, an_hour_ago))
    assert all(b"staging-port" in printed for printed in sandbox.hooks_at_once(10, QUESTION))
    assert older.wait(timeout=30) == 0
    wait_until(lambda: (sandbox.daemon() or {}).get("build") == BUILD, "the newer daemon answers")
    assert Path(sandbox.paths.daemon_log).read_text("utf-8").count(" started ") == 2


def test_a_daemon_is_not_replaced_within_a_minute_of_its_start(
    sandbox: Sandbox, older: "subprocess.Popen[bytes]"
) -> None:
    assert "staging-port" in (sandbox.context(QUESTION) or "")
    assert older.poll() is None
    assert sandbox.settled()["build"] == 1
    sandbox.close()
    assert older.wait(timeout=30) == 0


def test_an_older_hook_leaves_a_newer_daemon_alone(sandbox: Sandbox) -> None:
    noted(sandbox)
    pid = sandbox.start()["pid"]
    an_hour_ago = time.time() - 3600
    os.utime(sandbox.paths.daemon_lock, (an_hour_ago, an_hour_ago))
    code = "from recall.hook import pipe; pipe.BUILD = 1; pipe.main()"
    command = [sys.executable, "-c", code, "hook", "--home", str(sandbox.state)]
    done = subprocess.run(command, input=sandbox.message(QUESTION), capture_output=True)
    assert b"staging-port" in done.stdout
    assert sandbox.settled()["pid"] == pid


def test_a_model_that_is_not_there_is_said_and_the_bundled_one_answers(sandbox: Sandbox) -> None:
    noted(sandbox)
    sandbox.configure('model = "no-such-model"\n')
    sandbox.start()
    assert sandbox.context(QUESTION) is not None
    assert sandbox.json("query", QUESTION)["model"] == "multilingual-e5-small"
    assert "no-such-model" in sandbox.json("status")["problem"]
    done = sandbox.run("index", check=False)
    assert (done.returncode, "no-such-model" in done.stderr) == (1, True)
