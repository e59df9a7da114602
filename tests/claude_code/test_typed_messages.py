"""The whole product under the real Claude Code client: what the model gets with the messages that a person types.

The person has everything in the default places: nothing but HOME says where it is.
"""

import json
import shlex

import pytest

from claude_code.client import Client
from claude_code.person import SETTINGS, Person
from support import wait_until
from terminal import missing

pytestmark = [pytest.mark.claude_code, pytest.mark.skipif(missing() is not None, reason=str(missing()))]

JAPANESE = "git のログを見るときページャーを止めるフラグは付けるべき？"
ENGLISH = "where should I install csharpier, as a global dotnet tool or in the repository?"
UNRELATED = "who won the world cup in 1998?"
#: The notes that answer the first two, both in Japanese.
PAGER, TOOLS = "[memory] git-no-pager — ", "[memory] dotnet-local-tools — "


def test_a_typed_message_gets_its_note_in_either_language_and_an_unrelated_one_nothing(
    person: Person, client: Client
) -> None:
    person.set_up()
    with client.terminal() as terminal:
        japanese, english, unrelated = [terminal.type(prompt) for prompt in (JAPANESE, ENGLISH, UNRELATED)]
        assert terminal.notices() == []
    for added, note in ((japanese, PAGER), (english, TOOLS)):
        assert added is not None
        header, first, *_ = added.splitlines()
        assert header.startswith("関連しそうな過去の記録")
        assert first.startswith(note)
    assert unrelated is None


def test_a_program_that_asks_gets_nothing(person: Person, client: Client) -> None:
    person.set_up()
    assert client.print_mode(JAPANESE) is None
    with client.terminal() as terminal:
        assert terminal.type(JAPANESE) is not None


def test_with_the_daemon_ended_a_message_passes_unheld_and_a_later_one_is_answered(
    person: Person, client: Client
) -> None:
    person.set_up()
    person.recall("stop")
    with client.terminal() as terminal:
        assert terminal.type(JAPANESE) is None
        wait_until(lambda: person.status()["serve"]["state"] == "ready", "the daemon that the hook started is ready")
        assert PAGER in (terminal.type(JAPANESE) or "")
        assert terminal.notices() == []  # a daemon that kept the hook's streams would show here, as a time-out
    assert person.status()["hook"]["last_24h"]["timeouts"] == 0


def test_after_uninstall_the_settings_are_as_before_and_nothing_is_added(person: Person, client: Client) -> None:
    person.set_up()
    assert person.settings.read_bytes() != SETTINGS
    with client.terminal() as terminal:
        assert terminal.type(JAPANESE) is not None
        person.recall("uninstall")
        assert terminal.type(ENGLISH) is None
        assert terminal.notices() == []
    assert person.settings.read_bytes() == SETTINGS
    with client.terminal() as terminal:
        assert terminal.type(JAPANESE) is None
    assert person.status()["serve"]["state"] == "stopped"


def test_what_a_hook_adds_is_seen_in_a_terminal_and_in_print_mode(person: Person, client: Client) -> None:
    output = {"hookEventName": "UserPromptSubmit", "additionalContext": "a word from a hook"}
    person.register(f"echo {shlex.quote(json.dumps({'hookSpecificOutput': output}))}")
    assert client.print_mode(UNRELATED) == "a word from a hook"
    with client.terminal() as terminal:
        assert terminal.type(UNRELATED) == "a word from a hook"


@pytest.mark.parametrize("command", ["exit 1", "sleep 30"])
def test_a_hook_that_fails_or_hangs_would_not_go_unnoticed(person: Person, client: Client, command: str) -> None:
    person.register(command)
    with client.terminal() as terminal:
        assert terminal.type(UNRELATED) is None
        assert terminal.notices() != []
