"""The Windows machine for all tests, and a person with a program for each."""

import shutil
from collections.abc import Callable, Iterator

import pytest

from wine.machine import Machine, missing, running_machine
from wine.packed import packed
from wine.person import Person

#: How a command of recall is called: the packed program, the console script, Python itself.
_PROGRAMS: dict[str, Callable[[Machine], list[str]]] = {
    "packed": lambda machine: [packed(machine)],
    "script": lambda machine: [machine.script],
    "source": lambda machine: [machine.python, "-m", "recall"],
}


@pytest.fixture(scope="session")
def machine() -> Iterator[Machine]:
    lacking = missing()
    if lacking:
        pytest.skip(lacking)
    with running_machine() as machine:
        yield machine


@pytest.fixture(scope="session", params=["source", "packed"])
def program(request: pytest.FixtureRequest, machine: Machine) -> list[str]:
    """Each test that takes a person runs twice, with recall from source and with the packed program."""
    return _PROGRAMS[request.param](machine)


@pytest.fixture
def person(machine: Machine, program: list[str], request: pytest.FixtureRequest) -> Iterator[Person]:
    """A person without notes, whose folders are new."""
    yield from _person(machine, program)


@pytest.fixture
def developer(machine: Machine) -> Iterator[Person]:
    """A person who has installed recall with pip and calls its console script."""
    yield from _person(machine, _PROGRAMS["script"](machine))


def _person(machine: Machine, program: list[str]) -> Iterator[Person]:
    shutil.rmtree(machine.path("C:\\人 びと"), ignore_errors=True)
    person = Person(machine, "花子", program)
    try:
        yield person
    finally:
        person.close()


@pytest.fixture
def ready(person: Person) -> Person:
    """A person with three notes and a warm daemon."""
    person.usual_notes()
    person.start()
    return person
