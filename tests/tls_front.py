"""TLS in front of a PostgreSQL server that was built without it: asks for TLS as a server does, hands on the rest."""

import contextlib
import select
import socket
import socketserver
import ssl
import struct
import threading
from typing import Self

#: The requests that may stand before a connection's first message (PostgreSQL, protocol, "Message Formats").
_TLS, _GSS = 80877103, 80877104


class Front:
    """Listens on 127.0.0.1:`port` and speaks TLS there; connections without TLS are refused."""

    def __init__(self, port: int, behind: int, context: ssl.SSLContext) -> None:
        class Handler(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                with contextlib.suppress(OSError):
                    _serve(self.request, behind, context)

        class Listener(socketserver.ThreadingTCPServer):
            allow_reuse_address = True
            daemon_threads = True

        self._listener = Listener(("127.0.0.1", port), Handler)
        self._thread = threading.Thread(target=self._listener.serve_forever, kwargs={"poll_interval": 0.05})
        self._thread.start()

    def close(self) -> None:
        self._listener.shutdown()
        self._thread.join()
        self._listener.server_close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _serve(client: socket.socket, behind: int, context: ssl.SSLContext) -> None:
    """One connection, until either side ends it. Raises OSError."""
    while True:
        asked = client.recv(8, socket.MSG_WAITALL)
        if len(asked) < 8:
            return
        code = struct.unpack("!ii", asked)[1]
        if code == _TLS:
            break
        if code != _GSS:
            return
        client.sendall(b"N")
    client.sendall(b"S")
    with context.wrap_socket(client, server_side=True) as tls, socket.create_connection(("127.0.0.1", behind)) as plain:
        _pump(tls, plain)


def _pump(tls: ssl.SSLSocket, plain: socket.socket) -> None:
    other = {tls: plain, plain: tls}
    while True:
        ready = [tls] if tls.pending() else select.select([tls, plain], [], [])[0]
        for side in ready:
            data = side.recv(1 << 16)
            if not data:
                return
            other[side].sendall(data)
