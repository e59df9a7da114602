"""Asking the person in front of the terminal; where nobody can be asked, the cautious answer."""

import sys
from collections.abc import Sequence

from recall.core.errors import RecallError, UsageError


def somebody() -> bool:
    """Whether a person can be asked: not in a script, and not where the input is closed (`recall ... <&-`)."""
    return sys.stdin is not None and sys.stdin.isatty()


def require(question: str, option: str) -> None:
    """Go on only with a yes. Raises RecallError for a no, UsageError with the `option` where nobody can be asked."""
    if not somebody():
        raise UsageError(f"{question} Nobody can be asked here; {option} says yes.")
    if not confirm(question):
        raise RecallError("nothing was done")


def confirm(question: str, *, yes: bool = False, hint: str = "--yes says yes") -> bool:
    """A yes or no; `yes` answers by itself, and where nobody can be asked it is no, with the `hint` how to say yes."""
    if yes:
        return True
    if not somebody():
        print(f"{question} (nobody to ask: no; {hint})")
        return False
    while True:
        answer = _answer(f"{question} [y/n] ")
        if answer in ("y", "yes", "n", "no", ""):
            return answer.startswith("y")


def choose(question: str, options: Sequence[str], *, yes: bool = False) -> int:
    """The place of one of the options; `yes` takes the first, and where nobody can be asked it is the last."""
    print(question)
    for number, option in enumerate(options, start=1):
        print(f"  {number}  {option}")
    if yes:
        return 0
    if not somebody():
        print(f"(nobody to ask: {len(options)}; --yes takes 1)")
        return len(options) - 1
    while True:
        answer = _answer(f"[1-{len(options)}] ")
        if answer == "":
            return len(options) - 1
        if answer.isdecimal() and 1 <= int(answer) <= len(options):
            return int(answer) - 1


def _answer(prompt: str) -> str:
    """What is typed, "" at the end of the input."""
    try:
        return input(prompt).strip().casefold()
    except EOFError:
        return ""
