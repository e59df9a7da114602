"""The texts of the four schedulers' entries: quoting of awkward paths, times, and what each format needs."""

import plistlib
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.core.errors import RecallError, UsageError
from recall.schedule import agent, crontab, task, units
from recall.schedule.job import Job

AWKWARD = Job("/opt/a b/100%/日本 $HOME/recall", "/home/山田/state 'q' \"d\" \\x $HOME 100% # ; & <x>", 15)
PLAIN = Job("/opt/recall", "/home/a/state", 15)
NAMESPACE = {"t": "http://schemas.microsoft.com/windows/2004/02/mit/task"}


@pytest.mark.parametrize(
    ("minutes", "fields"),
    [(5, "*/5 * * * *"), (30, "*/30 * * * *"), (60, "0 * * * *"), (120, "0 */2 * * *"), (1440, "0 12 * * *")],
)
def test_cron_gets_the_times_that_it_keeps_exactly(minutes: int, fields: str) -> None:
    assert crontab.fields(minutes) == fields


@pytest.mark.parametrize("minutes", [7, 45, 59, 90, 300, 1439])
def test_cron_refuses_other_times_and_says_which_it_takes(minutes: int) -> None:
    with pytest.raises(UsageError, match=rf"10, 12, 15.*found {minutes} minutes"):
        crontab.fields(minutes)


def test_a_name_in_another_encoding_keeps_its_bytes() -> None:
    assert b"--home '/home/\xff\xfe' # recall: " in crontab.line(Job("/opt/recall", "/home/\udcff\udcfe", 15))


def test_a_line_that_cron_would_cut_is_refused() -> None:
    with pytest.raises(RecallError, match="shorter path"):
        crontab.line(Job("/opt/recall", "/home/" + "あ" * 200, 15))


def test_the_systemd_units_are_what_was_tried_with_systemd() -> None:
    service = units.service(AWKWARD)
    assert (
        'ExecStart="/opt/a b/100%%/日本 $HOME/recall" "index" "--log" "--home" '
        '"/home/山田/state \'q\' \\"d\\" \\\\x $$HOME 100%% # ; & <x>"\n'
    ) in service
    assert "Type=oneshot" in service
    assert not service.replace("%%", "").count("%")
    timer = units.timer(Job("/opt/recall", "/home/a/state", 90))
    assert "OnUnitActiveSec=90min" in timer
    assert "OnActiveSec=" in timer  # without a first start a oneshot has no last one to count from
    assert "WantedBy=timers.target" in timer
    for line in (units.service(Job("/opt/recall", "/home/a\\", 15)) + timer).splitlines():
        assert not line.endswith("\\")


@pytest.mark.parametrize("letter", ['"', "'", "\\"])
def test_a_program_that_systemd_would_refuse_is_refused_before(letter: str) -> None:
    with pytest.raises(RecallError, match="--using cron"):
        units.service(Job(f"/opt/a{letter}b/recall", "/home/a", 15))


def test_the_launchd_agent_reads_back() -> None:
    found = plistlib.loads(agent.plist(AWKWARD))
    assert found["ProgramArguments"] == list(AWKWARD.command)
    assert found["StartInterval"] == 900
    assert found["Label"] == agent.label(AWKWARD.name)


def test_the_windows_task_reads_back() -> None:
    job = Job("C:\\Users\\山田 太郎\\recall.exe", "C:\\Users\\山田 太郎\\a & b", 30)
    root = ElementTree.fromstring(task.definition(job).replace('encoding="UTF-16"', ""))
    assert root.findtext(".//t:Interval", namespaces=NAMESPACE) == "PT30M"
    assert root.findtext(".//t:Command", namespaces=NAMESPACE) == task.HOST
    assert root.findtext(".//t:Arguments", namespaces=NAMESPACE) == (
        '--headless "C:\\Users\\山田 太郎\\recall.exe" index --log --home "C:\\Users\\山田 太郎\\a & b"'
    )
    assert root.findtext(".//t:DisallowStartIfOnBatteries", namespaces=NAMESPACE) == "false"
    assert task.mark(job) in task.definition(job)


@pytest.mark.parametrize(("interval", "minutes"), [("PT15M", 15), ("PT1H", 60), ("PT1H30M", 90), ("P1D", 0), ("", 0)])
def test_how_often_a_task_runs_is_read_as_windows_writes_it(interval: str, minutes: int) -> None:
    assert task.minutes_in(f"<Task><Interval>{interval}</Interval></Task>".encode()) == minutes


def test_a_task_is_told_from_one_with_another_time_program_or_folder() -> None:
    others = [Job("/opt/recall", "/home/a/state", 30), Job("/opt/new", "/home/a/state", 15), AWKWARD]
    assert len({task.mark(job) for job in (PLAIN, *others)}) == 4


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", []),
        ("# */5 * * * * recall index\n", []),
        ("*/5 * * * * recall status\n", []),
        ("*/5 * * * * nice -n 19 recall index\n", [("recall", None, "/usr/bin:/bin")]),
        ("*/5 * * * * /gone/recall index >/dev/null 2>&1\n", [("/gone/recall", None, "/usr/bin:/bin")]),
        ("@hourly cd /x && /opt/recall index --log --home /s\n", [("/opt/recall", "/s", "/usr/bin:/bin")]),
        ("0 4 * * 1-5 RECALL_HOME=/s '/a b/recall' index;true", [("/a b/recall", "/s", "/usr/bin:/bin")]),
        ('PATH=/opt/bin\nRECALL_HOME = "/s"\n0 4 * * * recall index\n', [("recall", "/s", "/opt/bin")]),
        ("0 4 * * * say 'it is\n", []),
    ],
)
def test_a_persons_own_lines_in_the_crontab_are_found(text: str, lines: list[tuple[str, str | None, str]]) -> None:
    assert crontab.written(text.encode()) == lines


def test_ours_is_none_of_the_persons_own() -> None:
    assert crontab.written(crontab.with_line(b"", AWKWARD.home, crontab.line(AWKWARD))) == []


@given(st.binary(max_size=200))
def test_no_crontab_is_too_odd_to_be_looked_through(raw: bytes) -> None:
    assert isinstance(crontab.written(raw), list)
