"""The hook as a dumb pipe: stdin's bytes go to the daemon, the daemon's bytes go to stdout.

One self-contained file. It imports nothing of ours and neither json nor socket: packed, it runs by itself before
PyInstaller's importers (see pyinstaller.spec), and from source those two cost 10 ms a message. What it shares with
recall.wire (header, limits, names) is held equal by tests/unit/hook/test_pipe.py.

Whatever happens, the process ends with code 0 within its budget and prints either a whole answer or nothing.
"""

import _socket
import _thread
import os
import sys
import time

PROTOCOL = 1
BUILD = 1_000
SOCKET = "recall.sock"
ENDPOINT = "endpoint"
HOOK_LOG = "hook.log"
MAX_HEADER = 512
MAX_BODY = 4 * 1024 * 1024
MAX_ANSWER = 64 * 1024

DEFAULT_BUDGET_MS = 300
#: Part of the budget (ms) that the interpreter's start and the process's end take before and after this file's clock.
OVERHEAD_MS = 40

#: Windows tries for two seconds to reach a port that a killed daemon has left; a living one is reached at once.
CONNECT_SECONDS = 0.1

#: Values of CLAUDE_CODE_ENTRYPOINT that mean that no person sits there; `sdk-*` is the other family.
AUTOMATED = ("mcp", "claude-code-github-action")

# Outcomes of `forward`. The last two ask the rest of the ring to act.
DONE, UNREACHABLE, OUTDATED = "done", "unreachable", "outdated"


def is_asked(argv: list[str]) -> bool:
    """Whether this process is the hook. Without arguments and with something piped in it is too: clients before
    2.1.139 drop the arguments."""
    if "--help" in argv or "-h" in argv:
        return False
    return argv[1:2] == ["hook"] or (len(argv) == 1 and not os.isatty(0))


def main(unanswered: "tuple[str, str, bytes, float] | None" = None) -> None:
    """Run the hook with the process's own arguments and streams. Never returns: the process ends with code 0.

    `unanswered`, in the packed program: what `ask` has left to do.
    """
    try:
        unanswered = unanswered or ask(sys.argv)
        if unanswered is not None:
            # The only import of ours: no answer is waited for any more when it happens.
            from recall.hook import wake  # noqa: PLC0415

            wake.wake(*unanswered)
    except BaseException:  # a traceback would be shown to the person on every message
        pass
    finally:
        os._exit(0)


def ask(argv: list[str]) -> "tuple[str, str, bytes, float] | None":
    """Hand the message on and the answer back. What `wake` needs where that asks the rest of the ring to act: state
    folder, outcome, message, deadline (of time.monotonic)."""
    home, budget_ms = options(argv)
    deadline = time.monotonic() + max(10, budget_ms - OVERHEAD_MS) / 1000
    _thread.start_new_thread(dead_man, (home, budget_ms, deadline))
    if silenced(os.environ):
        read_all(0)  # a client that writes into a closed pipe may report an error
        return None
    outcome, message = forward(home, deadline)
    return None if outcome == DONE else (home, outcome, message, deadline)


def options(argv: list[str]) -> tuple[str, int]:
    """`--home DIR` (else RECALL_HOME, else "") and `--budget MS` from the arguments. Unknown words are passed over."""
    home, budget_ms = os.environ.get("RECALL_HOME", ""), DEFAULT_BUDGET_MS
    for place, word in enumerate(argv[:-1]):
        if word == "--home":
            home = argv[place + 1]
        elif word == "--budget" and argv[place + 1].isdigit():
            budget_ms = int(argv[place + 1])
    return home, budget_ms


def silenced(environment: object) -> bool:
    """Whether the environment alone decides that nothing is asked: switched off, or an automated session."""
    get = environment.get  # type: ignore[attr-defined]
    entrypoint = get("CLAUDE_CODE_ENTRYPOINT", "")
    return get("RECALL_OFF", "") not in ("", "0") or entrypoint.startswith("sdk") or entrypoint in AUTOMATED


def dead_man(home: str, budget_ms: int, deadline: float) -> None:
    """End the process when its time is spent: stdin that never closes, a stopped daemon, a half reply."""
    try:
        time.sleep(max(0.0, deadline - time.monotonic()))
        # In a thread of its own: a disk that hangs must not hold this one.
        _thread.start_new_thread(note, (home, "timeout", budget_ms))
        time.sleep(0.005)
    finally:
        os._exit(0)


def forward(home: str, deadline: float) -> tuple[str, bytes]:
    """Hand stdin to the daemon of `home` and its answer to stdout: (outcome, message)."""
    message = read_all(0)
    if not message:
        return DONE, b""
    if len(message) > MAX_BODY:
        note(home, "oversize", 0)
        return DONE, b""
    connected = connect(home) if home else None
    if connected is None:
        return UNREACHABLE, message
    return exchange(home, connected, message, deadline), message


def connect(home: str, path: str = "") -> "tuple[_socket.socket, bytes, bytes] | None":
    """A socket to the daemon with the secret to send and the proof to expect, or None when nobody listens there."""
    if hasattr(_socket, "AF_UNIX"):
        sock = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        try:
            sock.connect(path or home + "/" + SOCKET)
            return sock, b"", b""
        except OSError:
            sock.close()
    try:
        handle = os.open(home + "/" + ENDPOINT, os.O_RDONLY)
        try:
            port, secret, proof = os.read(handle, 256).split()
        finally:
            os.close(handle)  # on Windows the daemon that we start could not put its own file there
        sock = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
        sock.settimeout(CONNECT_SECONDS)
        sock.connect(("127.0.0.1", int(port)))
        sock.settimeout(None)
        return sock, secret, proof
    except (OSError, ValueError):
        return None


def exchange(home: str, connected: "tuple[_socket.socket, bytes, bytes]", message: bytes, deadline: float) -> str:
    """Ask, check the answer, print it: DONE or OUTDATED (the daemon is older than this program)."""
    sock, secret, proof = connected
    started = time.monotonic()
    left_ms = int((deadline - started) * 1000)
    header = b"RECALL/%d hook %d %d %d%s\n" % (PROTOCOL, max(1, left_ms), BUILD, len(message), secret and b" " + secret)
    send(sock, header)
    send(sock, message)
    line, body = receive(sock)
    words = line.split(b" ")
    spent_ms = int((time.monotonic() - started) * 1000)
    if words[0][:7] != b"RECALL/" or len(words) < 4:
        note(home, "unreadable", spent_ms)
        return DONE
    if int(words[0][7:]) < PROTOCOL:
        return OUTDATED
    if words[0][7:] != b"%d" % PROTOCOL or words[4:] != ([proof] if proof else []) or int(words[3]) != len(body):
        note(home, "unreadable", spent_ms)
        return DONE
    if words[1] == b"ok" and 0 < len(body) <= MAX_ANSWER:
        show(body, deadline)
    elif words[1] != b"none":
        note(home, words[1].decode("ascii", "replace"), spent_ms)
    return OUTDATED if int(words[2]) < BUILD else DONE


def show(body: bytes, deadline: float) -> None:
    """Print the answer, unless the time is spent."""
    while body and time.monotonic() < deadline:
        body = body[os.write(1, body) :]


def release_streams() -> None:
    """Let go of the client's streams, so that it, which waits for their end, waits no longer."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)


def read_all(handle: int) -> bytes:
    """Everything until end-of-file. Beyond MAX_BODY the rest is read and dropped, so that memory stays bounded."""
    pieces: list[bytes] = []
    length = 0
    while True:
        piece = os.read(handle, 262_144)
        if not piece:
            return b"".join(pieces)
        length += len(piece)
        if length <= MAX_BODY + 262_144:
            pieces.append(piece)


def send(sock: "_socket.socket", data: bytes) -> None:
    """Write everything (the plain socket object has no sendall that survives a signal)."""
    view = memoryview(data)
    while view:
        view = view[sock.send(view) :]


def receive(sock: "_socket.socket") -> tuple[bytes, bytes]:
    """The reply's header line, without its newline, and its body, read until the daemon closes."""
    data = b""
    while len(data) <= MAX_HEADER + MAX_ANSWER:
        piece = sock.recv(65_536)
        if not piece:
            break
        data += piece
    line, _, body = data.partition(b"\n")
    return line, body


def note(home: str, code: str, spent_ms: int) -> None:
    """Append `time code ms` to hook.log: what went wrong, never a word of the message."""
    try:
        # A named pipe in its place must not keep us, least of all the child that starts a daemon and has no dead man.
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NONBLOCK", 0)
        handle = os.open(home + "/" + HOOK_LOG, flags, 0o600)
        os.write(handle, f"{time.strftime('%Y-%m-%dT%H:%M:%S')} {code} {spent_ms}\n".encode())
    except OSError:
        pass  # no state folder yet, or a full disk


if __name__ == "__main__" and is_asked(sys.argv):
    # Packed: nothing of ours can be imported yet. With something left to do this file just ends; the program's usual
    # start follows in the same process, where `unanswered` is a global of __main__.
    try:
        unanswered = ask(sys.argv)
    except BaseException:
        os._exit(0)
    if unanswered is None:
        os._exit(0)
