"""The whole product under the real Codex, Qwen Code and Gemini CLI: what the model gets with the messages that a
person types, and what is found of these sessions later."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from agents_cli.clients import KINDS, Client, missing
from claude_code.person import CONFIG, Person

pytestmark = [pytest.mark.agents, pytest.mark.skipif(missing() is not None, reason=str(missing()))]

JAPANESE = "git のログを見るときページャーを止めるフラグは付けるべき？"
UNRELATED = "who won the world cup in 1998"
#: The note that answers the first.
PAGER = "[memory] git-no-pager — "

Make = Callable[[str], Client]


def set_up(person: Person, client: Client) -> str:
    """`recall setup` for one agent, with a budget for a loaded machine; what it printed."""
    state = Path(person.status()["home"])
    state.mkdir(parents=True, mode=0o700, exist_ok=True)
    (state / "config.toml").write_text(CONFIG, encoding="utf-8")
    return person.recall("setup", "--agent", client.kind.name)


@pytest.mark.parametrize("name", KINDS)
def test_a_typed_message_gets_its_note_in_the_first_request_and_an_unrelated_one_nothing(
    name: str, person: Person, client: Make
) -> None:
    agent = client(name)
    set_up(person, agent)
    with agent.terminal() as terminal:
        assert PAGER in terminal.type(JAPANESE)
        assert "[memory]" not in terminal.type(UNRELATED)
        assert "hook exited" not in terminal.screen()
        assert "failed" not in terminal.screen()
    person.recall("uninstall")
    if agent.kind.settings is None:
        assert not agent.settings.exists()
    else:
        assert agent.settings.read_text(encoding="utf-8") == agent.kind.settings


def test_codex_runs_the_hook_only_for_a_person_who_has_approved_it(person: Person, client: Make) -> None:
    agent = client("codex")
    assert "after you have approved it" in set_up(person, agent)
    with agent.terminal(trust=False) as terminal:
        assert "[memory]" not in terminal.type(JAPANESE)


@pytest.mark.parametrize("name", KINDS)
def test_what_a_person_typed_is_found_later_and_what_a_program_asked_is_not(
    name: str, person: Person, client: Make
) -> None:
    agent = client(name)
    set_up(person, agent)
    asked = agent.ask("Describe the plumage of the northern goshawk in winter")
    assert "goshawk" in asked
    with agent.terminal() as terminal:
        terminal.type("Our kestrel in the shed is fed at seven in the morning")
        terminal.type(JAPANESE)
    person.recall("index")
    hits = json.loads(person.recall("query", "--json", "--kind", "conversation", "when is the kestrel fed"))["hits"]
    (hit,) = {hit["name"]: hit for hit in hits}.values()  # one session, by its title
    assert "kestrel" in hit["name"].casefold() or hit["name"].startswith("This is answer")
    assert hit["date"]
    assert str(agent.settings.parent) in hit["path"]
    found = json.loads(person.recall("query", "--json", "--kind", "conversation", "plumage of the goshawk"))["hits"]
    assert all("goshawk" not in hit["name"] and hit["path"] == hits[0]["path"] for hit in found)
