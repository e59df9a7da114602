"""What is true of a team: each machine's notes stand on the server once, and with every other machine once."""

import contextlib
import sqlite3
from collections.abc import Sequence
from typing import Any

import psycopg

from postgres import Database
from share.machines import Machine


def ask(database: Database, statement: str, *values: object) -> list[tuple[Any, ...]]:
    """Put a statement to the team's tables, as a member may who types SQL himself."""
    with psycopg.connect(database.url, password=database.password, autocommit=True) as connection:
        connection.execute("SET search_path = recall")
        cursor = connection.execute(statement.encode(), values or None)
        return cursor.fetchall() if cursor.description else []


def written(machine: Machine) -> list[str]:
    """The descriptions of the notes that lie in a machine's folder."""
    found = (path.read_text("utf-8") for path in (machine.folder(machine.project) / "memory").glob("*.md"))
    return sorted(text.split("description: ")[1].partition("\n")[0] for text in found)


def served(database: Database, machine: Machine) -> list[str]:
    """The descriptions of what the server has of a machine, one for each place."""
    rows = ask(
        database,
        "SELECT description FROM holding JOIN content ON content.id = content WHERE machine = %s",
        machine.member.machine,
    )
    return sorted(row[0] for row in rows)


def received(machine: Machine) -> list[tuple[str, str]]:
    """Machine and description of all that a replica holds of others."""
    with contextlib.closing(sqlite3.connect(machine.paths.share_records)) as replica:
        query = "SELECT machine, description FROM holding JOIN content ON content.id = content"
        return sorted(replica.execute(query))


def agree(database: Database, team: Sequence[Machine]) -> None:
    """Nothing is lost and nothing is double, neither on the server nor with anybody."""
    truth = {machine.member.machine: written(machine) for machine in team}
    for machine in team:
        assert served(database, machine) == truth[machine.member.machine]
    for machine in team:
        others = [(id_, text) for id_, texts in truth.items() if id_ != machine.member.machine for text in texts]
        assert received(machine) == sorted(others)
    texts = {text for texts in truth.values() for text in texts}
    assert sorted(row[0] for row in ask(database, "SELECT description FROM content")) == sorted(texts)
