"""A throw-away machine for the benches: home, state folder, notes and a daemon. Nothing of the person's is touched."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import psutil

from recall.cli.client import call
from recall.cli.demo import NOTES
from recall.core.config import render_default_config
from recall.core.errors import DaemonUnreachable
from recall.daemon.process import end_daemon
from recall.embed.manifest_file import read_manifest
from recall.setup.launcher import DEFAULT_BUDGET_MS, entry_for, hook_entry, write_launcher
from recall.sources.projects import encode
from recall.wire.paths import StatePaths, make_private_folder
from recall.wire.spawn import start_daemon

#: Seconds for a daemon to load its model, and to index what lies there, on a busy machine.
PATIENCE = 180.0
#: What this process and all that it starts must not see of the person's own set-up.
_FOREIGN = ("RECALL_", "CLAUDE", "XDG_", "ANTHROPIC_", "PYTHON")


class Machine:
    """One person's folders below `root`: a home with Claude's folder and projects, and the state folder. `program`: the
    packed program that answers; None where recall runs from source."""

    budget_ms = DEFAULT_BUDGET_MS

    def __init__(self, root: Path) -> None:
        self.program: Path | None = None
        self.home = root / "home"
        self.claude = self.home / ".claude"
        self.project = self._project(0)
        self._messages = 0
        self.paths = StatePaths(str(root / "state"))
        make_private_folder(self.paths.home)
        self.project.mkdir(parents=True)

    def write_notes(self, count: int, addition: str = "") -> None:
        """Write `count` notes, every project a varied copy of the sample notes: enough of them to weigh, and few
        enough in each project for a question to stand out. The first project is the one that is asked in."""
        samples = sorted(NOTES.glob("*.md"))
        for number in range(count):
            copy, sample = number // len(samples), samples[number % len(samples)]
            project = self._project(copy)
            (project / ".git").mkdir(parents=True, exist_ok=True)
            memory = self.claude / "projects" / encode(str(project)) / "memory"
            memory.mkdir(parents=True, exist_ok=True)
            text = f"{sample.read_text('utf-8')}\nProject {copy}. {addition}\n"
            (memory / sample.name).write_text(text, encoding="utf-8")

    def install(self, folder: Path) -> None:
        """Use the model of a folder that an export tool wrote."""
        manifest = read_manifest(folder / "manifest.toml", folder)
        copied = Path(self.paths.models) / manifest.name
        copied.mkdir(mode=0o700, parents=True)
        for path in (folder / "manifest.toml", *(path for path in manifest.files if path.is_file())):
            (copied / path.name).symlink_to(path.absolute())
        config = render_default_config({"model": manifest.name})
        Path(self.paths.config).write_text(config, encoding="utf-8")

    def _project(self, number: int) -> Path:
        return self.home / f"project-{number}"

    def message(self, prompt: str, session: str) -> bytes:
        """The hook's stdin for a prompt typed in the first project, in a session of its own whose name begins with
        `session`: a headline comes once a session."""
        self._messages += 1
        fields = {
            "session_id": f"{session}-{self._messages}",
            "cwd": str(self.project),
            "hook_event_name": "UserPromptSubmit",
            "prompt": prompt,
        }
        return json.dumps(fields).encode()

    def registered_command(self) -> list[str]:
        """The command that `recall setup` registers, with its launcher written where it uses one."""
        state = Path(self.paths.home)
        if self.program is not None:
            entry = entry_for(self.program, state, self.budget_ms)
        else:
            entry = hook_entry(state, self.budget_ms)
            write_launcher(state)
        return [entry.command, *entry.args]

    def start(self) -> psutil.Process:
        """Start the daemon as the hook does and wait until it is at rest."""
        start_daemon(self.paths.home, program=str(self.program or ""))
        return self.settled()

    def settled(self) -> psutil.Process:
        """The daemon's process, once its model is loaded and no look at the sources is under way."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            try:
                status: dict[str, Any] = call(self.paths, "status")
            except DaemonUnreachable:
                status = {"state": "starting"}
            if status["state"] == "failed":
                raise SystemExit(status["problem"])
            if status["state"] == "ready":
                return psutil.Process(status["pid"])
            time.sleep(0.02)
        raise SystemExit(f"the daemon is not ready after {PATIENCE:g} s; see {self.paths.daemon_log}")

    def spent(self, session: str) -> dict[str, float]:
        """Milliseconds that the daemon says it spent on a message, by the session, of those whose name begins so."""
        lines = Path(self.paths.injections).read_text("utf-8").splitlines()
        entries = [entry for entry in map(json.loads, lines) if entry["session"].startswith(session)]
        return {entry["session"]: entry["ms"] for entry in entries}

    def journal(self, session: str) -> list[float]:
        """The same, in the order of the messages, where `session` was given to `message`."""
        return list(self.spent(f"{session}-").values())


@contextmanager
def machine() -> Iterator[Machine]:
    """A machine that is gone afterwards, its daemon too, also when the bench is interrupted or told to end. The bench's
    own environment becomes the machine's."""
    for number in (signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)):
        signal.signal(number, _end)
    root = Path(tempfile.mkdtemp(prefix="recall-bench-")).resolve()
    for name in [name for name in os.environ if name.startswith(_FOREIGN)]:
        del os.environ[name]
    made = Machine(root)
    os.environ.update(HOME=str(made.home), CLAUDE_CONFIG_DIR=str(made.claude), CLAUDE_CODE_ENTRYPOINT="cli")
    try:
        yield made
    finally:
        end_daemon(made.paths)
        _end_started(made)
        shutil.rmtree(root)


def _end(number: int, _frame: object) -> NoReturn:
    raise SystemExit(128 + number)


def _end_started(made: Machine) -> None:
    """End daemons that were about to begin when the bench was interrupted: nothing else names this state folder."""
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.pid != os.getpid() and made.paths.home in process.cmdline():
                process.kill()
                process.wait(10)


def spawn_to_end(command: Sequence[str], data: bytes, environment: Mapping[str, str] = {}) -> tuple[float, bytes]:
    """Run a command as Claude Code runs a hook: (milliseconds until it has ended and both streams with it, stdout).

    The leanest way that Python has: posix_spawn, and no object around the process; `data` and what comes back have to
    fit into a pipe. `environment`: variables beside this process's own.
    """
    if sys.platform == "win32":
        began = time.perf_counter()
        done = subprocess.run(command, input=data, capture_output=True, env={**os.environ, **environment})
        spent, code, output, errors = time.perf_counter() - began, done.returncode, done.stdout, done.stderr
    else:
        whole = {**os.environ, **environment}
        began = time.perf_counter()
        code, output, errors = _spawn(command, data, whole)
        spent = time.perf_counter() - began
    if code or errors:
        raise SystemExit(f"{command[0]} ended with {code}: {errors.decode(errors='replace')}")
    return spent * 1000, output


if sys.platform != "win32":

    def _spawn(command: Sequence[str], data: bytes, environment: Mapping[str, str]) -> tuple[int, bytes, bytes]:
        """Exit code, stdout and stderr. None of the descriptors made here is inherited but as one of the three."""
        stdin, to_stdin = os.pipe()
        from_stdout, stdout = os.pipe()
        from_stderr, stderr = os.pipe()
        streams = [(os.POSIX_SPAWN_DUP2, end, number) for number, end in enumerate((stdin, stdout, stderr))]
        default = (signal.SIGPIPE, signal.SIGXFSZ)  # Python ignores these two, and a child would too
        pid = os.posix_spawnp(command[0], list(command), environment, file_actions=streams, setsigdef=default)
        for end in (stdin, stdout, stderr):
            os.close(end)
        with contextlib.suppress(BrokenPipeError):  # it has ended without reading
            os.write(to_stdin, data)
        os.close(to_stdin)
        output, errors = _read(from_stdout), _read(from_stderr)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), output, errors


def _read(descriptor: int) -> bytes:
    pieces = []
    while piece := os.read(descriptor, 65_536):
        pieces.append(piece)
    os.close(descriptor)
    return b"".join(pieces)


def load_average() -> str:
    """How busy the machine is, in words: figures of a busy one compare with nothing but their neighbours."""
    return f"{sys.platform}, {os.cpu_count()} CPUs, load {psutil.getloadavg()[0]:.1f}"
