"""The schedulers of a machine: what holds an entry of ours, writing it and taking it out.

Each of the four offers the same: whether it answers here, the entry as text, whether it stands so, `install`, `remove`.
"""

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Protocol

import psutil

from recall.core.errors import RecallError
from recall.schedule import agent, crontab, task, units
from recall.schedule.job import Job, name_of, unicode_only
from recall.schedule.system import are_written, ask, delete, refusal, run, shown, write_files

#: Names under which cron runs.
CRON_DAEMONS = frozenset({"cron", "crond", "fcron", "systemd-cron", "busybox"})
NO_CRON = "no cron daemon is running here; nothing runs until one does"


class Scheduler(Protocol):
    """`name`: what `--using` takes. `words`: what an entry of ours is there."""

    name: str
    words: str

    def answers(self) -> bool:
        """Whether it can be used by this person on this machine now."""

    def stands(self, home: str) -> bool:
        """Whether it holds an entry for this state folder. Raises RecallError."""

    def is_current(self, job: Job) -> bool:
        """Whether it holds exactly this job. Raises RecallError."""

    def preview(self, job: Job) -> str:
        """What `install` would write, and where. Raises RecallError for a job that it cannot hold."""

    def install(self, job: Job) -> str:
        """Put the job in, in the place of this state folder's old one; what to mind, or "". Raises RecallError."""

    def remove(self, home: str) -> str:
        """Take this state folder's entry out; what was done, in words. Raises RecallError."""


class Cron:
    name = "cron"
    words = "the line in your crontab"

    def answers(self) -> bool:
        return shutil.which("crontab") is not None

    def stands(self, home: str) -> bool:
        return self.answers() and crontab.standing(self._read(strict=False), home) is not None

    def is_current(self, job: Job) -> bool:
        return crontab.standing(self._read(), job.home) == crontab.line(job)

    def preview(self, job: Job) -> str:
        return f"in your crontab:\n{os.fsdecode(crontab.line(job))}"

    def install(self, job: Job) -> str:
        self._write(crontab.with_line(self._read(), job.home, crontab.line(job)))
        if not self.is_current(job):
            raise RecallError("expected our line in the crontab just written, found it gone; run the command again")
        return "" if self.is_running() else NO_CRON

    def remove(self, home: str) -> str:
        self._write(crontab.without_line(self._read(), home))
        return "took the line out of your crontab"

    def is_running(self) -> bool:
        """Whether a daemon reads crontabs here, as far as this person sees. macOS starts one only when it is needed."""
        names = {process.info["name"] for process in psutil.process_iter(["name"])}
        return sys.platform == "darwin" or bool(names & CRON_DAEMONS)

    def written(self) -> list[crontab.Line]:
        """Lines of the person's own that run `recall index`. Raises RecallError."""
        return crontab.written(self._read(strict=False)) if self.answers() else []

    def _read(self, *, strict: bool = True) -> bytes:
        """Raises RecallError where it cannot be read: taken for an empty one it would be written over. Not `strict`:
        who may not use cron has no entry there."""
        done = ask("crontab", "-l")
        said = done.stderr.decode(errors="replace").casefold()
        if done.returncode == 0:
            return done.stdout
        if "no crontab" in said or "no such file" in said or ("not allowed" in said and not strict):
            return b""
        raise refusal("crontab -l", done)

    def _write(self, text: bytes) -> None:
        words = ("crontab", "-") if text else ("crontab", "-r")
        done = run(*words, stdin=text)
        if done.returncode != 0:
            raise refusal(" ".join(words), done)


class Systemd:
    name = "systemd"
    words = "the systemd timer"

    def answers(self) -> bool:
        with contextlib.suppress(RecallError):  # a container has the program and nobody behind it
            return (
                shutil.which("systemctl") is not None and ask("systemctl", "--user", "show-environment").returncode == 0
            )
        return False

    def stands(self, home: str) -> bool:
        return any(path.exists() for path in self._paths(name_of(home)))

    def is_current(self, job: Job) -> bool:
        return are_written(self._files(job)) and self._link(job.name).exists()

    def preview(self, job: Job) -> str:
        return shown(self._files(job))

    def install(self, job: Job) -> str:
        write_files(self._files(job))
        for words in (("daemon-reload",), ("enable", self._timer(job.name)), ("restart", self._timer(job.name))):
            done = self._control(*words)
            if done.returncode != 0:
                self.remove(job.home)
                raise refusal(f"systemctl --user {' '.join(words)}", done)
        return "it runs while you are logged in"

    def remove(self, home: str) -> str:
        name = name_of(home)
        alive = self.answers()
        if alive:
            self._control("disable", "--now", self._timer(name))
        delete([*self._paths(name), self._link(name)])
        for folder in (self._link(name).parent, self._folder(), self._folder().parent):  # empty ones mean nothing
            with contextlib.suppress(OSError):
                folder.rmdir()
        if alive:
            self._control("daemon-reload")
        return f"took out the systemd timer {name}"

    def _control(self, *words: str) -> "subprocess.CompletedProcess[bytes]":
        return run("systemctl", "--user", *words)

    def _folder(self) -> Path:
        return Path(os.environ.get("XDG_CONFIG_HOME") or "~/.config").expanduser() / "systemd" / "user"

    def _timer(self, name: str) -> str:
        return f"{name}.timer"

    def _paths(self, name: str) -> list[Path]:
        return [self._folder() / f"{name}.service", self._folder() / self._timer(name)]

    def _link(self, name: str) -> Path:
        """What `enable` makes."""
        return self._folder() / "timers.target.wants" / self._timer(name)

    def _files(self, job: Job) -> dict[Path, bytes]:
        unicode_only(job, "systemd's files")
        texts = (units.service(job), units.timer(job))
        return {path: text.encode() for path, text in zip(self._paths(job.name), texts, strict=True)}


class Launchd:
    name = "launchd"
    words = "the launchd agent"

    def answers(self) -> bool:
        return shutil.which("launchctl") is not None

    def stands(self, home: str) -> bool:
        return self._path(name_of(home)).exists()

    def is_current(self, job: Job) -> bool:
        return are_written(self._files(job))

    def preview(self, job: Job) -> str:
        return shown(self._files(job))

    def install(self, job: Job) -> str:
        was_loaded = self._stop(job.name)
        write_files(self._files(job))
        for wait in (0.0, 0.5, 1.0, 2.0) if was_loaded else (0.0,):  # bootout returns before the old one is gone
            time.sleep(wait)
            done = run("launchctl", "bootstrap", self._domain(), str(self._path(job.name)))
            if done.returncode == 0:
                break
        # Over ssh there may be no session to load it into; launchd reads the folder at each login.
        return "" if done.returncode == 0 else "launchd did not take it now; it runs from your next login on"

    def remove(self, home: str) -> str:
        name = name_of(home)
        self._stop(name)
        delete([self._path(name)])
        return f"took out the launchd agent {agent.label(name)}"

    def _stop(self, name: str) -> bool:
        """Whether it was loaded."""
        return run("launchctl", "bootout", f"{self._domain()}/{agent.label(name)}").returncode == 0

    def _domain(self) -> str:
        return f"gui/{os.getuid() if sys.platform != 'win32' else 0}"

    def _path(self, name: str) -> Path:
        return Path("~/Library/LaunchAgents").expanduser() / f"{agent.label(name)}.plist"

    def _files(self, job: Job) -> dict[Path, bytes]:
        unicode_only(job, "launchd's files")
        return {self._path(job.name): agent.plist(job)}


class Task:
    name = "task"
    words = "the scheduled task"

    def answers(self) -> bool:
        return shutil.which("schtasks") is not None

    def stands(self, home: str) -> bool:
        return self.answers() and b"<Task" in self._query(name_of(home))

    def is_current(self, job: Job) -> bool:
        return task.mark(job).encode() in self._query(job.name)

    def preview(self, job: Job) -> str:
        return f"the scheduled task {task.task_name(job.name)}:\n{task.definition(job)}"

    def install(self, job: Job) -> str:
        unicode_only(job, "scheduled tasks")
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "task.xml"
            file.write_bytes(task.definition(job).encode("utf-16"))
            done = run("schtasks", "/Create", "/TN", task.task_name(job.name), "/XML", str(file), "/F")
        if done.returncode != 0:
            raise refusal("schtasks /Create", done)
        return "it runs while you are logged in"

    def remove(self, home: str) -> str:
        name = task.task_name(name_of(home))
        done = run("schtasks", "/Delete", "/TN", name, "/F")
        if done.returncode != 0:
            raise refusal("schtasks /Delete", done)
        return f"took out the scheduled task {name}"

    def renew(self, home: str, program: str) -> bool:
        """Have the task that stands run another program, as often as before; whether it did not yet. Windows has no
        link by which a task could outlive an upgrade. Raises RecallError."""
        minutes = task.minutes_in(self._query(name_of(home)))
        if not minutes or self.is_current(job := Job(program, home, minutes)):
            return False
        self.install(job)
        return True

    def _query(self, name: str) -> bytes:
        """The definition that stands, as far as it is ASCII; nothing where there is none, whatever the exit code
        says (Wine's schtasks always says 0)."""
        return ask("schtasks", "/Query", "/TN", task.task_name(name), "/XML").stdout.replace(b"\0", b"")
