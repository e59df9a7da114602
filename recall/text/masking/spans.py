"""Spans: where the secrets of a text stand, and how many spans become few."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple


class Span(NamedTuple):
    """A secret in a text: characters `start` to `end`, and its kind."""

    start: int
    end: int
    kind: str


def occurrences(part: str, text: str) -> Iterator[tuple[int, int]]:
    """Where a part stands in a text: start and end of each place, none overlapping."""
    start = text.find(part)
    while start >= 0:
        yield start, start + len(part)
        start = text.find(part, start + len(part))


def merged(spans: Iterable[Span]) -> list[Span]:
    """The spans in the order of the text; those that overlap are one, of the kind of the one that begins first.

    Of those that begin together the one that was given first names it.
    """
    joined: list[Span] = []
    for span in sorted(spans, key=lambda span: span.start):
        if joined and span.start < joined[-1].end:
            joined[-1] = joined[-1]._replace(end=max(joined[-1].end, span.end))
        else:
            joined.append(span)
    return joined
