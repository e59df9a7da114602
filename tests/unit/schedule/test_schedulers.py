"""The schedulers against stand-ins of their programs, which keep what they were called with; nothing of the machine's
own is touched, because PATH leads to the stand-ins alone."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from recall import schedule
from recall.core.errors import RecallError, UsageError
from recall.schedule import choice, crontab, system
from recall.schedule.job import Job
from recall.schedule.schedulers import Cron, Launchd, Scheduler, Systemd, Task

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the stand-ins are shell scripts")

JOB = Job("/opt/recall", "/home/a/状態 100%", 15)

#: Keeps the crontab in a file and refuses what real ones refuse.
CRONTAB = """
case "$1" in
-l) if [ -f "$KEPT/tab" ]; then cat "$KEPT/tab"; else echo "no crontab for $USER" >&2; exit 1; fi ;;
-r) rm "$KEPT/tab" ;;
-) cat > "$KEPT/tab.new"
   if [ -n "$(tail -c 1 "$KEPT/tab.new")" ]; then echo "missing newline before EOF, can't install" >&2; exit 1; fi
   mv "$KEPT/tab.new" "$KEPT/tab" ;;
esac
"""
#: Answers while `$KEPT/alive` is there, and links what is enabled.
SYSTEMCTL = """
[ -f "$KEPT/alive" ] || { echo "Failed to connect to bus: No medium found" >&2; exit 1; }
units="$HOME/.config/systemd/user"
case "$2" in
enable) [ -f "$KEPT/refuse" ] && { echo "Unit file is masked" >&2; exit 1; }
   mkdir -p "$units/timers.target.wants" && ln -sf "$units/$3" "$units/timers.target.wants/$3" ;;
disable) rm -f "$units/timers.target.wants/$4" ;;
esac
"""
#: A bootout of what is not loaded fails; after one that worked the first bootstrap fails, as on a real machine.
LAUNCHCTL = """
case "$1" in
bootout) [ -f "$KEPT/loaded" ] && rm "$KEPT/loaded" && touch "$KEPT/going" ;;
bootstrap) if [ -f "$KEPT/going" ]; then rm "$KEPT/going"; exit 5; fi; touch "$KEPT/loaded" ;;
esac
"""
SCHTASKS = """
case "$1" in
/Create) cp "$5" "$KEPT/task.xml" ;;
/Query) cat "$KEPT/task.xml" 2>/dev/null; exit 0 ;;
/Delete) rm "$KEPT/task.xml" ;;
esac
"""


class Machine:
    """A folder of stand-ins, and the calls that they got."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def has(self, program: str, script: str) -> None:
        path = self.root / "bin" / program
        path.write_text(
            f'#!/bin/sh\nPATH=/usr/bin:/bin\nKEPT="{self.root}"\necho "{program} $*" >> "$KEPT/calls"\n{script}'
        )
        path.chmod(0o755)

    def touch(self, name: str) -> None:
        (self.root / name).touch()

    def calls(self) -> list[str]:
        path = self.root / "calls"
        return path.read_text().splitlines() if path.exists() else []

    def files(self) -> set[str]:
        return {str(path.relative_to(self.root / "home")) for path in (self.root / "home").rglob("*")}


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    for folder in ("bin", "home"):
        (tmp_path / folder).mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return Machine(tmp_path)


@pytest.fixture
def on(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Let these be the schedulers of the system."""

    def _on(*schedulers: Scheduler) -> None:
        monkeypatch.setattr(choice, "schedulers_here", lambda: schedulers)

    return _on


def test_cron_is_put_in_changed_and_taken_out_byte_for_byte(machine: Machine) -> None:
    machine.has("crontab", CRONTAB)
    before = b"MAILTO=me\n\n5 4 * * * echo '50\\%'\n"
    (machine.root / "tab").write_bytes(before)
    cron = Cron()
    assert not cron.stands(JOB.home)
    cron.install(JOB)
    assert cron.is_current(JOB)
    other = Job(JOB.program, JOB.home, 120)
    assert not cron.is_current(other)
    cron.install(other)
    assert (machine.root / "tab").read_bytes() == crontab.line(other) + b"\n" + before
    cron.remove(JOB.home)
    assert (machine.root / "tab").read_bytes() == before


def test_where_there_was_no_crontab_there_is_none_afterwards(machine: Machine) -> None:
    machine.has("crontab", CRONTAB)
    Cron().install(JOB)
    assert (machine.root / "tab").exists()
    Cron().remove(JOB.home)
    assert not (machine.root / "tab").exists()
    assert machine.calls()[-1] == "crontab -r"


@pytest.mark.parametrize(
    "said", ["crontab: permission denied", "You (a) are not allowed to use this program (crontab)"]
)
def test_a_crontab_that_cannot_be_read_is_never_written_over(machine: Machine, said: str) -> None:
    machine.has("crontab", f'echo "{said}" >&2; exit 1')
    with pytest.raises(RecallError, match="crontab -l"):
        Cron().install(JOB)
    assert machine.calls() == ["crontab -l"]


def test_who_may_not_use_cron_can_uninstall(machine: Machine, on: Callable[..., None]) -> None:
    machine.has("crontab", 'echo "You (a) are not allowed to use this program (crontab)" >&2; exit 1')
    on(Systemd(), Cron())
    assert schedule.remove(JOB.home) == []


def test_a_timer_is_written_enabled_started_and_taken_out_without_a_trace(machine: Machine) -> None:
    machine.has("systemctl", SYSTEMCTL)
    machine.touch("alive")
    systemd = Systemd()
    systemd.install(JOB)
    assert systemd.is_current(JOB)
    assert systemd.stands(JOB.home)
    assert machine.calls()[:3] == [
        "systemctl --user daemon-reload",
        f"systemctl --user enable {JOB.name}.timer",
        f"systemctl --user restart {JOB.name}.timer",
    ]
    systemd.remove(JOB.home)
    assert f"systemctl --user disable --now {JOB.name}.timer" in machine.calls()
    assert machine.files() <= {".config"}


def test_a_timer_is_taken_out_also_when_the_manager_is_gone(machine: Machine) -> None:
    machine.has("systemctl", SYSTEMCTL)
    machine.touch("alive")
    Systemd().install(JOB)
    (machine.root / "alive").unlink()
    assert not Systemd().answers()
    Systemd().remove(JOB.home)
    assert machine.files() <= {".config"}


def test_a_timer_that_systemd_refuses_leaves_nothing(machine: Machine) -> None:
    machine.has("systemctl", SYSTEMCTL)
    machine.touch("alive")
    machine.touch("refuse")
    with pytest.raises(RecallError, match="Unit file is masked"):
        Systemd().install(JOB)
    assert not Systemd().stands(JOB.home)


def test_an_agent_is_loaded_again_when_it_changes_and_unloaded_when_it_goes(machine: Machine) -> None:
    machine.has("launchctl", LAUNCHCTL)
    launchd = Launchd()
    assert launchd.install(JOB) == ""
    assert launchd.is_current(JOB)
    assert launchd.install(Job(JOB.program, JOB.home, 30)) == ""
    assert (machine.root / "loaded").exists()
    assert not launchd.is_current(JOB)
    domain = f"gui/{os.getuid()}"
    assert machine.calls()[1].startswith(f"launchctl bootstrap {domain} ")
    launchd.remove(JOB.home)
    assert machine.calls()[-1] == f"launchctl bootout {domain}/local.{JOB.name}"
    assert not launchd.stands(JOB.home)


def test_a_task_is_created_from_utf_16_recognised_and_deleted(machine: Machine) -> None:
    machine.has("schtasks", SCHTASKS)
    task = Task()
    assert not task.stands(JOB.home)
    task.install(JOB)
    assert (machine.root / "task.xml").read_bytes().decode("utf-16").startswith("<?xml")
    assert task.is_current(JOB)
    assert not task.is_current(Job(JOB.program, JOB.home, 30))
    assert task.renew(JOB.home, r"C:\recall\versions\2\recall.exe")
    assert task.is_current(Job(r"C:\recall\versions\2\recall.exe", JOB.home, JOB.minutes))
    assert not task.renew(JOB.home, r"C:\recall\versions\2\recall.exe")
    task.remove(JOB.home)
    assert not task.stands(JOB.home)
    assert not task.renew(JOB.home, r"C:\recall\versions\3\recall.exe")


def test_systemd_is_taken_where_it_answers_else_cron_else_what_holds_the_entry(
    machine: Machine, on: Callable[..., None]
) -> None:
    on(Systemd(), Cron())
    with pytest.raises(RecallError, match="none that answers"):
        choice.choose(None, JOB.home)
    machine.has("systemctl", SYSTEMCTL)
    machine.has("crontab", CRONTAB)
    assert choice.choose(None, JOB.home).name == "cron"
    with pytest.raises(UsageError, match=r"\(cron\), found --using systemd"):
        choice.choose("systemd", JOB.home)
    machine.touch("alive")
    assert choice.choose(None, JOB.home).name == "systemd"
    assert choice.choose("cron", JOB.home).name == "cron"
    Cron().install(JOB)
    assert choice.choose(None, JOB.home).name == "cron"
    assert choice.choose(None, "/home/other").name == "systemd"


def test_everything_of_one_state_folder_goes_and_nothing_of_another(machine: Machine, on: Callable[..., None]) -> None:
    machine.has("systemctl", SYSTEMCTL)
    machine.has("crontab", CRONTAB)
    machine.touch("alive")
    on(Systemd(), Cron())
    other = Job(JOB.program, "/home/other", 15)
    for scheduler in (Systemd(), Cron()):
        scheduler.install(JOB)
        scheduler.install(other)
    assert len(schedule.remove(Path(JOB.home))) == 2
    assert schedule.remove(JOB.home) == []
    assert [scheduler.name for scheduler in choice.holding(other.home)] == ["systemd", "cron"]


def test_one_that_refuses_does_not_keep_the_others(machine: Machine, on: Callable[..., None]) -> None:
    machine.has("systemctl", SYSTEMCTL)
    machine.touch("alive")
    Systemd().install(JOB)
    machine.has("crontab", 'echo "cannot read the spool" >&2; exit 1')
    on(Cron(), Systemd())
    with pytest.raises(RecallError, match="cannot read the spool"):
        schedule.remove(JOB.home)
    assert not Systemd().stands(JOB.home)


@pytest.mark.parametrize(
    ("platform", "names"),
    [("linux", ["systemd", "cron"]), ("darwin", ["launchd", "cron"]), ("win32", ["task"]), ("freebsd14", ["cron"])],
)
def test_each_system_has_its_schedulers(platform: str, names: list[str]) -> None:
    assert [scheduler.name for scheduler in choice.schedulers_here(platform)] == names


def test_a_program_that_hangs_is_not_waited_for(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    assert system.ASKING_PATIENCE <= 5
    monkeypatch.setattr(system, "ASKING_PATIENCE", 0.2)
    machine.has("crontab", "exec sleep 20")
    with pytest.raises(RecallError, match=r"crontab within 0\.2 s"):
        Cron().stands(JOB.home)
    machine.has("systemctl", "exec sleep 20")
    assert not Systemd().answers()


def test_a_persons_own_lines_are_told_from_ours(machine: Machine) -> None:
    machine.has("crontab", CRONTAB)
    (machine.root / "tab").write_bytes(b"*/5 * * * * recall index\n")
    Cron().install(JOB)
    assert Cron().written() == [crontab.Line("recall", None, crontab.CRON_PATH)]
