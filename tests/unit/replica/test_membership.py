"""share.json is written and read back, and a name is plain."""

import stat
import sys
from pathlib import Path

import pytest

from recall.core.errors import ShareError
from recall.replica.membership import (
    Membership,
    is_machine,
    new_machine,
    plain_name,
    read_membership,
    write_membership,
)


def test_it_comes_back_as_it_was_written(tmp_path: Path) -> None:
    member = Membership("postgresql://h/db", new_machine(), "机-1", "aki", "t", paused=True)
    write_membership(tmp_path / "share.json", member)
    assert read_membership(tmp_path / "share.json") == member
    if sys.platform != "win32":
        assert stat.S_IMODE((tmp_path / "share.json").stat().st_mode) == 0o600
    assert read_membership(tmp_path / "none.json") is None


def test_a_folder_in_its_place_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(ShareError, match="found something else; run `recall share join`"):
        read_membership(tmp_path)


@pytest.mark.parametrize(
    ("text", "plain"),
    [("desk", "desk"), ("my desk", "my-desk"), ("a] [b", "a-b"), ("", "unnamed"), ("...", "unnamed"), ("\x1b[2J", "2J"),
     ("机", "机"), ("x" * 99, "x" * 40), ("a\nb", "a-b")],
)  # fmt: skip
def test_a_name_is_plain(text: str, plain: str) -> None:
    assert plain_name(text) == plain


@pytest.mark.parametrize("text", [None, 3, "", "g" * 32, "A" * 32, "a" * 31, "a" * 33, "a" * 32 + "\n"])
def test_what_is_no_number_of_a_machine(text: object) -> None:
    assert not is_machine(text)
