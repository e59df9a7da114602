"""The whole way of a message, from this very shell: the registered command is really run, as Claude Code runs it.

The daemon writes each message of the hook into its journal, and `recall why` would show the probe as the last one. So
the command gets a throw-away state folder in which a relay listens. It hands the probe to the real daemon as `query
--auto` would be, which searches, gates and renders the same and leaves no trace. Nothing is left out but the journal.
"""

import contextlib
import json
import os
import socket
import statistics
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recall.doctor.case import Case, Finding
from recall.doctor.entries import Entry, own_entries, own_plugins, own_written
from recall.doctor.seen import judge_command, look_at, program_of
from recall.hook.pipe import DEFAULT_BUDGET_MS, OVERHEAD_MS
from recall.setup.settings import EVENT
from recall.wire.paths import MAX_SOCKET_PATH, SOCKET, StatePaths
from recall.wire.protocol import MAX_BODY, MAX_HEADER, Reply, Request
from recall.wire.transport import Listener, Refused, ask, listen

#: What is asked; the first warms the caches and is not counted.
QUESTIONS = (
    "which port does the service use?",
    "Why did we decide against caching the answers, and what must be done to change that?",
    "前回のリリースで直したはずの不具合がまた出ています。原因を教えてください。",
    "how do we undo a migration of the database?",
)
#: Seconds after which a registered command counts as hanging. Claude Code would wait for its `timeout`.
HANGING_SECONDS = 10.0
#: The share of the budget beyond which a busier moment would be too slow.
TIGHT = 0.8


@dataclass(frozen=True, slots=True)
class Run:
    """One run of the command: milliseconds until both streams were closed, None where they never were; its exit code,
    what it printed; the milliseconds of the daemon's answer, None where it was not asked or said nothing; and whether
    the command has called at all."""

    ms: float | None
    code: int
    out: bytes
    errors: bytes
    daemon_ms: float | None
    called: bool = True


def answer(case: Case) -> Iterator[Finding]:
    """Whether the hook answers, and in what time."""
    own = [*own_entries(case), *own_written(case), *own_plugins(case).values()]
    if not own:
        yield Finding("answer", "ok", "none", "no hook to run")
        return
    code, _ = judge_command(look_at(program_of(own[0].calls.command, case.environment), case.home))
    if code not in ("", "other"):
        yield Finding("answer", "ok", "not-run", "not tried: the registered command cannot be run")
        return
    serving = case.serve.says is not None and case.serve.says.get("state") in ("ready", "indexing")
    runs = run_hook(case, own[0], QUESTIONS if serving else QUESTIONS[:2], serving=serving)
    yield judge(runs, own[0].budget_ms or DEFAULT_BUDGET_MS, serving=serving)


def judge(runs: Sequence[Run], budget_ms: int, *, serving: bool) -> Finding:
    """What some runs say; the first is not counted for the time. A pure decision."""
    for run in runs:
        if run.ms is None:
            found = f"the registered command does not let go of its streams within {HANGING_SECONDS:g} s"
            return Finding("answer", "problem", "hangs", found, "`recall setup` registers one that does")
        if run.code != 0:
            effect = (
                "Claude Code would refuse and erase each message" if run.code == 2 else "each message shows an error"
            )
            found = f"the registered command ended with code {run.code}: {effect}"
            return Finding("answer", "problem", "exit-code", found, "`recall setup`", facts={"code": run.code})
        if run.errors or not _is_answer(run.out):
            where = "into the error stream" if run.errors else "what is no answer"
            return Finding("answer", "problem", "prints", f"the registered command prints {where}", "`recall setup`")
    if not any(run.called for run in runs):
        found = (
            "the registered command ends well and asks nobody: it finds no program of recall to start, or is another"
        )
        return Finding("answer", "problem", "asks-nobody", found, "`recall setup` registers this one")
    ms = statistics.median(run.ms or 0.0 for run in runs[1:])
    facts: dict[str, int | float | str] = {"ms": round(ms, 1), "budget_ms": budget_ms}
    if not serving:
        found = f"the hook starts and ends in {ms:.0f} ms; no daemon answers, so more was not measured"
        return Finding("answer", "ok", "start-only", found, facts=facts)
    answers = [run.daemon_ms for run in runs[1:] if run.daemon_ms is not None]
    if not answers:
        found = f"the hook ended after {ms:.0f} ms and had no answer of the daemon"
        return Finding("answer", "problem", "unanswered", found, "see `recall status`, then `recall stop`", facts=facts)
    of_daemon = statistics.median(answers)
    found = (
        f"a message takes {ms:.0f} ms from this shell ({of_daemon:.0f} of them the daemon); the cut-off is {budget_ms}"
    )
    facts["daemon_ms"] = round(of_daemon, 1)
    if max(ms, of_daemon) >= budget_ms - OVERHEAD_MS:
        return Finding(
            "answer", "problem", "slow", found, "`recall setup` offers what can be done about it", facts=facts
        )
    if ms > TIGHT * budget_ms:
        return Finding("answer", "note", "tight", found, "`recall setup` offers a longer cut-off", facts=facts)
    return Finding("answer", "ok", "ok", found, facts=facts)


def _is_answer(out: bytes) -> bool:
    """Nothing, or the one line that Claude Code takes."""
    if not out:
        return True
    try:
        return bool(json.loads(out)["hookSpecificOutput"]["hookEventName"] == EVENT)
    except (ValueError, TypeError, KeyError):
        return False


def run_hook(case: Case, entry: Entry, questions: Sequence[str], *, serving: bool) -> list[Run]:
    """Run the registered command once a question; `serving`: a daemon can answer.

    Raises OSError where no relay can listen.
    """
    with tempfile.TemporaryDirectory(prefix="recall-") as folder, Relay(case, folder, serving=serving) as relay:
        with contextlib.suppress(OSError):  # Windows, where people may make no links and there is no launcher
            Path(folder, "bin").symlink_to(case.home / "bin")
        runs = []
        for question in questions:
            runs.append(_run(case, entry, folder, relay, question))
            if runs[-1].ms is None:
                break
        return runs


def _run(case: Case, entry: Entry, folder: str, relay: "Relay", question: str) -> Run:
    program = program_of(entry.calls.command, case.environment) or entry.calls.command
    words = [str(program), *_with_home(entry.calls.args, folder)]
    cwd = str(case.folder or folder)
    message = json.dumps({"session_id": "doctor", "cwd": cwd, "hook_event_name": EVENT, "prompt": question})
    # A plugin's program looks for recall by this variable, where setup has put a launcher too.
    environment = {**case.environment, "CLAUDE_CODE_ENTRYPOINT": "cli", "RECALL_HOME": folder}
    environment.pop("RECALL_OFF", None)  # the check `switch` speaks of it
    relay.took_ms, relay.called = None, False
    began = time.perf_counter()
    try:
        done = subprocess.run(
            words, input=message.encode(), capture_output=True, timeout=HANGING_SECONDS, cwd=cwd, env=environment,
            check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return Run(None, 0, b"", b"", None)
    ms = (time.perf_counter() - began) * 1000
    relay.settle()
    return Run(ms, done.returncode, done.stdout, done.stderr, relay.took_ms, relay.called)


def _with_home(args: Sequence[str], folder: str) -> list[str]:
    """The arguments with another state folder; older clients drop them all, and so may an entry."""
    words = list(args) or ["hook"]
    for at, word in enumerate(words[:-1]):
        if word == "--home":
            words[at + 1] = folder
            return words
    return [*words, "--home", folder]


class Relay:
    """Listens in a folder as a daemon does, and answers the hook with what the real daemon would hand over."""

    def __init__(self, case: Case, folder: str, *, serving: bool) -> None:
        self.took_ms: float | None = None
        self.called = False
        self._serving = serving
        self._case = case
        self._idle = threading.Event()
        self._idle.set()
        place = StatePaths(folder)
        # Where the path is too long for a socket, a daemon takes a folder in the person's home; a probe makes none.
        fits = len(os.fsencode(os.path.join(folder, SOCKET))) <= MAX_SOCKET_PATH  # noqa: PTH118
        self._listener: Listener = listen(place, "auto" if fits else "tcp")
        self._listener.sock.listen()

    def __enter__(self) -> "Relay":
        threading.Thread(target=self._serve, name="relay", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.sock.close()
        self._listener.remove()

    def settle(self) -> None:
        """Wait until the daemon has answered a question that the hook did not wait for."""
        self._idle.wait(HANGING_SECONDS)

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self._listener.sock.accept()
            except OSError:
                return  # closed
            self._idle.clear()
            self.called = True
            with client, contextlib.suppress(OSError, ValueError, KeyError, TypeError):
                client.settimeout(HANGING_SECONDS)
                self._answer(client)
            self._idle.set()

    def _answer(self, client: socket.socket) -> None:
        data = b""
        while b"\n" not in data and len(data) < MAX_HEADER:
            data += _some(client)
        line, _, body = data.partition(b"\n")
        request = Request.decode(line + b"\n")
        while len(body) < min(request.length, MAX_BODY):
            body += _some(client)
        status, printed = self._ask(json.loads(body))
        reply = Reply(status, len(printed), self._listener.proof)
        reply.build = request.build  # a hook that took us for an older daemon would start one here
        client.sendall(reply.encode() + printed)

    def _ask(self, message: dict[str, Any]) -> tuple[str, bytes]:
        if not self._serving:  # one that hangs would be waited for
            return "warming", b""
        fields = {"question": message["prompt"], "cwd": message["cwd"], "auto": True}
        began = time.perf_counter()
        try:
            reply, body = ask(self._case.paths, "query", json.dumps(fields).encode(), timeout=HANGING_SECONDS)
        except (OSError, Refused):
            return "none", b""
        if reply.status != "ok":
            return "none", b""
        self.took_ms = (time.perf_counter() - began) * 1000
        context = json.loads(body).get("additional_context")
        if not context:
            return "none", b""
        printed = {"hookSpecificOutput": {"hookEventName": EVENT, "additionalContext": context}}
        return "ok", json.dumps(printed).encode() + b"\n"


def _some(client: socket.socket) -> bytes:
    """What has come; at least a byte. Raises ConnectionError where nothing comes any more."""
    piece = client.recv(65_536)
    if not piece:
        raise ConnectionError("the hook went away")
    return piece
