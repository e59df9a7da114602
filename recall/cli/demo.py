"""`recall demo`: the whole round on sample notes in a throw-away folder; nothing of the person's is touched."""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from recall.cli.client import call_warm
from recall.cli.index import index, summary
from recall.daemon.process import end_daemon
from recall.setup.launcher import hook_entry, launcher_path, write_launcher
from recall.sources.projects import encode
from recall.wire.paths import StatePaths, make_private_folder

HELP = "show the whole round on sample notes: index, daemon, hook, headlines; touches nothing of yours"

NOTES = Path(__file__).parent / "demo_notes"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--keep", action="store_true", help="leave the folder there and print where it is")


def run(arguments: argparse.Namespace) -> int:
    for name in ("SIGTERM", "SIGHUP"):  # a closed terminal: clean up as after Ctrl-C
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), lambda *_: sys.exit(1))
    root = Path(tempfile.mkdtemp(prefix="recall-demo-")).resolve()
    paths = StatePaths(str(root / "state"))
    try:
        with _away_from_home(root):
            _show(root, paths)
    finally:
        end_daemon(paths)
        if arguments.keep:
            print(f"kept {root}")
        else:
            shutil.rmtree(root)
    return 0


@contextmanager
def _away_from_home(root: Path) -> Iterator[None]:
    """Everything that this process starts sees the throw-away folders only."""
    before = dict(os.environ)
    for name in [name for name in os.environ if name.startswith(("RECALL_", "CLAUDE"))]:
        del os.environ[name]
    os.environ.update(HOME=str(root / "home"), CLAUDE_CONFIG_DIR=str(root / "home" / ".claude"))
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _show(root: Path, paths: StatePaths) -> None:
    project = root / "home" / "shop"
    (project / ".git").mkdir(parents=True)
    notes = root / "home" / ".claude" / "projects" / encode(str(project)) / "memory"
    shutil.copytree(NOTES, notes, ignore=shutil.ignore_patterns("*.toml"))
    print(f"{len(list(notes.iterdir()))} sample notes, half of them Japanese, as the memory of a project\n")

    state = Path(paths.home)
    make_private_folder(paths.home)
    # Should this program be killed, the daemon that it leaves ends soon.
    Path(paths.config).write_text("daemon.idle_hours = 0.05\n", encoding="utf-8")
    print(f"$ recall index\n{summary(index(paths))}\n")

    began = time.perf_counter()
    call_warm(paths, "query", {"question": "warm up", "cwd": str(project)})
    print(f"daemon started and warm after {time.perf_counter() - began:.1f} s\n", flush=True)

    entry = hook_entry(state, 300)
    if entry.command == str(launcher_path(state)):
        write_launcher(state)
    messages = tomllib.loads((NOTES / "messages.toml").read_text("utf-8"))["message"]
    for message in messages:
        data = {"prompt": message["text"], "cwd": str(project), "hook_event_name": "UserPromptSubmit"}
        command = [entry.command, *entry.args]
        began = time.perf_counter()
        done = subprocess.run(command, input=json.dumps(data).encode(), stdout=subprocess.PIPE, check=True)
        spent = (time.perf_counter() - began) * 1000
        print(f"> {message['text']}\n  ({message['shows']}; the hook took {spent:.0f} ms)")
        if done.stdout:
            context = json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]
            print("\n".join(f"  | {line.replace(f'{notes}{os.sep}', '')}" for line in context.splitlines()))
        else:
            print("  | (nothing)")
        print()
