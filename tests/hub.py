"""A stand-in for the model hub on loopback: it serves real files as the hub does, and fails when told to."""

import hashlib
import re
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

REPOSITORY = "people/model"
REVISION = "0123456789abcdef0123456789abcdef01234567"

_PIECE = 1 << 16


class Asked(NamedTuple):
    """One request: the file that it was about, "" for anything else, and what was sent along."""

    method: str
    path: str
    file: str
    range: str | None
    authorization: str | None
    agent: str


@dataclass
class Behaviour:
    """How the server treats requests for the contents of one file.

    `status`: answer with this instead, `code` being the hub's own word for it. `cut`: break the connection after so
    many bytes of each answer. `hold`: after so many bytes send nothing more until the test lets go. `content`: other
    bytes than the file's. `ranges`: whether parts can be asked for. `large`: whether the hub keeps the file apart, so
    that it knows its SHA-256 and sends a redirect to another host.
    """

    status: int = 200
    code: str = ""
    cut: int | None = None
    hold: int | None = None
    content: bytes | None = None
    ranges: bool = True
    large: bool = True


@dataclass
class Hub:
    """The running server. `files` are those of its one repository by their paths there; /plain/ has them too."""

    files: Mapping[str, Path]
    behaviours: dict[str, Behaviour] = field(default_factory=dict)
    token: str | None = None
    log: list[Asked] = field(default_factory=list)
    port: int = 0
    holding: threading.Event = field(default_factory=threading.Event)
    let_go: threading.Event = field(default_factory=threading.Event)

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def store(self) -> str:
        """Where large files lie: another host name for the same server."""
        return f"http://localhost:{self.port}/store"

    def behaviour(self, file: str) -> Behaviour:
        return self.behaviours.setdefault(file, Behaviour())

    def parts(self, file: str) -> list[str | None]:
        """Which parts of a file's contents were asked for, None for the whole."""
        contents = ("/store/", "/plain/") if self.behaviour(file).large else ("/",)
        return [
            asked.range
            for asked in self.log
            if asked.file == file and asked.method == "GET" and asked.path.startswith(contents)
        ]


@contextmanager
def serving(files: Mapping[str, Path]) -> Iterator[Hub]:
    """Run the stand-in with these files until the block ends."""
    hub = Hub(files)

    class Handler(_Handler):
        pass

    Handler.hub = hub
    server = _Server(("127.0.0.1", 0), Handler)
    hub.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        hub.let_go.set()
        server.shutdown()
        server.server_close()
        thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Nothing where the other side has gone, as tests make it do."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    hub: Hub
    protocol_version = "HTTP/1.1"

    def do_HEAD(self) -> None:
        self._serve(body=False)

    def do_GET(self) -> None:
        self._serve(body=True)

    def log_message(self, *_: object) -> None:
        """Nothing: `Hub.log` has it."""

    def _serve(self, *, body: bool) -> None:
        resolved = re.fullmatch(rf"/{REPOSITORY}/resolve/([^/]+)/(.+)", self.path)
        stored = re.fullmatch(r"/(?:store|plain)/(.+)", self.path)
        file = resolved[2] if resolved else stored[1] if stored else ""
        headers = self.headers
        self.hub.log.append(
            Asked(str(self.command), self.path, file, headers["Range"], headers["Authorization"], headers["User-Agent"])
        )
        if file not in self.hub.files:
            self._refuse(404, "EntryNotFound" if resolved else "RepoNotFound")
        elif resolved and resolved[1] != REVISION:
            self._refuse(404, "RevisionNotFound")
        elif resolved and self.hub.token and headers["Authorization"] != f"Bearer {self.hub.token}":
            self._refuse(401, "GatedRepo")
        elif (behaviour := self.hub.behaviour(file)).status != 200:
            self._refuse(behaviour.status, behaviour.code)
        elif resolved and behaviour.large:
            self._redirect(file)
        else:
            self._send(file, behaviour, body=body)

    def _refuse(self, status: int, code: str) -> None:
        self.send_response(status)
        if code:
            self.send_header("X-Error-Code", code)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _redirect(self, file: str) -> None:
        """Large files lie elsewhere; this answer has their checksum and size."""
        path = self.hub.files[file]
        self.send_response(302)
        self.send_header("Location", f"{self.hub.store}/{file}")
        self.send_header("X-Repo-Commit", REVISION)
        self.send_header("X-Linked-Etag", f'"{_sha256(path)}"')
        self.send_header("X-Linked-Size", str(path.stat().st_size))
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _send(self, file: str, behaviour: Behaviour, *, body: bool) -> None:
        data = behaviour.content if behaviour.content is not None else self.hub.files[file].read_bytes()
        start, asked = 0, re.fullmatch(r"bytes=(\d+)-", self.headers["Range"] or "")
        if asked and behaviour.ranges:
            start = int(asked[1])
            if start >= len(data):
                self._refuse(416, "")
                return
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
        else:
            self.send_response(200)
        self.send_header("X-Repo-Commit", REVISION)
        blob = hashlib.sha1(b"blob %d\0" % len(data) + data)  # git's name for it
        self.send_header("ETag", f'"{blob.hexdigest()}"')
        self.send_header("Accept-Ranges", "bytes" if behaviour.ranges else "none")
        self.send_header("Content-Length", str(len(data) - start))
        self.end_headers()
        if body:
            self._send_body(memoryview(data)[start:], behaviour)

    def _send_body(self, data: memoryview, behaviour: Behaviour) -> None:
        stops = [stop for stop in (behaviour.cut, behaviour.hold) if stop is not None]
        until = min([len(data), *stops])
        try:
            for place in range(0, until, _PIECE):
                self.wfile.write(data[place : min(place + _PIECE, until)])
            self.wfile.flush()
            if behaviour.hold is not None:
                self.hub.holding.set()
                self.hub.let_go.wait(60)
                self.wfile.write(data[until:])
            elif until < len(data):
                self.close_connection = True
        except OSError:
            self.close_connection = True  # the other side has gone


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
