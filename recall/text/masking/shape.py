"""A shape: a pattern of text that holds a secret, and the words without which it is not tried."""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from recall.text.masking.judge import is_placeholder
from recall.text.masking.spans import Span


class Shape(NamedTuple):
    """What one kind of secret looks like, with what stands around it."""

    kind: str
    needles: tuple[str, ...]  # lower case; one of them stands in every match
    pattern: re.Pattern[str]  # the last group that took part is the secret, or all of it where there is none
    accept: Callable[[str], bool]


def is_no_placeholder(value: str) -> bool:
    """Whether a value may be a secret: all that a shape without a judge of its own wants."""
    return not is_placeholder(value)


def shape(
    kind: str, needles: str, pattern: str, accept: Callable[[str], bool] | None = None, flags: int = re.IGNORECASE
) -> Shape:
    """A shape whose needles are parted by spaces; `accept` judges the secret, and takes any but a placeholder if None.

    Patterns are of ASCII. Every repetition has a bound or can end in one way only: a hostile text must cost no more
    than its length.
    """
    return Shape(kind, tuple(needles.split()), re.compile(pattern, flags | re.ASCII), accept or is_no_placeholder)


def find(shapes: Iterable[Shape], text: str) -> Iterator[Span]:
    """The secrets in a text that have one of the shapes; spans may overlap."""
    low = text.lower()
    for kind, needles, pattern, accept in shapes:
        if any(needle in low for needle in needles):
            for match in pattern.finditer(text):
                start, end = match.span(match.lastindex or 0)
                if accept(text[start:end]):
                    yield Span(start, end, kind)
