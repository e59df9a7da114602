"""The two files of a systemd user timer, as pure functions of a job.

Quoting was tried with systemd 252: `%` is doubled everywhere, `$` in arguments but not in the program's path, and a
program whose path holds a quote or a backslash is refused.
"""

from recall.core.errors import RecallError
from recall.schedule.job import Job, words_of

_HEAD = "# Written by `recall schedule`; `recall schedule --remove` takes it out again.\n"

_SERVICE = """\
[Unit]
Description=recall: bring the index of {home} up to date

[Service]
Type=oneshot
ExecStart={command}
Nice=10
"""

# A oneshot's OnUnitActiveSec counts from its last start and needs a first one: that is OnActiveSec's, after the login.
_TIMER = """\
[Unit]
Description=recall: the index of {home} every {every}

[Timer]
OnActiveSec=2min
OnUnitActiveSec={minutes}min

[Install]
WantedBy=timers.target
"""


def service(job: Job) -> str:
    """The text of NAME.service. Raises RecallError for a program that systemd does not start."""
    if set(job.program) & set("\"'\\"):
        raise RecallError(
            f"expected a program whose path has no quote and no backslash, which systemd refuses, found {job.program}; "
            "use --using cron"
        )
    program, *arguments = job.command
    command = " ".join([quoted(program), *(quoted(word).replace("$", "$$") for word in arguments)])
    return _HEAD + _SERVICE.format(home=_plain(job.home), command=command)


def timer(job: Job) -> str:
    """The text of NAME.timer."""
    return _HEAD + _TIMER.format(home=_plain(job.home), every=words_of(job.minutes), minutes=job.minutes)


def quoted(word: str) -> str:
    """One word of a command line as systemd reads it back."""
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{escaped}"'


def _plain(text: str) -> str:
    """A description: no quoting there, but a backslash at its end would swallow the next line."""
    return text.replace("%", "%%").replace("\\", "/")
