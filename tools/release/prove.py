"""Proof that a built program's hook works where it runs: before PyInstaller's importers, with little to import.

A test from source sees none of these limits, and at a colleague's the hook fails in silence. So the build fails.
"""

import ast
import json
import os
import subprocess
import tempfile
import threading
from pathlib import Path

from recall.install.place import PROGRAM
from recall.wire.paths import StatePaths
from recall.wire.protocol import Reply, Request
from recall.wire.transport import Listener, listen

#: Built-in modules, and one extension that can be loaded before any importer of ours is there.
ALLOWED = frozenset({"_socket", "_thread", "os", "sys", "time"})
#: Imported only when no answer is waited for any more, by the usual start.
LATE = "recall.hook"

ANSWER = json.dumps(
    {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "見出し"}}
).encode()
MESSAGE = json.dumps({"prompt": "質問 " * 2000}).encode()
SECONDS = 60.0


def check_imports(pipe: Path) -> None:
    """Raises ValueError where the hook's file names a module that it cannot have, or should not wait for."""
    for node in ast.walk(ast.parse(pipe.read_text("utf-8"))):
        if not isinstance(node, ast.Import | ast.ImportFrom):
            continue
        for name in [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]:
            if name not in ALLOWED and name != LATE:
                raise ValueError(
                    f"expected {pipe.name} to import {', '.join(sorted(ALLOWED))} alone, found {name} in line "
                    f"{node.lineno}: packed, it runs before anything else can be imported, and waits for each import"
                )


def check_hook(folder: Path) -> None:
    """Ask a stand-in for the daemon through the program's hook. Raises ValueError where that is not what comes back."""
    with tempfile.TemporaryDirectory() as home:
        listener = listen(StatePaths(home), "auto")
        received: list[bytes] = []
        daemon = threading.Thread(target=_answer_once, args=(listener, received), daemon=True)
        daemon.start()
        done = subprocess.run(
            [str(folder / PROGRAM), "hook", "--home", home, "--budget", "30000"],
            input=MESSAGE, capture_output=True, timeout=SECONDS, check=False,
            env={**os.environ, "CLAUDE_CODE_ENTRYPOINT": "cli"},
        )  # fmt: skip
        listener.sock.close()
        daemon.join(SECONDS)
    if (done.returncode, done.stdout, done.stderr, received) != (0, ANSWER, b"", [MESSAGE]):
        raise ValueError(
            f"expected the packed hook to hand a message on and its answer back, found exit code {done.returncode}, "
            f"{len(done.stdout)} bytes of answer and this: {done.stderr.decode(errors='replace').strip()[:500]!r}"
        )


def _answer_once(listener: Listener, received: list[bytes]) -> None:
    try:
        connection, _ = listener.sock.accept()
    except OSError:  # nobody asked
        return
    with connection, connection.makefile("rb") as file:
        request = Request.decode(file.readline())
        received.append(file.read(request.length))
        connection.sendall(Reply("ok", len(ANSWER), listener.proof).encode() + ANSWER)
