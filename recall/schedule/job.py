"""What is to be run and how often, as plain values that every scheduler's entry is made of."""

import re
from dataclasses import dataclass
from hashlib import sha256

from recall.core.errors import RecallError, UsageError

LEAST_MINUTES = 5
MOST_MINUTES = 24 * 60

#: What stands behind the program. `--log`: a scheduler mails what is printed, or keeps it where nobody looks.
ARGUMENTS = ("index", "--log", "--home")

_EVERY = re.compile(r"([0-9]{1,4})\s*(m|min|h)")


@dataclass(frozen=True, slots=True)
class Job:
    """`program` and `home` (the state folder) are absolute paths: a scheduler has neither our PATH nor our folder."""

    program: str
    home: str
    minutes: int

    @property
    def command(self) -> tuple[str, ...]:
        """The command line, one word each."""
        return (self.program, *ARGUMENTS, self.home)

    @property
    def name(self) -> str:
        return name_of(self.home)


def name_of(home: str) -> str:
    """The name of a state folder's entry where schedulers want one: several folders stand side by side."""
    return f"recall-index-{sha256(home.encode('utf-8', 'surrogateescape')).hexdigest()[:8]}"


def check_paths(job: Job) -> None:
    """Refuse paths that no scheduler's file can hold: a line break would begin a new line there. Raises RecallError."""
    for path in (job.program, job.home):
        if any(ord(letter) < 32 or ord(letter) == 127 for letter in path):
            raise RecallError(
                f"expected a path without control characters, found {path!a}; a schedule needs another folder"
            )


def unicode_only(job: Job, holder: str) -> None:
    """Refuse names whose bytes are no Unicode where the `holder` takes only that. Raises RecallError."""
    for path in (job.program, job.home):
        try:
            path.encode()
        except UnicodeEncodeError:
            raise RecallError(
                f"{holder} take Unicode only, found {path!a}; use a folder with a plain name, or --using cron"
            ) from None


def minutes_of(every: str) -> int:
    """The minutes of `15m` or `2h`. Raises UsageError."""
    found = _EVERY.fullmatch(every.strip().casefold())
    minutes = int(found[1]) * (60 if found[2] == "h" else 1) if found else 0
    if not LEAST_MINUTES <= minutes <= MOST_MINUTES:
        raise UsageError(f"expected a time from 5m to 24h such as 15m or 2h, found {every!r}; give that as --every")
    return minutes


def words_of(minutes: int) -> str:
    """`15m`, `2h`: what `minutes_of` reads."""
    return f"{minutes}m" if minutes % 60 else f"{minutes // 60}h"
