"""What the checks decide, on plain values."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from recall.doctor.answer import Run, _with_home, judge
from recall.doctor.daemon import never_came
from recall.doctor.folder import MARGIN, file_system, judge_disk
from recall.doctor.hook import managed_files, switches_off
from recall.doctor.index import Content, judge_content
from recall.doctor.journals import ANSWERED, GARBAGE, Outcome, is_over, judge_day
from recall.doctor.keys import beside, judge_timeout, never_fits
from recall.doctor.loaded import exceeds
from recall.doctor.model import judge_device
from recall.doctor.seen import Seen, judge_command

DAY = 86_400.0


@pytest.mark.parametrize(
    ("free", "kind", "codes"),
    [
        (10**9, "ext4", ["ok"]),
        (MARGIN + 10_000_000, "ext4", ["ok"]),
        (MARGIN + 9_999_999, "apfs", ["full"]),
        (0, "nfs4", ["full", "network"]),
        (10**9, "cifs", ["network"]),
        (10**9, "", ["ok"]),
    ],
)
def test_a_disk_needs_room_for_another_index_and_must_know_locks(free: int, kind: str, codes: list[str]) -> None:
    assert [finding.code for finding in judge_disk(Path("/home/a"), free, 10_000_000, kind)] == codes


def test_the_file_system_of_a_folder_is_that_of_the_innermost_mount(tmp_path: Path) -> None:
    assert isinstance(file_system(tmp_path), str)
    assert file_system(Path("/proc")) in ("proc", "")


@pytest.mark.parametrize(
    ("keys", "code"),
    [
        ({}, ""),
        ({"timeout": 5}, ""),
        ({"timeout": 0.25}, "short"),
        ({"timeout": 0.3}, ""),
        ({"timeout": 60}, ""),
        ({"timeout": 61}, "long"),
        ({"timeout": 0}, "wrong"),
        ({"timeout": -1}, "wrong"),
        ({"timeout": True}, "wrong"),
        ({"timeout": None}, "wrong"),
        ({"timeout": "5"}, "wrong"),
    ],
)
def test_a_timeout_is_a_number_of_seconds_beyond_the_cut_off(keys: Mapping[str, object], code: str) -> None:
    assert judge_timeout(keys, 300, 1) == code
    scaled = {key: value * 1000 if type(value) in (int, float) else value for key, value in keys.items()}  # type: ignore[operator]
    assert judge_timeout(scaled, 300, 1000) == code


@pytest.mark.parametrize(
    ("matcher", "plain", "expression"),
    [
        (None, False, False),
        ("", False, False),
        ("*", False, False),
        ("startup", False, False),
        ("resume|compact", False, False),
        ("Bash", True, True),
        ("start", True, False),
        ("^(startup|clear)$", False, False),
        ("^Edit.*", True, True),
        ("(", True, True),
        (7, False, False),
    ],
)
def test_a_matcher_of_the_begin_of_sessions_has_to_fit_one(matcher: object, plain: bool, expression: bool) -> None:
    assert never_fits(matcher, "claude") is plain
    assert never_fits(matcher, "codex") is expression


def test_a_hook_beside_the_message_comes_too_late() -> None:
    assert beside({"async": True}, "claude") == "async"
    assert beside({"asyncRewake": True}, "claude") == "asyncRewake"
    assert beside({"async": False}, "codex") == ""
    assert beside({"async": True}, "gemini") == ""


def test_hooks_are_switched_off_by_anybody_and_reserved_by_an_administrator_alone(tmp_path: Path) -> None:
    assert switches_off({"disableAllHooks": True}, managed=False) == ["disableAllHooks"]
    assert switches_off({"disableAllHooks": False}, managed=False) == []
    assert switches_off({"allowManagedHooksOnly": True}, managed=False) == []
    assert switches_off({"allowManagedHooksOnly": True}, managed=True) == ["allowManagedHooksOnly"]
    assert switches_off(["disableAllHooks"], managed=True) == []
    drop = tmp_path / "managed-settings.d"
    drop.mkdir()
    (tmp_path / "managed-settings.json").touch()
    (drop / "b.json").touch()
    (drop / "a.json").touch()
    (drop / "a.txt").touch()
    assert [file.name for file in managed_files(tmp_path)] == ["managed-settings.json", "a.json", "b.json"]
    assert managed_files(tmp_path / "none") == []


@pytest.mark.parametrize(
    ("seen", "code"),
    [
        (Seen(exists=False, is_file=False, executable=False), "gone"),
        (Seen(exists=True, is_file=False, executable=True), "no-file"),
        (Seen(exists=True, is_file=True, executable=False), "not-executable"),
        (Seen(exists=True, is_file=True, executable=True, python=False, package=True), "no-python"),
        (Seen(exists=True, is_file=True, executable=True, python=True, package=False), "no-package"),
        (Seen(exists=True, is_file=True, executable=True, python=True, package=True, is_own=False), "other"),
        (Seen(exists=True, is_file=True, executable=True), ""),
    ],
)
def test_a_registered_command_must_be_there_and_run(seen: Seen, code: str) -> None:
    assert judge_command(seen)[0] == code


GOOD = b'{"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "x"}}\n'


def run(
    ms: float | None = 20.0, code: int = 0, out: bytes = GOOD, errors: bytes = b"", daemon: float | None = 9
) -> Run:
    return Run(ms, code, out, errors, daemon)


@pytest.mark.parametrize(
    ("runs", "serving", "state", "code"),
    [
        ([run(900), run(), run(30), run(25)], True, "ok", "ok"),
        ([run(), run(out=b"")], True, "ok", "ok"),
        ([run(), run(245)], True, "note", "tight"),
        ([run(), run(262, out=b"", daemon=400)], True, "problem", "slow"),
        ([run(), run(100, out=b"", daemon=300)], True, "problem", "slow"),
        ([run(), run(daemon=None, out=b"")], True, "problem", "unanswered"),
        ([run(daemon=None, out=b""), run(daemon=None, out=b"")], False, "ok", "start-only"),
        ([run(None)], True, "problem", "hangs"),
        ([run(code=2)], True, "problem", "exit-code"),
        ([run(), run(code=1)], False, "problem", "exit-code"),
        ([run(errors=b"warning")], True, "problem", "prints"),
        ([run(out=b"hello")], True, "problem", "prints"),
        ([run(out=b'{"additionalContext": "x"}')], True, "problem", "prints"),
        ([run(out=b"[1]")], True, "problem", "prints"),
        ([replace(run(out=b""), called=False)] * 2, True, "problem", "asks-nobody"),
        ([replace(run(out=b""), called=False)] * 2, False, "problem", "asks-nobody"),
    ],
)
def test_what_runs_of_the_hook_say(runs: list[Run], serving: bool, state: str, code: str) -> None:
    found = judge(runs, 300, serving=serving)
    assert (found.state, found.code) == (state, code)


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (["hook", "--home", "/a", "--budget", "400"], ["hook", "--home", "/x", "--budget", "400"]),
        (["hook"], ["hook", "--home", "/x"]),
        ([], ["hook", "--home", "/x"]),
        (["hook", "--home"], ["hook", "--home", "--home", "/x"]),
    ],
)
def test_the_probe_names_its_own_folder(args: list[str], expected: list[str]) -> None:
    assert _with_home(args, "/x") == expected


@pytest.mark.parametrize(
    ("calls", "births", "never"),
    [
        ([], [], False),
        (["2026-08-14T09:30:00"], [], True),
        (["2026-08-14T09:30:00"], ["2026-08-14T09:29:59"], False),
        (["2026-08-14T09:30:00"], ["2026-08-14T09:30:01"], False),
        (["2026-08-14T09:30:00"], ["2026-08-14T09:29:58"], True),
        (["2026-08-14T09:00:00", "2026-08-14T09:59:50"], [], False),
        (["not a time"], [], False),
        (["2026-13-99"], [], False),
    ],
)
def test_a_daemon_that_was_called_for_and_never_came(calls: list[str], births: list[str], never: bool) -> None:
    assert never_came(calls, births, due="2026-08-14T09:59:00") is never


def content(**changed: float) -> Content:
    usual: dict[str, float] = {
        "documents": 5, "pending": 0, "waiting": 0, "texts": 9, "notes": 5, "looked": 100 * DAY, "asked": 100 * DAY,
    }  # fmt: skip
    return Content(**(usual | changed))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("found", "codes"),
    [
        (content(), ["ok"]),
        (content(documents=0, notes=0), ["ok"]),
        (content(documents=0), ["empty"]),
        (content(pending=2), ["pending"]),
        (content(waiting=3), ["waiting"]),
        (content(waiting=9), ["waiting"]),
        (content(looked=98.9 * DAY), ["unattended"]),
        (content(looked=99.1 * DAY), ["ok"]),
        (content(looked=60 * DAY, asked=0), ["old"]),
        (content(looked=60 * DAY, asked=0, pending=1), ["pending", "old"]),
        (content(looked=0, asked=0, documents=0, notes=0), ["old"]),
    ],
)
def test_what_the_index_holds(found: Content, codes: list[str]) -> None:
    assert [finding.code for finding in judge_content(found, 101 * DAY, at_work=False)] == codes
    assert [finding.code for finding in judge_content(found, 101 * DAY, at_work=True)] == ["indexing"]


def day(*counts: tuple[int, str]) -> list[Outcome]:
    """So many messages of each code, in this order."""
    codes = [code for count, code in counts for _ in range(count)]
    return [Outcome(f"2026-08-14T{at // 60:02}:{at % 60:02}:00", code) for at, code in enumerate(codes)]


@pytest.mark.parametrize(
    ("messages", "findings"),
    [
        (day(), [("ok", "ok")]),
        (day((60, "short"), (40, ANSWERED)), [("ok", "ok")]),
        (day((98, ANSWERED), (2, "timeout")), [("note", "timeouts")]),
        (day((91, ANSWERED), (9, "timeout")), [("note", "timeouts")]),
        (day((27, ANSWERED), (3, "timeout")), [("problem", "timeouts")]),
        (day((1, ANSWERED), (2, "timeout")), [("note", "timeouts")]),
        (day((3, "timeout"), (1, ANSWERED)), [("note", "timeouts")]),
        (day((3, "timeout"), (1, "started")), [("note", "timeouts")]),
        (day((5, "started")), [("ok", "ok")]),
        (day((5, "error")), [("problem", "failures")]),
        (day((5, "error"), (1, ANSWERED)), [("note", "failures")]),
        (day((5, ANSWERED), (3, "timeout"), (1, "busy")), [("problem", "timeouts"), ("note", "failures")]),
        (day((18, GARBAGE)), [("note", "no-messages")]),
        (day((18, GARBAGE), (3, "oversize")), [("note", "no-messages"), ("note", "oversize")]),
        (day((99, GARBAGE), (3, "timeout")), [("problem", "timeouts"), ("note", "no-messages")]),
    ],
)
def test_what_a_day_says(messages: list[Outcome], findings: list[tuple[str, str]]) -> None:
    assert [(one.state, one.code) for one in judge_day(messages, over=False, mute=False)] == findings
    past = judge_day(messages, over=True, mute=False)
    assert [one.code for one in past] == [code for _, code in findings]
    assert not any(one.state == "problem" for one in past)


def test_a_daemon_that_hangs_is_no_reason_for_a_longer_cut_off() -> None:
    (found,) = judge_day(day((5, "timeout")), over=False, mute=True)
    assert "cut-off" not in found.advice
    (found,) = judge_day(day((5, "timeout")), over=False, mute=False)
    assert "cut-off" in found.advice


@pytest.mark.parametrize(
    ("lives", "held", "over"),
    [
        ([], False, False),
        (["08:00 started"], True, False),
        (["08:00 started"], False, True),  # ended by force, or died
        (["08:00 started", "09:30 ended"], False, False),
        (["08:00 started", "09:30 started"], True, True),
        (["08:00 started", "08:10 ended", "09:30 started"], True, True),
    ],
)
def test_failures_of_a_daemon_that_is_gone_are_history(lives: list[str], held: bool, over: bool) -> None:
    log = [f"2026-08-14T{life[:5]}:00 {life[6:]} version=1" for life in lives]
    assert (
        is_over([*log[:1], "2026-08-14T08:01:00 loaded model=x", "", *log[1:]], "2026-08-14T09:00:00", held=held)
        is over
    )


@pytest.mark.parametrize(
    ("wanted", "here", "runs_on", "state", "code"),
    [
        ("auto", ("cpu",), "CPU, 2 threads", "ok", "ok"),
        ("auto", ("cpu", "cuda"), None, "ok", "ok"),
        ("cpu", ("cpu",), "CPU, 2 threads", "ok", "ok"),
        ("cuda", ("cpu",), "CPU, 2 threads", "problem", "unknown"),
        ("cuda", ("cpu", "cuda"), "CPU, 2 threads", "problem", "fell-back"),
        ("cuda", ("cpu", "cuda"), "CUDA (a card)", "ok", "ok"),
        ("cuda", ("cpu", "cuda"), None, "ok", "ok"),
    ],
)
def test_the_device_is_the_one_that_was_asked_for(
    wanted: str, here: tuple[str, ...], runs_on: str | None, state: str, code: str
) -> None:
    found = judge_device(wanted, here, runs_on, "why")
    assert (found.state, found.code) == (state, code)


def test_memory_md_is_loaded_up_to_two_bounds() -> None:
    assert not exceeds(200, 25_000)
    assert exceeds(201, 100)
    assert exceeds(1, 25_001)
