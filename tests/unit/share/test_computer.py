"""Which computer this is, and whose a membership is."""

import re
import sys
from pathlib import Path

import pytest

from recall.core.errors import ShareError
from recall.replica.membership import Membership, new_machine
from recall.share import computer
from recall.share.computer import check_computer, check_writer, is_copied, this_computer
from recall.wire.paths import StatePaths

MACHINE = "a" * 32
PATHS = StatePaths("/home/of/ann/state")
MEMBER = Membership("postgresql://me@db/team", MACHINE, "desk", "aki", "t")

linux = pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="the files of Linux")


def named(monkeypatch: pytest.MonkeyPatch, *files: Path) -> None:
    monkeypatch.setattr(computer, "_FILES", files)


@linux
def test_it_is_the_same_for_the_same_machine_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    number = "3d1219c7c4c5404aaa1f6d2a48adfda4"
    (tmp_path / "id").write_text(f"{number}\n", encoding="ascii")
    named(monkeypatch, tmp_path / "none", tmp_path / "id")
    here = this_computer(PATHS, MACHINE)
    assert re.fullmatch(r"[0-9a-f]{32}", here)
    assert here == this_computer(PATHS, MACHINE)
    assert here != this_computer(PATHS, new_machine())
    assert number not in here
    assert here != this_computer(StatePaths("/home/of/ann/copy"), MACHINE)
    (tmp_path / "id").write_text("another one\n", encoding="ascii")
    assert this_computer(PATHS, MACHINE) != here


@linux
@pytest.mark.parametrize("data", [b"", b"\n", b"\xff\xfe"])
def test_a_system_without_a_number_is_no_other_computer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: bytes
) -> None:
    (tmp_path / "id").write_bytes(data)
    for files in ([tmp_path / "id"], [tmp_path], [tmp_path / "none"]):
        named(monkeypatch, *files)
        assert this_computer(PATHS, MACHINE) == ""
        check_computer(PATHS, Membership("u", MACHINE, "n", "p", "t", computer="of-another-one"))


def test_this_system_has_one_or_none() -> None:
    assert re.fullmatch(r"([0-9a-f]{32})?", this_computer(PATHS, MACHINE))


@linux
def test_a_membership_that_another_computer_made_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "id").write_text("one", encoding="ascii")
    named(monkeypatch, tmp_path / "id")
    own = Membership("u", MACHINE, "n", "p", "t", computer=this_computer(PATHS, MACHINE))
    for member in (own, MEMBER):  # of one that was made before this was noted nothing is known
        assert not is_copied(PATHS, member)
        check_computer(PATHS, member)
    (tmp_path / "id").write_text("two", encoding="ascii")
    assert is_copied(PATHS, own)
    with pytest.raises(ShareError, match=r"copied from another computer.*recall share join.*--moved"):
        check_computer(PATHS, own)


def test_a_machine_in_whose_name_another_computer_writes_is_refused() -> None:
    own = Membership("u", MACHINE, "n", "p", "t", computer="one")
    for writer in ("", "one"):
        check_writer(own, writer)
    check_writer(MEMBER, "two")
    with pytest.raises(ShareError, match=r"taken this one's place .*recall share join"):
        check_writer(own, "two")
