"""A person and the client that they type into."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from claude_code.client import Client
from claude_code.messages_api import MessagesApi
from claude_code.person import Person


@pytest.fixture
def person() -> Iterator[Person]:
    home = Path(tempfile.mkdtemp(prefix="r-")).resolve()
    person = Person(home)
    yield person
    person.recall("stop")
    shutil.rmtree(home)


@pytest.fixture
def client(person: Person) -> Iterator[Client]:
    """The client of the person, before any setup."""
    with MessagesApi() as api:
        yield Client(api, person.environment, person.project)
