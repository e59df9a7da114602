"""Checks whose surroundings a test cannot have for real: other schedulers, odd files, links, a hook that hangs."""

import json
import os
import stat
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from recall.daemon.journal import local_time
from recall.doctor import answer, folder, journals, loaded, own_files, schedule
from recall.doctor.case import Case, Finding
from recall.doctor.entries import Entry
from recall.doctor.index import last_word
from recall.schedule import agent, units
from recall.schedule.job import Job
from recall.schedule.schedulers import Cron
from recall.setup.agents import CLAUDE
from recall.setup.entries import HookEntry
from recall.wire.paths import StatePaths

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="modes and scripts of Unix")


@pytest.fixture
def case(tmp_path: Path) -> Case:
    state = tmp_path / "state"
    state.mkdir(mode=0o700)
    (tmp_path / "claude").mkdir()
    environment = {"CLAUDE_CONFIG_DIR": str(tmp_path / "claude"), "PATH": os.environ["PATH"]}
    return Case(StatePaths(str(state)), environment, tmp_path / "claude", "linux", time.time(), tmp_path / "managed")


def only(findings: Iterable[Finding]) -> str:
    (found,) = findings
    return found.code


@pytest.mark.parametrize("program", ["/opt/recall", "/opt/a b/re%call", "/opt/$x/recall"])
def test_the_program_of_a_systemd_timer_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    job = Job(program, "/state folder", 15)
    unit = tmp_path / "systemd" / "user" / f"{job.name}.service"
    unit.parent.mkdir(parents=True)
    unit.write_text(units.service(job))
    assert schedule.command_of("systemd", job.home) == [program, "index", "--log", "--home", "/state folder"]


def test_the_program_of_a_launchd_agent_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    job = Job("/opt/a b/recall", "/state", 15)
    file = tmp_path / "Library" / "LaunchAgents" / f"{agent.label(job.name)}.plist"
    file.parent.mkdir(parents=True)
    file.write_bytes(agent.plist(job))
    assert schedule.command_of("launchd", job.home)[0] == "/opt/a b/recall"


@pytest.mark.parametrize(
    ("arguments", "program"),
    [
        ("--headless C:\\r\\recall.exe index --log", "C:\\r\\recall.exe"),
        ("--headless &quot;C:\\a &amp; b\\recall.exe&quot; index", "C:\\a & b\\recall.exe"),
    ],
)
def test_the_program_of_a_scheduled_task_is_read(arguments: str, program: str) -> None:
    assert schedule._windows_program(arguments) == [program]


@POSIX
def test_where_no_cron_daemon_runs_a_line_in_the_crontab_is_no_ok(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = f"*/5 * * * * {Path(sys.executable).with_name('recall')} index --home {case.home}"
    (tmp_path / "crontab").write_text(f"#!/bin/sh\necho '{line}'\n")
    (tmp_path / "crontab").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(schedule, "schedulers_here", lambda: (Cron(),))
    monkeypatch.setattr(schedule, "holding", lambda _: [])
    for running, code in ((False, "no-cron"), (True, "ok")):
        monkeypatch.setattr(Cron, "is_running", lambda _, answer=running: answer)
        assert only(schedule.schedule(case)) == code


@POSIX
def test_links_and_models_and_sockets_do_not_count_as_open_files(case: Case, tmp_path: Path) -> None:
    (case.home / "models" / "big").mkdir(parents=True)
    (case.home / "models" / "big" / "model.onnx").touch(0o644)
    (tmp_path / "notes").touch(0o644)
    (case.home / "hook.log").symlink_to(tmp_path / "notes")
    assert only(folder.permissions(case)) == "ok"
    (case.home / "backup").mkdir(mode=0o755)
    (case.home / "backup" / "a.json").touch(0o640)
    (case.home / "backup" / "a.json").chmod(0o640)
    (found,) = folder.permissions(case)
    assert (found.code, found.facts["files"]) == ("open-files", 2)
    assert found.fix is not None
    found.fix()
    assert stat.S_IMODE((case.home / "backup").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "notes").stat().st_mode) == 0o644
    assert only(folder.permissions(case)) == "ok"


@POSIX
@pytest.mark.parametrize("check", [own_files.mutes, own_files.gates, journals.messages, journals.logs, loaded.loaded])
def test_a_pipe_in_place_of_a_file_keeps_nobody_waiting(case: Case, check: Callable[[Case], Iterable[Finding]]) -> None:
    for name in ("mutes.json", "gates.toml", "hook.log", "injections.jsonl", "daemon.log"):
        os.mkfifo(case.home / name)
    os.mkfifo(case.claude[0] / "CLAUDE.md")
    list(check(case))


def test_a_damaged_file_is_set_aside_and_not_lost(case: Case) -> None:
    path = Path(case.paths.mutes)
    path.write_text("{")
    (found,) = own_files.mutes(case)
    assert found.fix is not None
    found.fix()
    assert only(own_files.mutes(case)) == "none"
    (aside,) = case.home.glob("mutes.json.damaged-*")
    assert aside.read_text() == "{"


def test_claude_md_is_looked_for_in_the_folders_above(case: Case, tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / "a" / "CLAUDE.md").write_text("é" * 40_001, "utf-8")
    there = Case(case.paths, case.environment, inner, case.platform, case.now, case.managed)
    assert only(loaded.loaded(there)) == "claude-md-long"
    (tmp_path / "a" / "CLAUDE.md").write_text("é" * 40_000, "utf-8")
    assert only(loaded.loaded(there)) == "ok"


def program(tmp_path: Path, text: str) -> Entry:
    file = tmp_path / "recall-hook"
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)
    return Entry(CLAUDE, tmp_path, HookEntry(str(file), ("hook", "--home", "/s"), 5), {})


@POSIX
def test_a_command_whose_child_keeps_the_streams_counts_as_hanging(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answer, "HANGING_SECONDS", 0.5)
    (tmp_path / "t").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "t"))
    runs = answer.run_hook(case, program(tmp_path, "sleep 3 & exit 0"), answer.QUESTIONS, serving=False)
    assert [run.ms for run in runs] == [None]
    assert answer.judge(runs, 300, serving=False).code == "hangs"


@POSIX
def test_the_probe_leaves_nothing_and_starts_nothing(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "t").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "t"))
    entry = Entry(
        CLAUDE, tmp_path, HookEntry(sys.executable, ("-m", "recall", "hook", "--home", case.paths.home), 5), {}
    )
    monkeypatch.setattr(answer, "_with_home", lambda args, where: [*args[:-1], where])
    runs = answer.run_hook(case, entry, answer.QUESTIONS[:2], serving=False)
    assert [(run.code, run.out, run.errors) for run in runs] == [(0, b"", b"")] * 2
    assert answer.judge(runs, 300, serving=False).code == "start-only"
    assert list((tmp_path / "t").iterdir()) == []
    assert list(case.home.iterdir()) == []


@POSIX
def test_a_path_too_long_for_a_socket_makes_no_folder_in_the_home(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = tmp_path / ("d" * 90)
    deep.mkdir()
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setattr("tempfile.tempdir", str(deep))
    entry = program(tmp_path, "cat > /dev/null")
    runs = answer.run_hook(case, entry, answer.QUESTIONS[:1], serving=False)
    assert [run.code for run in runs] == [0]
    assert list(home.iterdir()) == []


def journal(case: Case, *lines: tuple[float, str]) -> None:
    """Lines of the daemon, each of so many seconds from now and with this reason."""
    stamps = [(time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(case.now + at)), reason) for at, reason in lines]
    texts = [json.dumps({"time": when, "reason": reason, "items": [], "ms": 20.0}) for when, reason in stamps]
    (case.home / "injections.jsonl").write_text("\n".join(texts) + "\n")


def test_a_time_in_the_future_is_the_clocks_and_counts_nowhere_else(case: Case) -> None:
    journal(case, (5 * 365 * 86_400.0, "short"), (-60, "short"))
    found = list(journals.messages(case))
    assert [(line.name, line.state, line.code) for line in found] == [
        ("messages", "ok", "ok"),
        ("clock", "note", "future-lines"),
    ]
    assert found[0].facts["asked"] == 1
    assert max(one.time for one in journals.outcomes(case) if one.time <= local_time(case.now)) > "2000"


def test_what_a_client_sent_and_what_the_daemon_sent_are_told_apart(case: Case) -> None:
    journal(case, *[(-60, "unreadable")] * 5)
    assert only(journals.messages(case)) == "no-messages"
    (case.home / "injections.jsonl").unlink()
    when = local_time(case.now - 60)
    (case.home / "hook.log").write_text(f"{when} unreadable 4\n" * 5)
    assert only(journals.messages(case)) == "failures"


def test_a_message_that_was_answered_too_late_is_no_sign_of_health(case: Case) -> None:
    (case.home / "hook.log").write_text(f"{local_time(case.now - 60)} timeout 300\n" * 5)
    line = {"time": local_time(case.now - 58), "reason": "strong", "items": [{}], "ms": 2300.0}
    (case.home / "injections.jsonl").write_text(json.dumps(line) + "\n")
    (found,) = journals.messages(case)
    assert (found.state, found.code) == ("problem", "timeouts")


def test_what_a_command_of_ours_said_is_one_line_without_colours_and_without_what_libraries_print() -> None:
    noise = "\x1b[1;31m2026-08-14 09:30:00 [E:onnxruntime:, sequential_executor.cc:514] Non-zero status\x1b[m\n"
    assert last_word(f"{noise}recall: the model cannot be loaded; add it again\n") == (
        "the model cannot be loaded; add it again"
    )
    assert (
        last_word(f"\n{noise}\n") == "2026-08-14 09:30:00 [E:onnxruntime:, sequential_executor.cc:514] Non-zero status"
    )
    assert last_word("") == ""
