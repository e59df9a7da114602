"""The crontab's text with and without our line: pure functions from bytes to bytes that keep every other byte.

Our line stands first. There it runs under cron's own sh whatever `SHELL=` a person sets further down, and it can be
taken out again exactly also where the last line of theirs has no line break.

    */15 * * * * /opt/recall index --log --home '/home/a b' # recall: '/home/a b'
"""

import os
import re
import shlex
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from recall.core.errors import RecallError, UsageError
from recall.schedule.job import Job

#: Vixie's cron, from which Debian's, Red Hat's and macOS's come, refuses a command of more characters.
COMMAND_BYTES = 998

#: `*/7` would mean 0, 7, ... 56 and then 0: four minutes later. Only divisors are the same each time.
MINUTES = (5, 6, 10, 12, 15, 20, 30)
HOURS = (1, 2, 3, 4, 6, 8, 12, 24)

#: Where cron looks for a program, by crontab(5).
CRON_PATH = "/usr/bin:/bin"

_ASSIGNED = re.compile(r"([A-Za-z_]\w*)\s*=\s*(.*)")
_TIMED = re.compile(r"(?:@\w+|(?:[^\s#]\S*\s+){4}\S+)\s+(.*)")
_PLAIN = re.compile(r"[A-Za-z0-9_./:@,+=-]+")
_SPECIAL = re.compile(r"['%]|(?<=\\)\\")
_AS = {"'": "'\\''", "%": "'\\%'", "\\": "''\\"}
_LINE = re.compile(rb"[^\n]*\n|[^\n]+\Z")


def fields(minutes: int) -> str:
    """The five fields for a run every so many minutes. Raises UsageError for what cron cannot express exactly."""
    hours, rest = divmod(minutes, 60)
    if minutes in MINUTES:
        return f"*/{minutes} * * * *"
    if rest or hours not in HOURS:
        raise UsageError(
            f"expected a time that cron can keep exactly ({', '.join(map(str, MINUTES))} minutes; "
            f"{', '.join(map(str, HOURS))} hours), found {minutes} minutes; take one of these"
        )
    if hours == 24:
        return "0 12 * * *"  # at midnight a laptop is closed
    return "0 * * * *" if hours == 1 else f"0 */{hours} * * *"


def line(job: Job) -> bytes:
    """Our line, without its line break. Raises UsageError, or RecallError for a path that is too long."""
    command = os.fsencode(" ".join(map(quoted, job.command)) + _marker(job.home))
    if len(command) > COMMAND_BYTES:
        raise RecallError(
            f"expected at most {COMMAND_BYTES} bytes, which cron takes in a line, found {len(command)} for {job.home}; "
            "use a state folder with a shorter path, or another scheduler with --using"
        )
    return fields(job.minutes).encode() + b" " + command


def quoted(word: str) -> str:
    """A word as it is once cron and then sh have read it.

    Debian's cron makes a line break of a bare `%`, `%` of `\\%` and, as its manual does not say, one backslash of two;
    busybox' takes the line as it stands. So `\\%` stands outside the quotes, where sh too makes `%` of it, and the
    quotes end and begin again between two backslashes.
    """
    if _PLAIN.fullmatch(word):
        return word
    return "'" + _SPECIAL.sub(lambda found: _AS[found[0]], word) + "'"


def standing(crontab: bytes, home: str) -> bytes | None:
    """The line of this state folder, without its line break; None where there is none."""
    return next((found.rstrip(b"\n") for found in _LINE.findall(crontab) if _is_ours(found, home)), None)


def with_line(crontab: bytes, home: str, new: bytes) -> bytes:
    """The crontab with `new` as this state folder's one line: in the place of the old one, else before everything."""
    if standing(crontab, home) is None:
        return new + b"\n" + crontab
    parts, seen = [], False
    for found in _LINE.findall(crontab):
        if not _is_ours(found, home):
            parts.append(found)
        elif not seen:
            parts.append(new + b"\n")
            seen = True
    return b"".join(parts)


def without_line(crontab: bytes, home: str) -> bytes:
    """The crontab without this state folder's lines."""
    return b"".join(found for found in _LINE.findall(crontab) if not _is_ours(found, home))


class Line(NamedTuple):
    """A line of the person's own that runs `recall index`: the program that it names, the state folder, None where it
    names none, and the folders in which cron looks for a program without a path."""

    program: str
    home: str | None
    path: str


def written(crontab: bytes) -> list[Line]:
    """The lines that a person has written to run `recall index`; those of `recall schedule` are none."""
    found = []
    path, home = CRON_PATH, None
    for raw in _LINE.findall(crontab):
        text = os.fsdecode(raw).strip()
        if assigned := _ASSIGNED.fullmatch(text):
            value = assigned[2].strip("\"'")
            path = value if assigned[1] == "PATH" else path
            home = value if assigned[1] == "RECALL_HOME" else home
        elif (timed := _TIMED.match(text)) and " # recall: " not in text:
            found += _running(timed[1], home, path)
    return found


def _running(command: str, home: str | None, path: str) -> list[Line]:
    """Where a command of the crontab calls `recall index`."""
    lexer = shlex.shlex(command.replace("\\%", "%"), posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    try:
        words = list(lexer)
    except ValueError:  # its quotes do not close
        return []
    for word, following in pairwise(words):
        if assigned := _ASSIGNED.fullmatch(word):
            home = assigned[2] if assigned[1] == "RECALL_HOME" else home
        if Path(word).name == "recall" and following == "index":
            return [Line(word, dict(pairwise(words)).get("--home") or home, path)]
    return []


def _marker(home: str) -> str:
    """For sh a comment."""
    return f" # recall: {quoted(home)}"


def _is_ours(found: bytes, home: str) -> bool:
    return found.rstrip(b"\r\n").endswith(os.fsencode(_marker(home))) and not found.lstrip().startswith(b"#")
