"""The definition of a Windows scheduled task, as a pure function of a job."""

import re
import subprocess
from hashlib import sha256
from html import escape

from recall.schedule.job import Job

#: A console program would open a window in the person's face at every run; this host gives it none.
HOST = "conhost.exe"

_INTERVAL = re.compile(rb"<Interval>PT(?:(\d+)H)?(?:(\d+)M)?</Interval>")

# The defaults would not start on battery and stop where the cable is pulled; three days is the default limit of a run.
_TASK = """\
<?xml version="1.0" encoding="UTF-16"?>
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo>
    <Description>{description} ({mark})</Description>
  </RegistrationInfo>
  <Triggers>
    <TimeTrigger>
      <Repetition>
        <Interval>PT{minutes}M</Interval>
        <StopAtDurationEnd>false</StopAtDurationEnd>
      </Repetition>
      <StartBoundary>2026-01-01T00:00:00</StartBoundary>
      <Enabled>true</Enabled>
    </TimeTrigger>
  </Triggers>
  <Principals>
    <Principal id="Author">
      <LogonType>InteractiveToken</LogonType>
      <RunLevel>LeastPrivilege</RunLevel>
    </Principal>
  </Principals>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <StartWhenAvailable>true</StartWhenAvailable>
    <ExecutionTimeLimit>PT8H</ExecutionTimeLimit>
    <Enabled>true</Enabled>
  </Settings>
  <Actions Context="Author">
    <Exec>
      <Command>{host}</Command>
      <Arguments>{arguments}</Arguments>
    </Exec>
  </Actions>
</Task>
"""


def task_name(name: str) -> str:
    """Where the task stands in the scheduler's tree."""
    return f"\\recall\\{name}"


def definition(job: Job) -> str:
    """The task's XML; schtasks wants it in UTF-16 with a byte order mark."""
    return _TASK.format(
        description=escape(f"recall: bring the index of {job.home} up to date", quote=False),
        mark=mark(job),
        minutes=job.minutes,
        host=HOST,
        arguments=escape(subprocess.list2cmdline(["--headless", *job.command]), quote=False),
    )


def mark(job: Job) -> str:
    """Tells this job's task from one that differs. In ASCII: schtasks shows a task in the console's code page, which
    may have no letter of the path, and rewrites the definition besides."""
    text = f"{HOST} {subprocess.list2cmdline(job.command)} {job.minutes}"
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def minutes_in(definition: bytes) -> int:
    """How often a task runs, of the definition that schtasks shows, which writes an hour as PT1H; 0 where it says
    nothing of that."""
    found = _INTERVAL.search(definition)
    return 60 * int(found[1] or 0) + int(found[2] or 0) if found else 0
