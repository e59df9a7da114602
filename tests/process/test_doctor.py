"""`recall doctor` as a person runs it: faults planted one after another in an installation that `recall setup` made."""

import contextlib
import hashlib
import io
import json
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from recall.cli.main import main
from recall.core.log import MAX_BYTES
from recall.hook.pipe import PROTOCOL
from recall.install.place import PROGRAM, Place
from recall.replica.membership import Membership, new_machine, write_membership
from recall.sources.projects import encode
from recall.wire.lock import HeldLock
from recall.wire.transport import ask
from support import Sandbox, wait_until

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="modes, signals and sockets of Unix")

#: Generous: a loaded machine must not look like a slow one.
CONFIG = "[hook]\nbudget_ms = 4000\n"

CRONTAB = """\
#!/bin/sh
case "$1" in
-l) if [ -f "{file}" ]; then /bin/cat "{file}"; else echo "no crontab for you" >&2; exit 1; fi ;;
-r) /bin/rm "{file}" ;;
-) /bin/cat > "{file}" ;;
esac
"""

OLDER = "import recall.version as v; v.BUILD = 1; from recall.__main__ import main; main()"


def ago(seconds: float) -> str:
    """A time as the logs write it."""
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(time.time() - seconds))


@pytest.fixture(scope="module")
def template() -> Iterator[tuple[Sandbox, Path]]:
    """A machine that `recall setup` has made ready, and where a copy of it lies: each test gets it back as it was."""
    root = Path(tempfile.mkdtemp(prefix="r-")).resolve()
    with pytest.MonkeyPatch.context() as patch:
        box = Sandbox(root)
        for name, value in box.environment().items():
            patch.setenv(name, value)
        programs = root / "bin"
        programs.mkdir()
        (programs / "crontab").write_text(CRONTAB.format(file=root / "tab"))
        (programs / "crontab").chmod(0o755)
        patch.setenv("PATH", f"{programs}:{Path(sys.executable).parent}:/usr/bin:/bin")
        box.note("staging-port", "The staging database listens on port 6543, not 5432", "It was moved in May.")
        box.note("no-friday-deploys", "Never deploy on a Friday afternoon", "Nobody is there when it breaks.")
        box.configure(CONFIG)
        Path(box.paths.config).chmod(0o600)
        box.run("setup", "--yes")
        box.close()
        copy = root.with_name(f"{root.name}-template")
        shutil.copytree(root, copy, symlinks=True)
        yield box, copy
        shutil.rmtree(root, ignore_errors=True)
        shutil.rmtree(copy)


@pytest.fixture
def ready(template: tuple[Sandbox, Path], monkeypatch: pytest.MonkeyPatch) -> Iterator[Sandbox]:
    box, copy = template
    box.move_state(box.root / "state")
    for name, value in box.environment().items():
        monkeypatch.setenv(name, value)
    for old in box.root.iterdir():
        shutil.rmtree(old) if old.is_dir() else old.unlink()
    shutil.copytree(copy, box.root, symlinks=True, dirs_exist_ok=True)
    yield box
    if HeldLock.is_held(box.paths.daemon_lock):
        ask(box.paths, "stop", timeout=20.0)
        wait_until(lambda: not HeldLock.is_held(box.paths.daemon_lock), "the daemon has ended")


def start(box: Sandbox, *program: str) -> dict[str, Any]:
    """Start a daemon by a shell that ends: as our own child its process would stay behind unburied."""
    command = [sys.executable, *(program or ("-m", "recall")), "serve", "--home", str(box.state)]
    subprocess.run(["/bin/sh", "-c", '"$@" </dev/null >/dev/null 2>&1 &', "sh", *command], check=True)
    return box.settled()


def settings(box: Sandbox) -> Path:
    return box.claude / "settings.json"


def edit(file: Path, change: Callable[[Any], None]) -> None:
    """Change a settings file as a person would, by hand."""
    value = json.loads(file.read_text("utf-8"))
    change(value)
    file.write_text(json.dumps(value, indent=2) + "\n", "utf-8")


def entry(value: Any) -> Any:
    return value["hooks"]["UserPromptSubmit"][0]["hooks"][0]


def keys(**changed: object) -> Callable[[Sandbox], None]:
    """Change keys of our entry."""
    return lambda box: edit(settings(box), lambda value: entry(value).update(changed))


def in_place_of(name: str) -> Callable[[Sandbox], None]:
    """A named pipe in the place of a file or folder of the state folder."""

    def plant(box: Sandbox) -> None:
        place = box.state / name
        if place.exists():
            shutil.rmtree(place) if place.is_dir() else place.unlink()
        os.mkfifo(place, 0o600)

    return plant


def other_kind(box: Sandbox, make: Callable[[Path], None]) -> None:
    """Something else in the place of the settings."""
    settings(box).unlink()
    make(settings(box))


def spelt(command: str, box: Sandbox) -> Callable[[Any], None]:
    """Our entry as a person may write it, for a shell."""

    def change(value: Any) -> None:
        del entry(value)["args"]
        entry(value)["command"] = command.replace("{state}", str(box.state))

    return change


def arguments(old: str, new: str) -> Callable[[Sandbox], None]:
    def change(value: Any) -> None:
        entry(value)["args"] = [new if word == old else word for word in entry(value)["args"]]

    return lambda box: edit(settings(box), change)


def twice(value: Any) -> None:
    value["hooks"]["UserPromptSubmit"].append(json.loads(json.dumps(value["hooks"]["UserPromptSubmit"][0])))


def in_the_project_too(box: Sandbox) -> None:
    local = box.project / ".claude" / "settings.local.json"
    local.parent.mkdir()
    shutil.copy(settings(box), local)
    other = box.root / "elsewhere" / "recall-hook"
    other.parent.mkdir()
    shutil.copy(entry(json.loads(local.read_text()))["command"], other)
    edit(local, lambda value: entry(value).update(command=str(other)))


def script(text: str) -> Callable[[Sandbox], None]:
    """Register another program of our name that does this."""

    def plant(box: Sandbox) -> None:
        program = box.root / "elsewhere" / "recall-hook"
        program.parent.mkdir()
        program.write_text(f"#!/bin/sh\n{text}\n")
        program.chmod(0o755)
        edit(settings(box), lambda value: entry(value).update(command=str(program)))

    return plant


def write(name: str, text: str) -> Callable[[Sandbox], None]:
    """Write a file of the state folder, for the person alone."""

    def plant(box: Sandbox) -> None:
        (box.state / name).write_text(text, "utf-8")
        (box.state / name).chmod(0o600)

    return plant


def pipe(name: str) -> Callable[[Sandbox], None]:
    def plant(box: Sandbox) -> None:
        (box.state / name).unlink(missing_ok=True)
        os.mkfifo(box.state / name, 0o600)

    return plant


def folder(name: str) -> Callable[[Sandbox], None]:
    def plant(box: Sandbox) -> None:
        (box.state / name).unlink(missing_ok=True)
        (box.state / name).mkdir(0o700)

    return plant


def launcher(old: str, new: str) -> Callable[[Sandbox], None]:
    def plant(box: Sandbox) -> None:
        file = box.state / "bin" / "recall-hook"
        text = file.read_text("utf-8")
        assert old in text
        file.write_text(text.replace(old, new), "utf-8")

    return plant


def sql(*statements: str) -> Callable[[Sandbox], None]:
    def plant(box: Sandbox) -> None:
        with contextlib.closing(sqlite3.connect(box.paths.index)) as connection:
            connection.execute("PRAGMA foreign_keys = ON")
            for statement in statements:
                connection.execute(statement)
            connection.commit()

    return plant


def broken_page(box: Sandbox) -> None:
    with contextlib.closing(sqlite3.connect(box.paths.index)) as connection:
        (root,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'document'").fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    with Path(box.paths.index).open("r+b") as file:
        file.seek((root - 1) * size)
        file.write(b"\xff" * size)


def hung(box: Sandbox) -> None:
    os.kill(start(box)["pid"], signal.SIGSTOP)


def older(box: Sandbox) -> None:
    assert start(box, "-c", OLDER)["build"] == 1


def stale_socket(box: Sandbox) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as left:
        left.bind(box.paths.socket)
    Path(box.paths.socket).chmod(0o600)


def never_comes_up(box: Sandbox) -> None:
    Path(box.paths.daemon_log).unlink()
    write("hook.log", f"{ago(300)} started 0\n")(box)


def useless_model(box: Sandbox) -> None:
    """A model of the person's own whose files are as they were fetched, and no model."""
    damaged_model(box, bad=b"as it was fetched")


def damaged_model(box: Sandbox, bad: bytes = b"as the disk has it"[:17]) -> None:
    """A model of the person's own whose file has other bytes than were fetched."""
    folder = box.state / "models" / "mine"
    folder.mkdir(parents=True, mode=0o700)
    good = b"as it was fetched"
    lines = ['name = "mine"', 'licence = "MIT"', 'origin = "here"', 'languages = "all"', 'tokenizer = "t.json"']
    lines += ["dimension = 8", 'pooling = "mean"', 'query_prefix = ""', 'passage_prefix = ""', "max_tokens = 64"]
    lines += ["[gate]", "floor = 0.5", "weak = 0.1", "strong = 0.2", "near = 0.1"]
    lines += ["[variants.fp32]", 'devices = ["cpu"]', 'files = ["m.onnx"]']
    for name in ("t.json", "m.onnx"):
        (folder / name).write_bytes(bad if name == "m.onnx" else good)
        lines += [f'[files."{name}"]', f'sha256 = "{hashlib.sha256(good).hexdigest()}"', f"bytes = {len(good)}"]
    (folder / "manifest.toml").write_text("\n".join(lines), "utf-8")
    write("config.toml", f'model = "mine"\n{CONFIG}')(box)


def unattended(box: Sandbox) -> None:
    long_ago = time.time() - 10 * 86400
    os.utime(box.paths.index_lock, (long_ago, long_ago))
    write("injections.jsonl", json.dumps({"time": ago(60), "session": "s", "tier": "none", "items": []}) + "\n")(box)


def scheduled(box: Sandbox) -> None:
    box.run("schedule", "--using", "cron", "--yes")
    tab = box.root / "tab"
    program = str(Path(sys.executable).with_name("recall"))
    assert program in tab.read_text()
    tab.write_text(tab.read_text().replace(program, "/gone/recall"))


def own_line(*words: str) -> Callable[[Sandbox], object]:
    """A line that a person has put into the crontab by hand."""
    command = " ".join(words)
    return lambda box: (box.root / "tab").write_text(f"*/5 * * * * {command}\n".replace("{state}", str(box.state)))


def failed_run(box: Sandbox) -> None:
    box.run("schedule", "--using", "cron", "--yes")
    write("index.log", f"{ago(3600)} failed: the disk is full; make room and try again\n")(box)


def member(box: Sandbox, server: str = "postgresql://ann@db.example/team", computer: str = "") -> None:
    joined = Membership(server, new_machine(), "laptop", "ann", new_machine(), agreed=True, computer=computer)
    write_membership(Path(box.paths.share), joined)


def broken_replica(box: Sandbox) -> None:
    member(box)
    Path(box.paths.share_records).write_bytes(b"no" * 5000)


def interrupted_installation(box: Sandbox) -> None:
    (Place.of_user().versions / ".new-99999999").mkdir(parents=True)


def no_current_version(box: Sandbox) -> None:
    program = Place.of_user().versions / "0.0.1-0123abcd" / PROGRAM
    program.parent.mkdir(parents=True)
    program.touch()


def namesake(box: Sandbox) -> None:
    (box.root / "bin" / "recall").write_text("#!/bin/sh\n")
    (box.root / "bin" / "recall").chmod(0o755)


def long_memory(box: Sandbox) -> None:
    (box.claude_folder(box.project) / "memory" / "MEMORY.md").write_text("- a note\n" * 300, "utf-8")


@dataclass(frozen=True)
class Fault:
    """A fault, by whom it has to be found, and whether `--fix` mends it. Of a problem nothing else may be one."""

    check: str
    code: str
    plant: Callable[[Sandbox], object]
    fixable: bool = False
    state: str = "problem"
    environment: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.check}-{self.code}"


def unanswered(code: str) -> Callable[[Sandbox], None]:
    """Messages of this moment that got no answer, each with this code."""

    def plant(box: Sandbox) -> None:
        write("hook.log", f"{ago(0)} {code} 300\n" * 5)(box)

    return plant


def answered_since(box: Sandbox) -> None:
    write("hook.log", f"{ago(600)} timeout 300\n" * 5)(box)
    line = {"time": ago(60), "session": "s", "tier": "none", "reason": "short", "items": [], "ms": 9.0}
    write("injections.jsonl", json.dumps(line) + "\n")(box)


def from_the_future(box: Sandbox) -> None:
    write("injections.jsonl", json.dumps({"time": ago(-4e7), "session": "s", "reason": "short", "items": []}) + "\n")(
        box
    )


FAULTS = [
    Fault("config", "invalid", write("config.toml", "[hook]\nbudget_ms = 'much'\n")),
    Fault("config", "invalid", write("config.toml", f"{CONFIG}colour = 'blue'\n")),
    Fault("config", "invalid", pipe("config.toml")),
    Fault("switch", "configuration", write("config.toml", f"enabled = false\n{CONFIG}")),
    Fault("switch", "environment", lambda _: None, environment={"RECALL_OFF": "1"}),
    Fault("mutes", "damaged", write("mutes.json", '{"mutes": [{'), fixable=True),
    Fault("mutes", "no-file", pipe("mutes.json")),
    Fault("gates", "damaged", write("gates.toml", "[x\n"), fixable=True),
    Fault("permissions", "open", lambda box: box.state.chmod(0o755), fixable=True),
    Fault("permissions", "read-only", lambda box: box.state.chmod(0o500), fixable=True),
    Fault("permissions", "open-files", lambda box: Path(box.paths.index).chmod(0o644), fixable=True, state="note"),
    Fault("permissions", "read-only", lambda box: box.state.chmod(0), fixable=True),
    Fault("locks", "no-file", folder("daemon.lock"), fixable=True),
    Fault("locks", "no-file", folder("start.lock"), fixable=True),
    Fault("locks", "no-file", pipe("start.lock"), fixable=True),
    Fault("clock", "future", lambda box: os.utime(box.paths.daemon_lock, (2**32, 2**32)), fixable=True),
    Fault("settings", "invalid", lambda box: settings(box).write_text("{ // mine\n" + settings(box).read_text()[1:])),
    Fault(
        "hooks", "disableAllHooks", lambda box: edit(settings(box), lambda value: value.update(disableAllHooks=True))
    ),
    Fault("hook", "missing", lambda box: settings(box).write_text("{}\n"), fixable=True),
    Fault("hook", "missing", lambda box: settings(box).unlink(), fixable=True),
    Fault("hook", "other-folder", lambda box: arguments(str(box.state), "/elsewhere")(box)),
    Fault("entry", "if", keys(**{"if": "Bash(git *)"}), fixable=True),
    Fault("entry", "timeout-short", keys(timeout=1), fixable=True),
    Fault("entry", "timeout-wrong", keys(timeout="five"), fixable=True),
    Fault("entry", "timeout-long", keys(timeout=5000), fixable=True, state="note"),
    Fault("entry", "budget", arguments("4000", "300"), fixable=True),
    Fault("entry", "twice", lambda box: edit(settings(box), twice), fixable=True),
    Fault("entry", "differing", in_the_project_too),
    Fault("command", "gone", lambda box: shutil.rmtree(box.state / "bin"), fixable=True),
    Fault("command", "not-executable", lambda box: (box.state / "bin" / "recall-hook").chmod(0o600), fixable=True),
    Fault("command", "no-python", launcher(sys.executable, "/gone/python"), fixable=True),
    Fault("command", "no-package", launcher(repr(str(Path(__file__).resolve().parents[2])), "'/gone'"), fixable=True),
    Fault("daemon", "mute", hung, fixable=True),
    Fault("daemon", "older", older, fixable=True),
    Fault("daemon", "does-not-start", never_comes_up),
    Fault("address", "stale", stale_socket, fixable=True, state="note"),
    Fault("address", "no-address", lambda box: Path(box.paths.socket).mkdir(0o700)),
    Fault("answer", "exit-code", script("exit 2")),
    Fault("answer", "asks-nobody", script("cat > /dev/null")),
    Fault("answer", "prints", script("echo hello")),
    Fault("model", "missing", write("config.toml", f'model = "nobody-knows-it"\n{CONFIG}')),
    Fault("model", "damaged", damaged_model),
    Fault("model", "unusable", useless_model),
    Fault("model", "no-folder", in_place_of("models")),
    Fault("model", "no-folder", in_place_of("everyday")),
    Fault("device", "no-file", in_place_of("devices.json")),
    Fault("entry", "no-folder", in_place_of("backup")),
    Fault("settings", "no-file", lambda box: other_kind(box, Path.mkdir)),
    Fault("settings", "no-file", lambda box: other_kind(box, os.mkfifo)),
    Fault("entry", "async", keys(**{"async": True}), fixable=True),
    Fault(
        "command",
        "gone",
        lambda box: edit(settings(box), spelt("/gone/recall hook --home '{state}' --budget 4000", box)),
        fixable=True,
    ),
    Fault("device", "unknown", write("config.toml", f'device = "coreml"\n{CONFIG}')),
    Fault("index", "missing", lambda box: Path(box.paths.index).unlink(), fixable=True),
    Fault("index", "missing", lambda box: Path(box.paths.index).write_bytes(b""), fixable=True),
    Fault("index", "damaged", lambda box: Path(box.paths.index).write_bytes(b"no database " * 900), fixable=True),
    Fault("index", "damaged", broken_page, fixable=True),
    Fault("index", "too-new", sql("PRAGMA user_version = 99")),
    Fault("index", "set-aside", write("index.sqlite3.damaged-20260801T120000Z", "old"), state="note"),
    Fault("records", "empty", sql("DELETE FROM file"), fixable=True),
    Fault("records", "waiting", sql("DELETE FROM embedding WHERE id = 1"), fixable=True),
    Fault("records", "unattended", unattended, fixable=True),
    Fault("skipped", "skipped", sql("INSERT INTO skipped VALUES ('/x/y.md', 'too large')"), state="note"),
    Fault("messages", "timeouts", unanswered("timeout")),
    Fault("messages", "timeouts", answered_since, state="note"),
    Fault("messages", "failures", unanswered("error")),
    Fault("clock", "future-lines", from_the_future, state="note"),
    Fault("logs", "grown", write("hook.log", f"{ago(9e6)} started 0\n" * (4 * MAX_BYTES // 29)), fixable=True),
    Fault("logs", "no-file", pipe("injections.jsonl")),
    Fault("schedule", "no-program", scheduled),
    Fault("schedule", "failed", failed_run),
    Fault("schedule", "no-program", own_line("/gone/recall index --home {state} >/dev/null 2>&1")),
    Fault("schedule", "other-folder", own_line(str(Path(sys.executable).with_name("recall")), "index"), state="note"),
    Fault("versions", "none-current", no_current_version),
    Fault("versions", "leftovers", interrupted_installation, fixable=True, state="note"),
    Fault("sharing", "damaged", write("share.json", '{"url": 7}')),
    Fault("sharing", "records", broken_replica),
    Fault("sharing", "unprotected", member, state="note"),
    Fault("sharing", "copied", lambda box: member(box, computer="of-another-one")),
    Fault("others", "hook", lambda box: edit(settings(box), twice_other), state="note"),
    Fault("path", "first", namesake, state="note"),
    Fault("loaded", "memory-too-long", long_memory, state="note"),
    Fault("loaded", "claude-md-long", lambda box: (box.claude / "CLAUDE.md").write_text("x" * 41_000), state="note"),
]


def twice_other(value: Any) -> None:
    theirs = {"hooks": [{"type": "command", "command": "node /x/claude-mem/hook.js"}]}
    value["hooks"]["UserPromptSubmit"].append(theirs)


def doctor(box: Sandbox, *words: str, environment: Mapping[str, str] = {}) -> tuple[int, list[dict[str, Any]]]:
    """Its exit code and its findings that are not simply well."""
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(io.StringIO()) as printed:
        for name, value in environment.items():
            patch.setenv(name, value)
        patch.chdir(box.project)
        code = main(["doctor", "--json", *words])  # not a process of its own: three runs for each fault take their time
    found = json.loads(printed.getvalue())
    problems = [line for line in found["checks"] if line["state"] == "problem"]
    assert found["problems"] == len(problems)
    assert code == (1 if problems else 0)
    return code, [line for line in found["checks"] if line["state"] != "ok"]


def test_a_healthy_installation_is_well_with_and_without_a_daemon(ready: Sandbox) -> None:
    assert doctor(ready) == (0, [])
    start(ready)
    before = {path: path.stat().st_mtime_ns for path in (ready.state / "bin").rglob("*")}
    code, found = doctor(ready)
    assert (code, found) == (0, [])
    assert not Path(ready.paths.injections).exists(), "the probe has left a trace in the journal"
    said = ready.run("doctor")
    assert "a message takes" in said.stdout
    assert said.stdout.endswith("all is well\n")
    assert len(said.stdout.splitlines()) == len(ready.json("doctor")["checks"]) + 1
    assert doctor(ready, "--fix") == (0, [])
    assert {path: path.stat().st_mtime_ns for path in (ready.state / "bin").rglob("*")} == before


@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_a_fault_is_found_named_and_mended_where_that_is_said(ready: Sandbox, fault: Fault) -> None:
    fault.plant(ready)
    code, found = doctor(ready, environment=fault.environment)
    named = {(line["name"], line["code"]): line for line in found}
    line = named[fault.check, fault.code]
    assert line["state"] == fault.state
    assert line["fixable"] is fault.fixable
    assert line["found"]
    others = [line for line in found if line["state"] == "problem" and (line["name"], line["code"]) != _key(fault)]
    assert not others
    assert code == (1 if fault.state == "problem" else 0)

    code, found = doctor(ready, "--fix", environment=fault.environment)
    mended = [line for line in found if line["state"] == "fixed"]
    if not fault.fixable:
        assert (fault.check, fault.code, fault.state) in {(one["name"], one["code"], one["state"]) for one in found}
        return
    assert _key(fault) in {(one["name"], one["code"]) for one in mended}
    assert all(one["advice"] for one in mended)
    assert code == 0
    code, found = doctor(ready, environment=fault.environment)
    assert code == 0
    assert _key(fault) not in {(one["name"], one["code"]) for one in found}


def _key(fault: Fault) -> tuple[str, str]:
    return fault.check, fault.code


def test_more_faults_than_twenty_are_planted() -> None:
    assert len({_key(fault) for fault in FAULTS}) >= 50


def test_the_plugin_alone_is_a_registration_and_is_really_run(ready: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    ready.move_state(ready.home / ".local" / "share" / "recall")  # where a plugin, which names no folder, looks
    shutil.copytree(ready.root / "state", ready.state)
    monkeypatch.delenv("RECALL_HOME")
    plugin = ready.claude / "plugins" / "cache" / "recall"
    shutil.copytree(Path(__file__).resolve().parents[2] / "plugin", plugin)
    listed = {"plugins": {"recall@team": [{"installPath": str(plugin)}]}}
    (ready.claude / "plugins" / "installed_plugins.json").write_text(json.dumps(listed))
    settings(ready).write_text(json.dumps({"enabledPlugins": {"recall@team": True}}))
    start(ready)
    code, found = doctor(ready)
    assert found == []
    said = ready.run("doctor").stdout
    assert "registered by the plugin recall@team" in said
    assert "a message takes" in said
    assert not Path(ready.paths.injections).exists(), "the probe has left a trace in the journal"
    shutil.rmtree(ready.state / "bin")
    monkeypatch.setenv("PATH", f"{ready.root / 'bin'}:/usr/bin:/bin")  # no program that it could find
    code, found = doctor(ready)
    assert ("answer", "asks-nobody") in {(line["name"], line["code"]) for line in found}
    assert code == 1
    (plugin / "bin" / "recall").chmod(0o600)
    code, found = doctor(ready)
    assert ("command", "not-executable") in {(line["name"], line["code"]) for line in found}


def test_several_faults_at_once_are_all_found_and_mended(ready: Sandbox) -> None:
    for fault in FAULTS:
        if _key(fault) in {("mutes", "damaged"), ("permissions", "open"), ("command", "gone"), ("index", "missing")}:
            fault.plant(ready)
    said = ready.run("doctor", "--fix", check=False)
    assert said.returncode == 0
    assert said.stdout.count("fixed ") >= 4
    start(ready)
    assert "staging-port" in (ready.context("which port does the staging database listen on?") or "")
    assert list(ready.state.glob("mutes.json.damaged-*")), "what was damaged is set aside, not deleted"


def test_without_a_state_folder_it_says_so_and_makes_none(sandbox: Sandbox) -> None:
    for words in (["doctor"], ["doctor", "--fix"]):
        done = sandbox.run(*words, check=False)
        assert done.returncode == 1
        assert "is not set up" in done.stdout
        assert not sandbox.state.exists()


def test_it_works_without_a_home_and_where_a_folder_cannot_be_looked_into(ready: Sandbox) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "HOME"}
    command = [sys.executable, "-m", "recall", "doctor", "--json"]
    done = subprocess.run(command, env=environment, cwd=ready.project, capture_output=True, timeout=60)
    assert {line["name"] for line in json.loads(done.stdout)["checks"] if line["state"] == "problem"} == set()
    ready.claude.rename(ready.home / "moved")
    ready.claude.symlink_to(ready.claude)  # a link to itself: nothing below it can be looked at
    code, found = doctor(ready)
    assert code == 1
    assert {line["name"] for line in found if line["state"] == "problem"} >= {"settings"}


SECRET = "AKIAQ3EGRZTXVN5PWB7L"
CANARIES = ("kumquat", "zanzibar", "quokka", "pangolin", "marzipan", "xylophone", "obsidian", "periwinkle", SECRET)


@pytest.fixture
def private(ready: Sandbox, monkeypatch: pytest.MonkeyPatch) -> Sandbox:
    """Words of the person wherever recall could come across some, and a daemon that has seen them."""
    project = ready.home / "kumquat-project"
    (project / ".git").mkdir(parents=True)
    ready.note("zanzibar-note", "The quokka lives in pangolin street", f"key {SECRET} marzipan", project=project)
    ready.session("s-1", "marzipan title", ("where does the xylophone stand?", "in the obsidian room"), project=project)
    rules = ready.root / "periwinkle"
    rules.mkdir()
    (rules / "bad-obsidian.md").write_bytes(b"\xff\xfe\x00broken")
    write(
        "config.toml",
        f'{CONFIG}\n[[knowledge]]\npath = "{rules}"\nscope = "kumquat-project"\n',
    )(ready)
    write(
        "config.toml",
        f'claude_folders = ["{ready.claude}", "{ready.home}/xylophone"]\n' + (ready.state / "config.toml").read_text(),
    )(ready)
    edit(settings(ready), twice_other)
    edit(settings(ready), lambda value: value.update(env={"TOKEN": SECRET}))
    edit(
        settings(ready),
        lambda value: value["hooks"]["UserPromptSubmit"][-1]["hooks"][0].update(command=f"x --key {SECRET} marzipan"),
    )
    monkeypatch.setenv("USER", "periwinkle")
    monkeypatch.setenv("LOGNAME", "periwinkle")
    start(ready)
    ready.json("index")
    ready.context("where does the quokka live, in pangolin street?", cwd=str(project), session_id="s-2")
    ready.json("mute", "zanzibar-note")
    with Path(ready.paths.hook_log).open("a") as log:
        log.write(f"{ago(5)} marzipan 3\n{ago(5)} timeout 300\nquokka {SECRET}\n")
    with Path(ready.paths.daemon_log).open("a") as log:
        log.write(f"{ago(5)} loaded model=obsidian\n{ago(5)} pangolin\n{ago(5)} refused verb=marzipan\n")
        log.write(f"{ago(5)} look-failed error=MarzipanError at=kumquat.py:1/quokka.py:2\n")
    write("index.log", f"{ago(5)} failed: /home/periwinkle/obsidian.md: quokka\n")(ready)
    write("gates.toml", '["pangolin".calibrated]\nsome = 1\n')(ready)
    return ready


def test_the_bundle_holds_not_a_word_of_the_person(private: Sandbox) -> None:
    ready, project = private, private.home / "kumquat-project"
    file = ready.root / "report.zip"
    done = ready.run("doctor", "--bundle", str(file), check=False)
    assert "wrote" in done.stdout
    assert file.stat().st_mode & 0o777 == 0o600
    with zipfile.ZipFile(file) as archive:
        texts = {name: archive.read(name).decode() for name in archive.namelist()}
        raw = file.read_bytes() + "".join(archive.namelist()).encode()
    everything = "\n".join(texts.values()).casefold()
    words = [
        *CANARIES,
        "staging",
        "friday",
        socket.gethostname(),
        ready.root.name,
        str(ready.home),
        encode(str(project)),
    ]
    assert [word for word in words if word.casefold() in everything or word.encode() in raw] == []

    about = json.loads(texts["about.json"])
    assert about["protocol"] == PROTOCOL
    assert about["daemon"]["model"] == "multilingual-e5-small"
    configuration = json.loads(texts["configuration.json"])["values"]
    assert configuration["claude_folders"][0] == "~/.claude"
    assert configuration["claude_folders"][1].startswith("~/#")
    assert configuration["hook.budget_ms"] == 4000
    assert json.loads(texts["counts.json"])["index"]["documents"]["memory"] == 3
    assert "timeout 300" in texts["hook.log"]
    assert "loaded model=multilingual-e5-small" in texts["daemon.log"]
    found = {(line["name"], line["code"]) for line in json.loads(texts["doctor.json"])}
    assert {("gates", "damaged"), ("others", "hook"), ("daemon", "ready")} <= found
    again = ready.run("doctor", "--bundle", str(file), check=False)
    assert again.returncode == 2
    assert "another" in again.stderr
    wait_until(lambda: ready.daemon() is not None, "the daemon still answers")
