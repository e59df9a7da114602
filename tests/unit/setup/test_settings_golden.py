"""The files of tests/golden/settings: shapes that people's settings.json have, before and after setup."""

from pathlib import Path

import pytest

from recall.setup.settings import HookEntry, plan_register, plan_unregister, registered

GOLDEN = Path(__file__).parents[2] / "golden" / "settings"
NAMES = sorted(path.name.removesuffix(".before.json") for path in GOLDEN.glob("*.before.json"))
HOME = "/home/mia/.local/share/recall"
ENTRY = HookEntry(f"{HOME}/bin/recall-hook", ("hook", "--home", HOME), 5)

#: Files that hold an entry of ours, or containers that are empty, before setup: uninstall by surgery ends elsewhere.
HAD_OURS = {"older-entry", "two-entries"}
HAD_EMPTY = {"empty-hooks-odd-white-space", "blank"}


def _before(name: str) -> bytes:
    return (GOLDEN / f"{name}.before.json").read_bytes()


def _after(name: str) -> bytes:
    return (GOLDEN / f"{name}.after.json").read_bytes()


@pytest.mark.parametrize("name", NAMES)
def test_setup_makes_exactly_the_expected_file(name: str) -> None:
    assert plan_register(_before(name), ENTRY) == _after(name)


@pytest.mark.parametrize("name", NAMES)
def test_a_second_setup_changes_nothing(name: str) -> None:
    assert registered(_after(name)) == ENTRY
    assert plan_register(_after(name), ENTRY) is None


@pytest.mark.parametrize("name", sorted(set(NAMES) - HAD_OURS - HAD_EMPTY))
def test_surgical_removal_gives_the_file_back(name: str) -> None:
    assert plan_unregister(_after(name), _before(name)) == _before(name)


@pytest.mark.parametrize("name", sorted(HAD_OURS))
def test_surgical_removal_leaves_the_entries_of_others(name: str) -> None:
    left = plan_unregister(_after(name))
    assert left is not None
    assert b"echo keep-me" in left
    assert b"recall" not in left
