"""Fetching published weights: a stand-in for the hub on loopback, asked by a process of its own."""

import hashlib
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
COMMIT = "0123456789abcdef0123456789abcdef01234567"

#: What the process does: fetch, read, and print where the weights came from and what it found.
SCRIPT = """
import sys
from pathlib import Path
from export.weights import SourceError, fetch_checkpoint, read_checkpoint
try:
    folder, origin = fetch_checkpoint("BAAI/bge-m3", sys.argv[1], Path(sys.argv[2]))
except SourceError as error:
    sys.exit(str(error))
checkpoint = read_checkpoint(folder, origin, heads=True)
print(origin.repository, origin.revision, checkpoint.encoder["embeddings.LayerNorm.weight"].size)
print(*sorted(path.name for path in folder.iterdir() if path.is_file()))
"""


@contextmanager
def hub(files: dict[str, Path]) -> Iterator[str]:
    """Serve a repository whose branch `main` is at COMMIT; the address is given."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            pass

        def do_HEAD(self) -> None:
            self.answer(body=False)

        def do_GET(self) -> None:
            self.answer(body=True)

        def answer(self, *, body: bool) -> None:
            if re.fullmatch(rf"/api/models/BAAI/bge-m3/revision/(main|{COMMIT})(\?.*)?", self.path):
                names = [{"rfilename": name} for name in files]
                data = json.dumps({"_id": "1", "id": "BAAI/bge-m3", "sha": COMMIT, "siblings": names}).encode()
            elif re.fullmatch(rf"/api/models/BAAI/bge-m3/tree/{COMMIT}(\?.*)?", self.path):
                entries = [
                    {"type": "file", "path": name, "size": path.stat().st_size, "oid": "0" * 40}
                    for name, path in files.items()
                ]
                data = json.dumps(entries).encode()
            elif (found := re.fullmatch(rf"/BAAI/bge-m3/resolve/{COMMIT}/(.+)", self.path)) and found[1] in files:
                data = files[found[1]].read_bytes()
            else:
                self.send_response(404)
                self.send_header("X-Error-Code", "RevisionNotFound")
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            self.send_response(200)
            self.send_header("X-Repo-Commit", COMMIT)
            self.send_header("ETag", f'"{hashlib.sha256(data).hexdigest()}"')
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            if body:
                self.wfile.write(data)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def fetch(endpoint: str, revision: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    environment = os.environ | {
        "HF_ENDPOINT": endpoint,
        "HF_HOME": str(folder.parent / "home"),
        "PYTHONPATH": str(ROOT / "tools"),
        "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    }
    command = [sys.executable, "-c", SCRIPT, revision, str(folder)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)


def test_weights_come_from_the_hub_with_the_commit_that_was_meant(tmp_path: Path, weights: Path) -> None:
    (tmp_path / "README.md").write_text("not wanted")
    (tmp_path / "pytorch_model.bin").write_bytes(b"the same weights a second time")
    files = {path.name: path for path in [*weights.iterdir(), tmp_path / "README.md", tmp_path / "pytorch_model.bin"]}
    with hub(files) as endpoint:
        done = fetch(endpoint, "main", tmp_path / "fetched")
    assert done.returncode == 0, done.stderr
    where, names = done.stdout.splitlines()
    assert where == f"BAAI/bge-m3 {COMMIT} 128"
    assert names.split() == sorted(path.name for path in weights.iterdir())


def test_what_cannot_be_fetched_is_one_sentence(tmp_path: Path, weights: Path) -> None:
    with hub({path.name: path for path in weights.iterdir()}) as endpoint:
        unknown = fetch(endpoint, "v9", tmp_path / "fetched")
    away = fetch("http://127.0.0.1:9", "main", tmp_path / "fetched")
    for done, revision in ((unknown, "v9"), (away, "main")):
        assert done.returncode == 1
        assert done.stderr.startswith(f"BAAI/bge-m3 at {revision} could not be fetched from the hub: ")
        assert done.stderr.count("\n") == 1
