"""The property list of a launchd agent, as a pure function of a job."""

import plistlib

from recall.schedule.job import Job


def label(name: str) -> str:
    """What launchd calls the agent; its file is LABEL.plist."""
    return f"local.{name}"


def plist(job: Job) -> bytes:
    """The file's content. What the run prints goes nowhere: launchd has no mail, and the run keeps its own log."""
    return plistlib.dumps(
        {
            "Label": label(job.name),
            "ProgramArguments": list(job.command),
            "StartInterval": job.minutes * 60,
            "RunAtLoad": True,  # an interval missed in sleep is made up for, one missed by a logout is not
            "ProcessType": "Background",
        }
    )
