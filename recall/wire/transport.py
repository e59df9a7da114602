"""The two ways to the daemon: a unix socket in a private folder, or loopback TCP with a secret and a proof.

On TCP anybody on the machine can connect, and anybody can sit on a port that a dead daemon left. So the endpoint
file (readable by its owner only) holds `port secret proof`, all fresh at each start: the asker sends the secret and
believes only an answer that carries the proof.
"""

import contextlib
import os
import secrets
import socket
import sys
import time
from collections.abc import Callable

from recall.wire.files import read_file
from recall.wire.lock import same_file
from recall.wire.paths import MAX_SOCKET_PATH, StatePaths, make_private_folder
from recall.wire.protocol import MAX_HEADER, Reply, Request

LOOPBACK = "127.0.0.1"
BACKLOG = 128


#: Windows neither deletes nor replaces a file that somebody reads: so often we try again, 20 ms apart. A hook reads the
#: endpoint file for a fraction of one.
_TRIES = 50 if sys.platform == "win32" else 0


class Refused(Exception):
    """An answer came that is not from our daemon, or not in our format."""


class Listener:
    """A listening socket with what the daemon must check (`secret`) and answer (`proof`); both empty on unix.

    `address` is the file by which others find it: the socket itself, or the endpoint file.
    """

    def __init__(self, sock: socket.socket, address: str, secret: str = "", proof: str = "") -> None:
        self.sock = sock
        self.secret = secret
        self.proof = proof
        self._address = address
        self._state = os.stat(address)

    def is_in_place(self) -> bool:
        """Whether others still find this listener at its address."""
        return same_file(self._address, self._state)

    def remove(self) -> None:
        """Take the address away, unless it is somebody else's by now."""
        if self.is_in_place():
            _unlink(self._address)


def listen(paths: StatePaths, transport: str) -> Listener:
    """Start listening and make the address known. Call it only while holding `daemon.lock`, or once the daemon that
    holds it has agreed to end. Raises OSError.

    `transport` is auto, unix or tcp. The address appears at once and complete (bind to a temporary name, rename): who
    takes over from another daemon leaves no moment without one. The other transport's leftovers vanish, so that nobody
    asks a daemon that died.
    """
    fits = len(os.fsencode(paths.socket)) <= MAX_SOCKET_PATH
    unix = sys.platform != "win32" and (transport == "unix" or (transport == "auto" and fits))
    listener = _listen_unix(paths.socket) if unix else _listen_tcp(paths)
    _unlink(paths.endpoint if unix else paths.socket)
    return listener


def _unlink(address: str) -> None:
    """Remove an address and, where it is in the short folder of a long state folder, that folder."""
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        _insist(lambda: os.unlink(address))
    folder = os.path.dirname(address)
    if os.path.basename(os.path.dirname(folder)) == ".recall":
        with contextlib.suppress(OSError):
            os.rmdir(folder)
            os.rmdir(os.path.dirname(folder))


def _insist(change: Callable[[], None]) -> None:
    """Change a file that others may be reading at this moment."""
    for _ in range(_TRIES):
        try:
            return change()
        except PermissionError:
            time.sleep(0.02)
    return change()


def _listen_unix(path: str) -> Listener:
    folder = os.path.dirname(path)
    make_private_folder(folder)
    temporary = os.path.join(folder, f"s{os.getpid()}")  # shorter than the name it gets, so it fits where that fits
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        if os.path.lexists(temporary):
            os.unlink(temporary)
        sock.bind(temporary)
        os.chmod(temporary, 0o600)
        sock.listen(BACKLOG)
        os.rename(temporary, path)
    except OSError:
        sock.close()
        raise
    return Listener(sock, path)


def _listen_tcp(paths: StatePaths) -> Listener:
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        sock.bind((LOOPBACK, 0))
        sock.listen(BACKLOG)
        secret, proof = secrets.token_hex(16), secrets.token_hex(16)
        temporary = f"{paths.endpoint}.{os.getpid()}"
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(f"{sock.getsockname()[1]} {secret} {proof}\n")
        _insist(lambda: os.replace(temporary, paths.endpoint))
    except OSError:
        sock.close()
        raise
    return Listener(sock, paths.endpoint, secret, proof)


def ask(paths: StatePaths, verb: str, body: bytes = b"", *, timeout: float, budget_ms: int = 0) -> tuple[Reply, bytes]:
    """Send one request and wait at most `timeout` seconds for the answer.

    Raises OSError (ConnectionError, FileNotFoundError, TimeoutError) when nobody answers in time, and Refused when
    the answer is not the daemon's.
    """
    deadline = time.monotonic() + timeout
    sock, secret, proof = _connect(paths, timeout)
    with sock:
        sock.sendall(Request(verb, budget_ms, len(body), secret).encode() + body)
        data = b""
        while True:
            sock.settimeout(max(0.001, deadline - time.monotonic()))
            piece = sock.recv(65536)
            data += piece
            if not piece or _complete(data):
                break
    line, newline, rest = data.partition(b"\n")
    try:
        reply = Reply.decode(line + newline)
    except ValueError:
        raise Refused("the answer is not in recall's format") from None
    if reply.proof != proof:
        raise Refused("the answer does not carry the daemon's proof")
    if len(rest) != reply.length:
        raise ConnectionError("the answer broke off")
    return reply, rest


def _connect(paths: StatePaths, timeout: float) -> tuple[socket.socket, str, str]:
    """A connected socket, the secret to send and the proof to expect."""
    if sys.platform != "win32" and os.path.exists(paths.socket):
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        address: str | tuple[str, int] = paths.socket
        secret = proof = ""
    else:
        words = read_file(paths.endpoint).decode("ascii", "replace").split()
        if len(words) != 3 or not words[0].isdigit():
            raise ConnectionError("the endpoint file is not complete")
        sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        address, secret, proof = (LOOPBACK, int(words[0])), words[1], words[2]
    try:
        sock.settimeout(timeout)
        sock.connect(address)
    except BlockingIOError:  # Linux: so many wait already that no other fits
        sock.close()
        raise TimeoutError("nobody takes the connection") from None
    except OSError:
        sock.close()
        raise
    return sock, secret, proof


def _complete(data: bytes) -> bool:
    """Whether `data` holds a whole reply, or so much that it cannot become one."""
    line, newline, _ = data[:MAX_HEADER].partition(b"\n")
    if not newline:
        return len(data) >= MAX_HEADER
    try:
        return len(data) - len(line) - 1 >= Reply.decode(line + newline).length
    except ValueError:
        return True
