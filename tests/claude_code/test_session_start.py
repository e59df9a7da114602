"""The start of a session under the real client: the decisions of the repository, once a conversation."""

import json
from pathlib import Path

import pytest

from claude_code.client import Client, Terminal
from claude_code.person import Person
from claude_code.plugins import install_plugin
from support import wait_until
from terminal import missing

pytestmark = [pytest.mark.claude_code, pytest.mark.skipif(missing() is not None, reason=str(missing()))]

#: The person's notes are Japanese, so is the header.
HEADER = "このリポジトリで採用済みの決定記録"
DECISION = "- 0031 Use NATS as the message queue"


def decide(person: Person) -> None:
    for number, title, status in ((31, "Use NATS as the message queue", "Accepted"), (40, "Use QUIC", "Proposed")):
        path = person.project / "docs" / "adr" / f"{number:04}-x.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# {number}. {title}\n\n## Status\n\n{status}\n\n## Decision\n\nWe do.\n", encoding="utf-8")


def written(person: Person) -> bool:
    return any(DECISION in path.read_text("utf-8") for path in person.settings.parent.glob("projects/*/*.jsonl"))


def times_listed(client: Client, terminal: Terminal, prompt: str) -> int:
    """How often the list stands in all that the model is sent with this message."""
    since = client.api.count
    terminal.type(prompt)
    asked = client.api.wait_for(prompt, since, 0)
    assert asked is not None
    assert asked.whole.count(HEADER) == asked.whole.count(DECISION)
    assert "QUIC" not in asked.whole
    return asked.whole.count(HEADER)


@pytest.fixture
def decided(person: Person, client: Client) -> Person:
    """A repository with a decision, known to the client, with the plugin and a warm daemon."""
    decide(person)
    client.print_mode("good morning")  # the records of a repository count once Claude Code has run there
    person.set_up()
    install_plugin(client, person)
    assert DECISION.removeprefix("- ") in person.recall("query", "which message queue do we use?")
    return person


def test_the_list_comes_with_the_first_message_and_not_again_until_clear(decided: Person, client: Client) -> None:
    with client.terminal() as terminal:
        assert times_listed(client, terminal, "good morning to you") == 1
        assert times_listed(client, terminal, "how are you today?") == 1  # the first one, further up
        terminal.clear()
        assert times_listed(client, terminal, "let us begin anew") == 1
        assert times_listed(client, terminal, "and now go on, please") == 1
        assert terminal.notices() == []
    state = Path(decided.status()["home"])
    lines = [json.loads(line) for line in (state / "injections.jsonl").read_text("utf-8").splitlines()]
    starts = [(line["source"], line["reason"]) for line in lines if line.get("event") == "SessionStart"]
    assert starts == [("startup", "decisions"), ("clear", "decisions")]


def test_with_an_entry_in_settings_as_well_the_list_comes_once(decided: Person, client: Client) -> None:
    settings = json.loads(decided.settings.read_text("utf-8"))
    settings["hooks"]["SessionStart"] = settings["hooks"]["UserPromptSubmit"]
    decided.settings.write_text(json.dumps(settings), encoding="utf-8")
    with client.terminal() as terminal:
        assert times_listed(client, terminal, "good morning to you") == 1
        assert terminal.notices() == []
    state = Path(decided.status()["home"])
    lines = [json.loads(line) for line in (state / "injections.jsonl").read_text("utf-8").splitlines()]
    starts = sorted(line["reason"] for line in lines if line.get("event") == "SessionStart")
    assert starts == ["answered", "decisions"]


def test_a_resumed_session_is_not_told_again(decided: Person, client: Client) -> None:
    with client.terminal() as terminal:
        assert times_listed(client, terminal, "good morning to you") == 1
        wait_until(lambda: written(decided), "the client has written the list into the transcript")
    with client.terminal("--continue") as again:
        assert times_listed(client, again, "here I am again") == 1


def test_a_program_that_asks_gets_no_list(decided: Person, client: Client) -> None:
    since = client.api.count
    client.print_mode("good morning to you")
    asked = client.api.wait_for("good morning to you", since, 0)
    assert asked is not None
    assert HEADER not in asked.whole
