"""Where recall keeps things on Windows when nobody says anything else, and who can read them."""

import json
import shutil
import stat
from pathlib import Path

import pytest

from wine.machine import Machine
from wine.person import Person

pytestmark = pytest.mark.wine


def closed(path: Path) -> bool:
    """Whether strangers may do nothing to it. Wine keeps an access list as a mode (and asks nobody by it)."""
    return stat.S_IMODE(path.stat().st_mode) & 0o007 == 0


def test_state_lies_in_the_local_application_data_and_the_hook_in_the_users_settings(
    machine: Machine, developer: Person
) -> None:
    data = machine.run(["cmd", "/c", "echo %LOCALAPPDATA%"]).stdout.decode().strip()
    state = machine.path(data) / "recall"
    shutil.rmtree(state, ignore_errors=True)
    developer.usual_notes()
    developer.environment |= {"RECALL_HOME": None, "CLAUDE_CONFIG_DIR": None}
    try:
        developer.said("setup")
        assert developer.json("status")["home"] == f"{data}\\recall"
        assert (state / "index.sqlite3").is_file()
        (group,) = json.loads(developer.settings.read_bytes())["hooks"]["UserPromptSubmit"]
        assert group["hooks"][0]["command"] == machine.script
        developer.said("uninstall")
        assert not developer.settings.exists()
    finally:
        developer.run("stop")
        shutil.rmtree(state)


def test_a_new_state_folder_is_its_users_only(ready: Person) -> None:
    assert closed(ready.file(ready.state))


def test_a_state_folder_that_was_open_before_is_closed_with_all_that_is_in_it(person: Person) -> None:
    inside = person.file(person.state) / "フォルダー" / "notes.txt"
    inside.parent.mkdir(parents=True)
    inside.write_text("mine")
    for path in (inside, inside.parent, person.file(person.state)):
        path.chmod(0o777)
    person.run("index")
    assert closed(person.file(person.state))
    assert closed(inside.parent)
    assert closed(inside)
