"""The packed program: built once a run, tried on machines without Python."""

import sys
from collections.abc import Iterator

import pytest

from packed.laptop import Laptop, borrowed
from packed.releases import LATER, Release, build


@pytest.fixture(scope="session")
def release() -> Release:
    """The release of these sources."""
    if sys.platform == "win32":
        pytest.skip("the packed program of Windows is tried in tests/wine")
    return build()


@pytest.fixture(scope="session")
def later() -> Release:
    """A later release that differs in its version alone."""
    return build(LATER)


@pytest.fixture
def laptop() -> Iterator[Laptop]:
    with borrowed() as laptop:
        yield laptop


@pytest.fixture
def ready(laptop: Laptop, release: Release) -> Laptop:
    """A machine on which setup has run and questions are answered."""
    laptop.set_up(release.carrier)
    return laptop
