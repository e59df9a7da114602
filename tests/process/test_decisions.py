"""What the daemon decides on a message is what `why` and `report` tell of it; what is muted, it leaves out."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from support import Sandbox

QUESTION = "which port does the staging database listen on?"
OTHER = "is it fine to deploy the release on a Friday afternoon?"


@pytest.fixture
def ready(sandbox: Sandbox) -> Sandbox:
    """A sandbox with notes and a warm daemon."""
    sandbox.note("staging-port", "The staging database listens on port 6543, not 5432", "It was moved in May.")
    sandbox.note("no-friday-deploys", "Never deploy on a Friday afternoon", "Nobody is there when it breaks.")
    sandbox.note("reviews", "Two people read every change of the billing code", "One of them knows the taxes.")
    sandbox.start()
    return sandbox


def typed(sandbox: Sandbox, session: str, prompt: str, prompt_id: str) -> str | None:
    """Type a prompt as a person does: the hook answers, then Claude Code writes it into the transcript."""
    context = sandbox.context(prompt, session_id=session, prompt_id=prompt_id)
    transcript = sandbox.claude_folder(sandbox.project) / f"{session}.jsonl"
    line = {
        "type": "user",
        "uuid": prompt_id,
        "promptId": prompt_id,
        "sessionId": session,
        "cwd": str(sandbox.project),
        "entrypoint": "cli",
        "origin": {"kind": "human"},
        "timestamp": datetime.now(UTC).isoformat(),
        "message": {"role": "user", "content": prompt},
    }
    with transcript.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")
    return context


def by_file(ranked: list[dict[str, Any]]) -> dict[str, Any]:
    return {Path(hit["path"]).stem: hit["became"] for hit in ranked}


def test_why_tells_what_became_of_a_message_as_long_as_the_transcript_is_there(ready: Sandbox) -> None:
    canary = "Quetzalcoatlus7391"
    assert "staging-port" in (typed(ready, "s-1", f"{QUESTION} {canary}", "p-1") or "")
    found = ready.json("why")
    assert (found["message"], found["project"], found["session"]) == (f"{QUESTION} {canary}", "project", "s-1")
    assert (found["answered"], found["searched"]) == (True, True)
    assert found["tier"] in ("some", "strong")
    assert 0 < found["probability"] <= 1
    assert set(found["signs"]) == {"cosine", "score", "length", "everyday", "words"}
    assert Path(found["ranked"][0]["path"]).stem == "staging-port"
    assert by_file(found["ranked"]).keys() == {"staging-port", "no-friday-deploys", "reviews"}
    assert by_file(found["ranked"])["staging-port"] == "shown"
    assert [hit["score"] for hit in found["ranked"]] == sorted((h["score"] for h in found["ranked"]), reverse=True)
    text = ready.run("why").stdout
    assert canary in text
    assert "SHOWN" in text
    assert "likely wanted" in text

    (ready.claude_folder(ready.project) / "s-1.jsonl").unlink()
    assert ready.json("why")["message"] is None
    assert "not in Claude Code's transcripts" in ready.run("why").stdout
    ready.close()
    files = [path for path in ready.state.rglob("*") if path.is_file()]
    assert [path for path in files if canary.encode() in path.read_bytes()] == []


def test_why_says_what_was_held_back_and_what_was_not_searched(ready: Sandbox) -> None:
    typed(ready, "s-1", QUESTION, "p-1")
    typed(ready, "s-1", QUESTION, "p-2")
    ready.context("/clear", session_id="s-2", prompt_id="p-3")
    last = ready.json("why")
    assert (last["session"], last["reason"], last["searched"], last["message"]) == ("s-2", "command", False, None)
    assert "not searched: it is a command" in ready.run("why").stdout
    second = ready.json("why", "--session", "s-1")
    assert (second["prompt"], second["message"]) == ("p-2", QUESTION)
    assert Path(second["held"][0]).stem == "staging-port"
    assert by_file(second["ranked"])["staging-port"] == "held"
    assert "held back" in ready.run("why", "--session", "s-1").stdout


def test_a_muted_note_comes_no_more_where_it_was_muted_until_it_is_unmuted(ready: Sandbox) -> None:
    other = ready.home / "other"
    (other / ".git").mkdir(parents=True)
    ready.note("staging-port", "The staging database of the other project", "It has port 7000.", project=other)
    ready.json("index")
    ambiguous = ready.run("mute", "staging-port", check=False)
    assert ambiguous.returncode == 2
    assert ambiguous.stderr.count("staging-port.md") == 2
    assert ready.run("mute", "no such note", check=False).returncode == 2
    note = str(ready.claude_folder(ready.project) / "memory" / "staging-port.md")

    assert "6543" in (typed(ready, "s-0", QUESTION, "p-0") or "")
    done = ready.json("mute", note)
    assert [(mute["path"], mute["scope"]) for mute in done["mutes"]] == [(note, "forever")]
    assert done["mutes"][0]["signs"] == ready.json("why")["signs"]  # what made recall say it, to learn from
    assert "6543" not in (typed(ready, "s-1", QUESTION, "p-1") or "")
    why = ready.json("why")
    assert why["muted"] == 1
    assert "muted    1 of `recall mute --list`" in ready.run("why").stdout
    assert note not in [hit["path"] for hit in why["ranked"]]
    assert "staging-port.md" in ready.run("mute", "--list").stdout
    assert "muted already" in ready.run("mute", note).stdout

    assert len(ready.json("unmute", "staging-port")["mutes"]) == 1
    assert "nothing is muted" in ready.run("mute", "--list").stdout
    ready.run("mute", note, "--session", "s-2")
    assert "6543" not in (typed(ready, "s-2", QUESTION, "p-2") or "")
    assert "6543" in (typed(ready, "s-3", QUESTION, "p-3") or "")
    ready.run("unmute", note)
    ready.run("mute", note, "--project")
    assert "6543" not in (typed(ready, "s-4", QUESTION, "p-4") or "")
    assert [mute["of"] for mute in ready.json("mute", "--list")["mutes"]] == [str(ready.project.resolve())]
    ready.run("unmute", note)
    assert "6543" in (typed(ready, "s-4", QUESTION, "p-5") or "")
    assert ready.run("unmute", note, check=False).returncode == 2


def test_the_report_counts_what_the_hook_did(ready: Sandbox) -> None:
    typed(ready, "s-1", QUESTION, "p-1")
    typed(ready, "s-2", QUESTION, "p-2")
    typed(ready, "s-2", OTHER, "p-3")
    ready.context("/clear", session_id="s-2", prompt_id="p-4")
    with Path(ready.paths.hook_log).open("a", encoding="ascii") as file:
        file.write(f"{datetime.now().isoformat(timespec='seconds')} timeout 300\n2001-01-01T00:00:00 timeout 300\n")
    found = ready.json("report")
    assert (found["messages"], found["sessions"], found["searched"], found["timeouts"]) == (5, 2, 3, 1)
    assert found["spoken"] == 3
    assert found["silent"] == {"command": 1}
    shown = {Path(path).stem: count for path, count in found["shown"].items()}
    assert (shown["staging-port"], shown["no-friday-deploys"]) == (2, 1)
    assert found["lines"]["memory"] == sum(shown.values())
    assert {Path(path).stem for path in found["never_shown"]} == {"staging-port", "no-friday-deploys", "reviews"} - {
        *shown
    }
    assert 0 < found["p50"] <= found["p95"]
    text = ready.run("report", "--days", "1").stdout
    assert "messages   5 in 2 sessions, 3 searched" in text
    assert "time-outs  1" in text
    assert "command" in text
