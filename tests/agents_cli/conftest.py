"""A person and the agents that they type into."""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agents_cli.clients import KINDS, Client
from agents_cli.model_api import ModelApi
from claude_code.person import Person


@pytest.fixture
def person() -> Iterator[Person]:
    home = Path(tempfile.mkdtemp(prefix="r-")).resolve()
    person = Person(home)
    yield person
    person.recall("stop")
    shutil.rmtree(home, ignore_errors=True)  # a client may write into it a moment longer


@pytest.fixture
def client(person: Person) -> Iterator[Callable[[str], Client]]:
    """Makes the client of this name, before any setup."""
    with ModelApi() as api:
        yield lambda name: Client(KINDS[name], api, person.environment, person.project)
