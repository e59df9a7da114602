"""Muting a machine or a person of the team silences what they alone hold, and nothing that others hold as well."""

import re
import secrets
from pathlib import Path

import pytest

from postgres import Database
from recall.replica.team import Team
from share.holdings import ask
from share.machines import Machine, exchanged


@pytest.fixture
def three(tmp_path: Path, database: Database) -> list[Machine]:
    """Ann and Bob hold the same note and one of their own each; Chie reads."""
    machines = [Machine(tmp_path, name, person) for name, person in (("a", "ann"), ("b", "bob"), ("c", "chie"))]
    for machine in machines[:2]:
        machine.note("deploy", "How releases are deployed to production", "By hand, on Mondays.")
        machine.note("own", f"{machine.person} knows where the coffee is", "In the kitchen.")
    for machine in machines:
        machine.join(database.url, database.password, make=machine is machines[0])
    exchanged(machines)
    machines[2].index()
    return machines


def shown(machine: Machine) -> list[str]:
    machine.index()
    return sorted(f"{record.origin}: {record.description}" for record in machine.records() if record.origin)


def answers(machine: Machine) -> list[str]:
    """Whose records the hook hands over for a question about the note that two hold."""
    machine.serve()
    said = machine.context("how are releases deployed to production?", secrets.token_hex(4))
    machine.command("stop")
    return re.findall(r"@\w+", said or "")


@pytest.mark.parametrize("words", [("--machine", "a"), ("--person", "Ann")])
def test_what_another_one_holds_as_well_is_shown_as_theirs(three: list[Machine], words: tuple[str, str]) -> None:
    chie = three[2]
    both = "How releases are deployed to production"
    before = shown(chie)
    assert f"a: {both}" in before
    id_ = next(path for path, offer in Team(chie.paths).offers.items() if offer.origin == "a")
    chie.command("mute", *words)
    assert f"b: {both}" in shown(chie)
    assert answers(chie) == ["@b"]
    assert chie.command("share", "show", id_).stdout, "a headline of before still leads to its text"
    chie.command("mute", *(("--machine", "b") if words[0] == "--machine" else ("--person", "bob")))
    assert [line for line in shown(chie) if both in line] == [f"a: {both}"]
    assert answers(chie) == [], "all who hold it are muted"
    chie.command("unmute", *words)
    chie.command("unmute", *(("--machine", "b") if words[0] == "--machine" else ("--person", "bob")))
    assert shown(chie) == before


def test_who_holds_everything_in_the_first_place_hides_nothing_when_muted(
    three: list[Machine], database: Database, tmp_path: Path
) -> None:
    before = shown(three[2])
    ask(database, "INSERT INTO machine (id, name, person) VALUES (repeat('0', 32), 'mallory', 'mallory')")
    ask(
        database,
        """INSERT INTO holding SELECT repeat('0', 32), sha256(place || machine::bytea), content, project, path, 0
        FROM holding WHERE content IS NOT NULL""",
    )
    newcomer = Machine(tmp_path, "d", "dan")
    newcomer.join(database.url, database.password)
    newcomer.sync(identity="")
    assert all(line.startswith("mallory: ") for line in shown(newcomer))
    newcomer.command("mute", "--machine", "mallory")
    assert shown(newcomer) == before
