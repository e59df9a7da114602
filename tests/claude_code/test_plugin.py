"""The plugin under the real client: alone, beside the entry in settings.json, and without the program."""

from pathlib import Path

import pytest

from claude_code.client import Client
from claude_code.person import Person
from claude_code.plugins import ROOT, calls, claude, install_plugin, install_program
from terminal import missing

pytestmark = [pytest.mark.claude_code, pytest.mark.skipif(missing() is not None, reason=str(missing()))]

JAPANESE = "git のログを見るときページャーを止めるフラグは付けるべき？"
ENGLISH = "where should I install csharpier, as a global dotnet tool or in the repository?"
UNRELATED = "who won the world cup in 1998?"
PAGER, TOOLS = "[memory] git-no-pager — ", "[memory] dotnet-local-tools — "


def answered_once(person: Person, client: Client) -> None:
    """Two questions get their notes once each, in all that the model is sent; an unrelated message gets nothing."""
    person.recall("index")
    person.recall("query", JAPANESE)  # the daemon is warm
    with client.terminal() as terminal:
        for prompt, note in ((JAPANESE, PAGER), (ENGLISH, TOOLS)):
            since = client.api.count
            added = terminal.type(prompt)
            assert (added or "").count(note) == 1
            asked = client.api.wait_for(prompt, since, 0)
            assert asked is not None
            assert asked.whole.count(note) == 1
        assert terminal.type(UNRELATED) is None
        assert terminal.notices() == []
    day = person.status()["hook"]["last_24h"]
    assert (day["asked"], day["shown"], day["timeouts"]) == (3, 2, 0)


def test_the_client_finds_the_manifests_valid(client: Client) -> None:
    for path in (ROOT, ROOT / "plugin"):
        assert "Validation passed" in claude(client, "plugin", "validate", "--strict", str(path))


def test_the_plugin_alone(person: Person, client: Client) -> None:
    install_program(person)
    install_plugin(client, person)
    answered_once(person, client)
    assert "answered" not in calls(person)


def test_the_entry_in_settings_alone(person: Person, client: Client) -> None:
    person.set_up()
    answered_once(person, client)
    assert "answered" not in calls(person)


def test_both_together(person: Person, client: Client) -> None:
    person.set_up()
    install_plugin(client, person)
    answered_once(person, client)
    assert calls(person).count("answered") == 3  # both did call, each time


def test_a_plugin_without_the_program_says_nothing(person: Person, client: Client) -> None:
    environment = dict(client.environment)
    client.environment["PATH"] = ":".join(
        folder for folder in environment["PATH"].split(":") if not (Path(folder) / "recall").exists()
    )
    install_plugin(client, person)
    with client.terminal() as terminal:
        assert terminal.type(JAPANESE) is None
        assert terminal.notices() == []


def test_the_skill_is_offered_with_hooks_and_alone(person: Person, client: Client) -> None:
    install_plugin(client, person)
    claude(client, "plugin", "install", "recall-skill@recall")
    since = client.api.count
    client.print_mode(UNRELATED)
    asked = client.api.wait_for(UNRELATED, since, 0)
    assert asked is not None
    assert "recall:recall: Looks up" in asked.whole
    claude(client, "plugin", "disable", "recall@recall")
    since = client.api.count
    client.print_mode(UNRELATED)
    asked = client.api.wait_for(UNRELATED, since, 0)
    assert asked is not None
    assert "recall-skill:recall: Looks up" in asked.whole
