"""The whole product under the real Codex, Qwen Code and Gemini CLI: what the model gets with the messages that a
person types, and what is found of these sessions later."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from agents_cli.clients import KINDS, Client
from claude_code.person import CONFIG, Person
from terminal import missing

pytestmark = [pytest.mark.agents, pytest.mark.skipif(missing() is not None, reason=str(missing()))]

JAPANESE = "git のログを見るときページャーを止めるフラグは付けるべき？"
UNRELATED = "who won the world cup in 1998"
#: The note that answers the first.
PAGER = "[memory] git-no-pager — "
#: How the list of decisions begins; the person's notes are Japanese.
DECISIONS = "このリポジトリで採用済みの決定記録"

Make = Callable[[str], Client]


def set_up(person: Person, client: Client, *options: str) -> str:
    """`recall setup` for one agent, with a budget for a loaded machine; what it printed."""
    state = Path(person.status()["home"])
    state.mkdir(parents=True, mode=0o700, exist_ok=True)
    (state / "config.toml").write_text(CONFIG, encoding="utf-8")
    return person.recall("setup", "--agent", client.kind.name, *options)


def decide(person: Person) -> None:
    """A decision record in the person's repository, which they have run Claude Code in and trust."""
    record = person.project / "docs" / "adr" / "0031-queue.md"
    record.parent.mkdir(parents=True)
    record.write_text("# 31. Use NATS as the message queue\n\n## Status\n\nAccepted\n\n## Decision\n\nWe do.\n")
    home = person.settings.parents[1]
    trusted = {"projects": {str(person.project): {"hasTrustDialogAccepted": True}}}
    (home / ".claude.json").write_text(json.dumps(trusted))
    (folder,) = (home / ".claude" / "projects").iterdir()
    (folder / "s.jsonl").write_text(json.dumps({"type": "user", "cwd": str(person.project)}) + "\n")


@pytest.mark.parametrize("name", KINDS)
def test_a_typed_message_gets_its_note_in_the_first_request_and_an_unrelated_one_nothing(
    name: str, person: Person, client: Make
) -> None:
    agent = client(name)
    set_up(person, agent)
    with agent.terminal() as terminal:
        assert PAGER in terminal.type(JAPANESE).added
        assert "[memory]" not in terminal.type(UNRELATED).added
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
        assert "[memory]" not in terminal.type(JAPANESE).whole


@pytest.mark.parametrize("name", KINDS)
def test_a_session_begins_with_the_accepted_decisions_of_the_repository(
    name: str, person: Person, client: Make
) -> None:
    agent = client(name)
    decide(person)
    set_up(person, agent, "--session-start")
    with agent.terminal() as terminal:
        first, second = terminal.type("good morning to you"), terminal.type("and how are you today")
    journal = Path(person.status()["home"]) / "injections.jsonl"
    lines = [json.loads(line) for line in journal.read_text(encoding="utf-8").splitlines()]
    assert [line["source"] for line in lines if line.get("event") == "SessionStart"] == ["startup"]
    # Qwen Code 0.15.10 calls the hook at that moment and drops what it prints.
    times = 0 if name == "qwen" else 1
    assert (first.whole.count(DECISIONS), first.whole.count("- 0031 Use NATS")) == (times, times)
    assert second.whole.count(DECISIONS) == times  # the first one, further up
    assert DECISIONS not in second.added
    person.recall("uninstall")
    assert agent.kind.settings is not None or not agent.settings.exists()


@pytest.mark.parametrize("name", KINDS)
def test_what_a_person_typed_is_found_later_and_what_a_program_asked_is_not(
    name: str, person: Person, client: Make
) -> None:
    agent = client(name)
    set_up(person, agent)
    agent.ask("Describe the plumage of the northern goshawk in winter")
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
