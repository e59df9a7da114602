"""Two machines as their owners use them: commands, daemons and the hook, with a real server."""

import json
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from postgres import Database
from recall.wire.lock import HeldLock
from share.machines import Machine
from support import wait_until

QUESTION = "may I mock the database in the integration tests?"
QUESTION_JA = "統合テストでデータベースをモックしてもいいですか？"


@pytest.fixture
def pair(tmp_path: Path, database: Database) -> Iterator[tuple[Machine, Machine]]:
    """Aki's and Ben's machines in one team, made and joined by the command, the password kept."""
    aki, ben = Machine(tmp_path, "desk-aki", "aki"), Machine(tmp_path, "laptop-ben", "ben")
    for verb, machine in (("init", aki), ("join", ben)):
        words = ("--name", machine.name, "--person", machine.person, "--keep-password")
        machine.command("share", verb, database.url, *words, PGPASSWORD=database.password)
    yield aki, ben
    for machine in (aki, ben):
        if HeldLock.is_held(machine.paths.daemon_lock):
            machine.command("stop")


def test_what_one_learned_the_other_is_told(pair: tuple[Machine, Machine]) -> None:
    aki, ben = pair
    note = aki.note("real-database", "Integration tests use a real database, never a mock", "Mocks hid a broken query.")
    ben.note("deploys", "Deploys run on Tuesdays only", "The office is empty on Fridays.")
    for machine in (aki, ben):
        machine.command("index")
    aki.command("share", "sync")
    done = json.loads(ben.command("share", "sync", "--json").stdout)
    assert (done["sent"], done["received"], done["refused"]) == (1, 1, 0)
    assert json.loads(ben.command("index", "--json").stdout)["chunks_embedded"] == 0

    ben.serve()
    told = ben.context(QUESTION)
    assert told is not None
    (line,) = [line for line in told.splitlines() if "real-database" in line]
    assert line.startswith("[memory @desk-aki] real-database — Integration tests use a real database, never a mock (")
    shown = ben.command("share", "show", line.rpartition("recall share show ")[2].rstrip(")"))
    assert "Mocks hid a broken query." in shown.stdout
    assert "aki" in shown.stdout
    assert "reference, not instructions" in shown.stdout
    assert "[memory @desk-aki]" in (ben.context(QUESTION_JA, "s-2") or "")

    # Of the repository that both know by one name, and of no other.
    asked = json.loads(ben.command("query", "--repo", "api", "--json", QUESTION).stdout)
    notes = [hit for hit in asked["hits"] if hit["kind"] == "memory"]
    assert [hit.get("origin") for hit in notes] == ["desk-aki", None]

    note.unlink()
    aki.command("share", "sync")
    ben.command("share", "sync")
    assert ben.context(QUESTION, "s-3") is None


def test_a_machine_or_a_person_can_be_muted(pair: tuple[Machine, Machine]) -> None:
    aki, ben = pair
    aki.note("real-database", "Integration tests use a real database, never a mock", "Mocks hid a broken query.")
    aki.command("index")
    aki.command("share", "sync")
    ben.command("share", "sync")
    ben.serve()
    assert ben.context(QUESTION) is not None
    for way in (("--machine", "desk-aki"), ("--person", "aki"), ("real-database",)):
        ben.command("mute", *way)
        assert ben.context(QUESTION, f"muted-{way[0]}") is None
        assert "1" in str(len(json.loads(ben.command("mute", "--list", "--json").stdout)["mutes"]))
        ben.command("unmute", *way)
        assert ben.context(QUESTION, f"unmuted-{way[0]}") is not None
    refused = ben.command("mute", "--machine", "nobody", check=False)
    assert refused.returncode == 2
    assert "desk-aki" in refused.stderr


def test_the_daemon_exchanges_by_itself_while_it_is_in_use(pair: tuple[Machine, Machine]) -> None:
    aki, ben = pair
    aki.note("real-database", "Integration tests use a real database, never a mock", "Mocks hid a broken query.")
    aki.command("index")
    aki.command("share", "sync")
    ben.command("share", "sync")  # the first time by hand
    aki.note("second", "Migrations run before the service starts", "An old one broke the start.")
    aki.command("share", "sync")
    ben.configure("[daemon]\nscan_seconds = 1\n")
    ben.serve()
    wait_until(
        lambda: (
            "second"
            in (ben.context("do migrations run before or after the service starts?", os.urandom(4).hex()) or "")
        ),
        "the daemon has fetched and indexed it",
    )
    log = Path(ben.paths.daemon_log).read_text()
    assert "exchange" in log
    assert "desk-aki" not in log
    if sys.platform == "linux":
        assert "psycopg" not in Path(f"/proc/{_pid(ben)}/maps").read_text()


def test_pausing_leaving_and_taking_back(pair: tuple[Machine, Machine], database: Database) -> None:
    aki, ben = pair
    aki.note("real-database", "Integration tests use a real database, never a mock", "Mocks hid a broken query.")
    ben.note("deploys", "Deploys run on Tuesdays only", "The office is empty on Fridays.")
    for machine in (aki, ben, aki):
        machine.command("index")
        machine.command("share", "sync")

    for machine in (aki, ben):
        machine.serve()
    aki.command("share", "pause")
    refused = aki.command("share", "sync", check=False)
    assert refused.returncode == 1
    assert "resume" in refused.stderr
    assert json.loads(aki.command("status", "--json").stdout)["share"]["paused"] is True
    assert "deploys" in (aki.context("on which days do we deploy the service?") or "")
    aki.command("share", "resume")
    aki.command("share", "sync")

    refused = aki.command("uninstall", "--purge", check=False)
    assert (refused.returncode, "leave" in refused.stderr) == (2, True)
    assert Path(aki.paths.index).exists()

    aki.command("share", "leave", "--delete-mine", "--yes")
    assert not any(Path(path).exists() for path in (aki.paths.share, aki.paths.share_password))
    assert aki.context("on which days do we deploy the service?", "s-9") is None
    assert b"Mocks hid" not in database.dump()
    ben.command("share", "sync")
    assert ben.context(QUESTION) is None
    assert "no team" in aki.command("share", "status").stdout
    assert json.loads(aki.command("status", "--json").stdout)["share"] is None


def test_the_password_is_nowhere_but_in_its_file(pair: tuple[Machine, Machine], database: Database) -> None:
    aki, _ = pair
    aki.note("real-database", "Integration tests use a real database", "Always.")
    aki.command("index")
    said = aki.command("share", "sync").stdout + aki.command("share", "status").stdout + aki.command("status").stdout
    assert database.password not in said
    holding = [
        path
        for path in Path(aki.paths.home).rglob("*")
        if path.is_file() and database.password.encode() in path.read_bytes()
    ]
    assert holding == [Path(aki.paths.share_password)]
    if os.name == "posix":
        for name in ("share.pass", "share.json", "share.sqlite3"):
            assert stat.S_IMODE((Path(aki.paths.home) / name).stat().st_mode) == 0o600


def _pid(machine: Machine) -> int:
    return int(json.loads(machine.command("status", "--json").stdout)["serve"]["pid"])
