"""A state folder that was copied to another computer: the two must not take back each other's records."""

import platform
import shutil
from pathlib import Path

import pytest

from postgres import Database
from recall.core.errors import ShareError
from recall.replica.membership import plain_name
from recall.share import computer
from recall.share.membership import Joining, join, leave
from recall.wire.paths import StatePaths
from share.machines import Machine


class Computers:
    """What the system says which computer this is."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = "old"
        monkeypatch.setattr(computer, "_number", lambda: self.now)


@pytest.fixture
def computers(monkeypatch: pytest.MonkeyPatch) -> Computers:
    return Computers(monkeypatch)


def moved(machine: Machine, tmp_path: Path, name: str) -> Machine:
    """A new computer that got its state folder from another one, with notes of its own."""
    new = Machine(tmp_path, name)
    shutil.copytree(machine.paths.home, new.paths.home)
    new.paths = StatePaths(str(new.home / "state"))
    new.password = machine.password
    new.note("second", f"{name} has learned", "More.")
    return new


def joined_again(machine: Machine, database: Database, *, takes_its_place: bool) -> None:
    wanted = Joining(database.url, machine.name, moved=takes_its_place)
    join(machine.paths, wanted, lambda _: machine.password)


def test_a_copy_sends_nothing_until_it_has_joined_by_itself(
    computers: Computers, pair: list[Machine], database: Database, tmp_path: Path
) -> None:
    old, tower = pair
    computers.now = "new"
    new = moved(old, tmp_path, "new-laptop")
    with pytest.raises(ShareError, match="copied from another computer"):
        new.sync(identity="")
    assert "copied from another computer" in new.command("share", "status").stdout
    join(new.paths, Joining(database.url), lambda _: new.password)
    assert new.member.name == plain_name(platform.node().partition(".")[0]), "not what the other one is called"
    joined_again(new, database, takes_its_place=False)
    assert new.member.machine != old.member.machine
    assert not new.member.agreed, "its owner has not looked at what would leave it"
    assert new.sync(identity="").sent == 1
    new.index()
    assert new.team_names() == ["laptop: first", "tower: first"], "what the old one had sent came as another's"
    computers.now = "old"
    assert old.sync(identity="").taken_back == 0
    for machine in (tower, old):
        machine.sync(identity="")
        machine.index()
    assert tower.team_names() == ["laptop: first", "new-laptop: second"]
    assert old.team_names() == ["new-laptop: second", "tower: first"]


def test_a_computer_can_take_the_place_of_the_old_one(
    computers: Computers, pair: list[Machine], database: Database, tmp_path: Path
) -> None:
    old, tower = pair
    computers.now = "new"
    new = moved(old, tmp_path, "new-laptop")
    joined_again(new, database, takes_its_place=True)
    assert new.member.machine == old.member.machine
    done = new.sync(identity="")
    assert (done.sent, done.taken_back) == (1, 1)
    computers.now = "old"
    tower.sync(identity="")
    tower.index()
    assert tower.team_names() == ["new-laptop: second"]
    for work in (lambda: old.sync(identity=""), lambda: leave(old.paths, delete=True, password=old.password)):
        with pytest.raises(ShareError, match="another computer has taken this one's place"):
            work()
    joined_again(old, database, takes_its_place=False)
    assert old.member.machine != new.member.machine
    assert old.sync(identity="").sent == 1
    tower.sync(identity="")
    tower.index()
    assert tower.team_names() == ["laptop: first", "new-laptop: second"]


def test_a_copy_on_the_same_computer_is_one_too(
    computers: Computers, pair: list[Machine], database: Database, tmp_path: Path
) -> None:
    old = pair[0]
    new = moved(old, tmp_path, "another-home")
    for work in (lambda: new.sync(identity=""), lambda: leave(new.paths, delete=True, password=new.password)):
        with pytest.raises(ShareError, match="copied from another computer or place"):
            work()
    assert old.sync(identity="").sent == 0
    assert leave(new.paths, delete=False) == 0
    assert old.sync(identity="").sent == 0


@pytest.mark.parametrize("lost", ["emptied", "deleted"])
def test_a_membership_that_was_lost_comes_back_under_its_number(
    pair: list[Machine], database: Database, lost: str
) -> None:
    laptop, tower = pair
    machine = laptop.member.machine
    file = Path(laptop.paths.share)
    file.write_bytes(b"") if lost == "emptied" else file.unlink()
    join(laptop.paths, Joining(database.url), lambda _: laptop.password)
    assert (laptop.member.machine, laptop.member.name) == (machine, "laptop")
    laptop.note("first", "laptop knows something", "", extra="share: false\n")
    assert laptop.sync(identity="").taken_back == 1
    tower.sync(identity="")
    tower.index()
    assert tower.team_names() == []


@pytest.mark.parametrize("lost", [True, False])
def test_who_has_lost_the_membership_can_still_take_everything_back(pair: list[Machine], lost: bool) -> None:
    laptop, tower = pair
    file = Path(laptop.paths.share)
    file.unlink() if lost else file.write_bytes(b"\0" * 99)
    said = laptop.command("share", "leave", "--delete-mine", "--yes", PGPASSWORD=laptop.password).stdout
    assert "1 records are taken back" in said
    tower.sync(identity="")
    tower.index()
    assert tower.team_names() == []
