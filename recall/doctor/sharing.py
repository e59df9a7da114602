"""Sharing with the machines of a team: whether it is configured, and what it says of itself."""

from collections.abc import Iterator

from recall.doctor.case import Case, Finding


def sharing(_case: Case) -> Iterator[Finding]:
    """Off unless configured."""
    yield Finding("sharing", "ok", "off", "nothing is shared with other machines")
