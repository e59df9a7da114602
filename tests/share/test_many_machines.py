"""Twenty machines with a real server: what one writes, changes or deletes, all others have, change and lose."""

import secrets
from pathlib import Path

from postgres import Database
from share.machines import Machine

#: Told apart from everything else in a dump of the database.
HOME_CANARY = "canary-stays-at-home-5f1c"
QUESTION_CANARY = "canary-question-of-a-person-77ab"
#: Made up; with AKIA before it a key of AWS by its form.
KEY = "Q7Z4M2X5L5K3J6H2"
TITLE = "Why the nightly import stalls"
SHARED_RULE = "---\nname: retries\ndescription: Retry three times with a growing pause\n---\n\nNever retry a payment.\n"


def team_of(count: int, folder: Path, database: Database) -> list[Machine]:
    """Machines that have joined one team, with records of their own each and one repository cloned everywhere."""
    team = [Machine(folder, f"laptop-{number:02}") for number in range(count)]
    for number, machine in enumerate(team):
        machine.note(f"port-{number}", f"Service {number} listens on port {9000 + number}", f"Set in unit {number}.")
        machine.rule("retries", SHARED_RULE)
        machine.join(database.url, database.password, make=number == 0)
        machine.index()
    return team


def everything(team: list[Machine], rounds: int = 2) -> None:
    """Each exchanges twice: what the last one brings, the first one gets in the second round."""
    for _ in range(rounds):
        for machine in team:
            machine.sync()


def test_records_edits_and_deletions_of_each_reach_all(tmp_path: Path, database: Database) -> None:
    machines = team_of(20, tmp_path, database)
    first, second, last = machines[0], machines[1], machines[-1]
    first.note("secret", "Where the key is", "The key is AKIA" + KEY)
    first.note("plans", "Shared until it is taken back", "We open in Osaka.")
    first.note("private", HOME_CANARY, HOME_CANARY, extra="share: false\n")
    first.open_session(first.project, "talk", TITLE, f"{QUESTION_CANARY} why does the import stall at night?")
    first.open_session(first.project, "untitled", "", f"{QUESTION_CANARY} what is an index?")
    first.index()
    everything(machines)

    embedded = [machine.index().chunks_embedded for machine in (second, last)]
    # The titles of sessions were embedded by nobody yet; every note and rule was, by its own machine.
    assert embedded == [1, 1]
    for machine in (second, last):
        own = int(machine.name[-2:])
        others = [f"laptop-{number:02}: port-{number}" for number in range(20) if number != own]
        assert machine.team_names() == sorted([*others, "laptop-00: plans", "laptop-00: secret", f"laptop-00: {TITLE}"])
    assert [r.name for r in last.records() if r.kind == "knowledge"] == ["retries"], "a clone's rule is one with ours"

    machines[3].note("port-3", "Service 3 moved to port 9103", "Since August.")
    (machines[4].folder(machines[4].project) / "memory" / "port-4.md").unlink()
    (first.folder(first.project) / "memory" / "plans.md").write_text("---\nname: plans\nshare: false\n---\nmine\n")
    everything(machines, rounds=1)
    last.sync()
    last.index()
    names = {record.name: record.description for record in last.records() if record.origin is not None}
    assert names["port-3"] == "Service 3 moved to port 9103"
    assert "port-4" not in names
    assert "plans" not in names
    assert "secret" in names
    assert len(names) == 19 - 1 + 2

    dump = database.dump()
    for canary in ("We open in Osaka", HOME_CANARY, QUESTION_CANARY, KEY, str(first.home)):
        assert canary.encode() not in dump, f"{canary} reached the server"
    assert TITLE.encode() in dump
    assert all(vector in dump for vector in machines[2].vectors("memory")), "what the model made of notes is not there"
    said = [vector for machine in machines for vector in machine.vectors("conversation")]
    assert len(said) >= 3  # of the messages that were typed on the first machine
    assert not any(vector in dump for vector in said), "what the model made of a person's message reached the server"
    assert dump.count(b"Never retry a payment") == 1


def test_a_machine_that_was_away_for_long_catches_up(tmp_path: Path, database: Database) -> None:
    machines = team_of(4, tmp_path, database)
    traveller, others = machines[0], machines[1:4]
    everything([traveller, *others])
    for round_ in range(30):
        machine = others[round_ % 3]
        machine.note(f"news-{round_}", f"News number {round_}", secrets.token_hex(8))
        if round_ >= 10:
            (machine.folder(machine.project) / "memory" / f"news-{round_ - 9}.md").unlink(missing_ok=True)
        machine.sync()
    traveller.sync()
    traveller.index()
    kept = {r.name for r in traveller.records() if r.origin and r.name.startswith("news-")}
    there = {path.stem for m in others for path in (m.folder(m.project) / "memory").glob("news-*.md")}
    assert kept == there


def test_of_a_rule_that_is_here_no_other_version_is_shown(tmp_path: Path, database: Database) -> None:
    machines = team_of(2, tmp_path, database)
    one, other = machines[0], machines[1]
    other.rule("retries", SHARED_RULE.replace("three times", "five times"))
    other.rule("naming", "---\nname: naming\ndescription: Tables are named in the plural\n---\n\nAs in orders.\n")
    everything([other, one])
    one.index()
    assert one.team_names() == ["laptop-01: naming", "laptop-01: port-1"]


def test_only_the_projects_and_kinds_that_are_wanted_leave(tmp_path: Path, database: Database) -> None:
    machines = team_of(2, tmp_path, database)
    sender, receiver = machines[0], machines[1]
    other = sender.home / "work" / "diary"
    (other / ".git").mkdir(parents=True)
    sender.open_session(other, "opened-there")
    sender.note("dear", "Dear diary", "It rained.", project=other)
    sender.configure('[share]\nkinds = ["memory"]\nnot_projects = ["diary"]\n')
    everything([sender, receiver])
    receiver.index()
    assert [n for n in receiver.team_names() if "laptop-00" in n] == ["laptop-00: port-0"]

    sender.configure('[share]\nprojects = ["diary"]\n')
    everything([sender, receiver])
    receiver.index()
    assert [n for n in receiver.team_names() if "laptop-00" in n] == ["laptop-00: dear"]


def test_what_came_without_vectors_of_ones_own_model_is_embedded_here(tmp_path: Path, database: Database) -> None:
    other, mine = team_of(2, tmp_path, database)
    other.sync(identity="another-model@0123456789ab")  # of which its index has nothing to give
    mine.sync()
    assert mine.index().chunks_embedded > 0
    assert mine.team_names() == ["laptop-00: port-0"]
