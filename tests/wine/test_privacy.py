"""Loopback TCP on Windows: who lacks the secret gets no answer, and who lacks the proof is not believed.

Every program of the machine, whoever runs it, reaches the daemon's port; what a stranger could do is done here.
"""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from recall.version import BUILD
from recall.wire.protocol import Reply, Request
from recall.wire.transport import LOOPBACK
from wine.person import QUESTION, Person

pytestmark = pytest.mark.wine


def asked(port: int, request: bytes) -> bytes:
    """What whoever listens on a port answers to these bytes."""
    with socket.create_connection((LOOPBACK, port), timeout=30) as sock:
        sock.sendall(request)
        pieces = []
        try:
            while piece := sock.recv(65_536):
                pieces.append(piece)
        except ConnectionResetError:
            pass
        return b"".join(pieces)


@contextmanager
def impostor(answer: bytes) -> Iterator[tuple[int, list[bytes]]]:
    """Sits on a port and gives one caller this answer; the port, and what the caller sent."""
    heard: list[bytes] = []
    with socket.create_server((LOOPBACK, 0)) as server:

        def serve() -> None:
            caller, _ = server.accept()
            with caller:
                heard.append(caller.recv(65_536))
                caller.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        yield server.getsockname()[1], heard
        thread.join(30)


def test_the_endpoint_file_holds_port_secret_and_proof_all_new_at_each_start(ready: Person) -> None:
    first = ready.endpoint()
    ready.said("stop")
    ready.start()
    second = ready.endpoint()
    assert [len(word) for word in first[1:]] == [32, 32]
    assert {*first[1:]}.isdisjoint(second[1:])


def test_a_request_without_the_secret_is_refused_unanswered(ready: Person) -> None:
    port, secret, proof = ready.endpoint()
    message = ready.message(QUESTION)
    for wrong in ("", "0" * 32, proof):
        assert asked(port, Request("hook", 0, len(message), wrong).encode() + message) == b""
        assert asked(port, Request("stop", 0, 0, wrong).encode()) == b""
    right = asked(port, Request("hook", 0, len(message), secret).encode() + message)
    assert Reply.decode(right.partition(b"\n")[0] + b"\n").proof == proof
    assert b"staging-port" in right
    assert ready.logs().count(" refused ") == 6


@pytest.mark.parametrize("proof", ["", " " + "0" * 32], ids=["no proof", "another's proof"])
def test_an_answer_without_the_proof_is_dropped(person: Person, proof: str) -> None:
    forged = b'{"hookSpecificOutput": {}}\n'
    answer = f"RECALL/1 ok {BUILD} {len(forged)}{proof}\n".encode() + forged
    person.file(person.state).mkdir()
    with impostor(answer) as (port, heard):
        person.state_file("endpoint").write_text(f"{port} {'1' * 32} {'2' * 32}\n", encoding="ascii")
        assert person.hook(QUESTION).silent
    assert b" hook " in heard[0]
    assert " unreadable " in person.logs()


def test_a_port_that_a_dead_daemon_left_costs_one_silent_message(person: Person) -> None:
    person.usual_notes()
    with socket.create_server((LOOPBACK, 0)) as server:
        port = server.getsockname()[1]
    person.file(person.state).mkdir()
    person.state_file("endpoint").write_text(f"{port} {'1' * 32} {'2' * 32}\n", encoding="ascii")
    assert person.hook(QUESTION).silent
    person.settled()
    assert person.context(QUESTION) is not None
