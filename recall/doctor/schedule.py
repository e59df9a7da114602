"""The scheduled `recall index`: that it names a program that is there, and what became of its last run."""

import os
import plistlib
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

from recall.core.errors import RecallError
from recall.doctor.case import Case, Finding
from recall.doctor.journals import lines_of
from recall.install.place import Place
from recall.schedule import agent, crontab, system, task
from recall.schedule.choice import holding, schedulers_here
from recall.schedule.job import name_of
from recall.schedule.schedulers import NO_CRON, Cron
from recall.setup.command import expanded

#: A schedule of at most a day that has done nothing for so many days (seconds) does not run.
IDLE_SECONDS = 3 * 86_400.0

_EXEC = re.compile(r"^ExecStart=(.*)$", re.MULTILINE)
_ARGUMENTS = re.compile(rb"<Arguments>(.*?)</Arguments>", re.DOTALL)
_LINE = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d) (done|failed): (.*)")


def schedule(case: Case) -> Iterator[Finding]:
    """Whether what is scheduled can run, and has run."""
    standing = holding(case.paths.home)
    written = [line for cron in schedulers_here() if isinstance(cron, Cron) for line in cron.written()]
    own = [line for line in written if _home_of(line, case).resolve() == case.home.resolve()]
    found = []
    for scheduler in standing:
        program = next(iter(command_of(scheduler.name, case.paths.home)), "")
        if program and not os.access(program, os.X_OK):
            said = f"{scheduler.words} runs {program}, which is not there"
            found.append(Finding("schedule", "problem", "no-program", said, "run `recall schedule` again"))
    found += [line for one in written for line in _of_line(one, case)]
    if standing and own:
        said = "besides what `recall schedule` wrote, a line of your own in the crontab runs `recall index`"
        found.append(Finding("schedule", "note", "twice", said, "take that line out: the work is done twice"))
    cron = next((one for one in standing if isinstance(one, Cron)), Cron() if written else None)
    if cron is not None and not cron.is_running():
        found.append(Finding("schedule", "note", "no-cron", NO_CRON, "start cron, or use another with --using"))
    found += _last_run(case) if standing or own else ()
    names = [scheduler.words for scheduler in standing] + ["a line of your own in the crontab"] * bool(own)
    if found:
        yield from found
    elif names:
        yield Finding("schedule", "ok", "ok", f"{' and '.join(names)} runs `recall index`")
    else:
        yield Finding("schedule", "ok", "none", "`recall index` is not scheduled; the daemon looks while you work")


def _of_line(line: crontab.Line, case: Case) -> Iterator[Finding]:
    """What is wrong with a line that a person has written into the crontab."""
    home = _home_of(line, case)
    if shutil.which(expanded(line.program, case.environment), path=line.path) is None:
        said = f"a line of your own in the crontab runs {line.program}, which is not there"
        yield Finding("schedule", "problem", "no-program", said, "correct it with `crontab -e`")
    elif home.resolve() != case.home.resolve():
        said = f"a line of your own in the crontab runs `recall index` for another state folder, {home}"
        yield Finding("schedule", "note", "other-folder", said, f"add --home {case.home} there if this one is meant")


def _home_of(line: crontab.Line, case: Case) -> Path:
    """The state folder of a line; cron has none of a shell's variables."""
    return Path(expanded(line.home, case.environment)) if line.home else Place.of_user().data


def _last_run(case: Case) -> Iterator[Finding]:
    runs = [run for line in lines_of(Path(case.paths.index_log)) if (run := _LINE.fullmatch(line))]
    if not runs:
        return
    when, outcome, said = runs[-1].groups()
    if outcome == "failed":
        found = f"the scheduled run of {when} failed: {said}"
        yield Finding("schedule", "problem", "failed", found, "mend that; the next run goes on")
    elif case.now - Path(case.paths.index_log).stat().st_mtime > IDLE_SECONDS:
        found = f"the last scheduled run was at {when}"
        yield Finding("schedule", "note", "idle", found, "if the machine was on, its scheduler does not run")


def command_of(scheduler: str, home: str) -> list[str]:
    """The command line of our entry; empty where it cannot be told. Raises RecallError."""
    try:
        if scheduler == "cron":
            line = crontab.standing(system.ask("crontab", "-l").stdout, home)
            return shlex.split(os.fsdecode(line).split(" ", 5)[5], comments=True) if line else []
        name = name_of(home)
        if scheduler == "systemd":
            folder = Path(os.environ.get("XDG_CONFIG_HOME") or "~/.config").expanduser() / "systemd" / "user"
            command = _EXEC.search((folder / f"{name}.service").read_text("utf-8"))
            return [word.replace("%%", "%").replace("$$", "$") for word in shlex.split(command[1])] if command else []
        if scheduler == "launchd":
            path = Path("~/Library/LaunchAgents").expanduser() / f"{agent.label(name)}.plist"
            return [str(word) for word in plistlib.loads(path.read_bytes())["ProgramArguments"]]
        arguments = _ARGUMENTS.search(system.ask("schtasks", "/Query", "/TN", task.task_name(name), "/XML").stdout)
        return _windows_program(arguments[1].decode("utf-8", "replace")) if arguments else []
    except (OSError, ValueError, KeyError, IndexError, plistlib.InvalidFileException) as error:
        raise RecallError(f"the entry of {scheduler} cannot be read ({error})") from error


def _windows_program(arguments: str) -> list[str]:
    """Behind the host's own option: the program, in quotes where its path has spaces."""
    rest = arguments.removeprefix("--headless").replace("&quot;", '"').replace("&amp;", "&").strip()
    return [rest[1:].partition('"')[0] if rest.startswith('"') else rest.partition(" ")[0]]
