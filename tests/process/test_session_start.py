"""The start of a session, through real daemons: accepted decisions once a conversation, and a daemon that is warm."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from recall.wire.transport import ask
from support import Sandbox, wait_until

QUESTION = "which port does the staging database listen on?"
QUEUE = "Which message queue do our services use between them?"
HEADER = "Accepted decision records of this repository"


def write(sandbox: Sandbox, name: str, title: str, status: str, decision: str = "We do.") -> Path:
    path = sandbox.project / "docs" / "adr" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"# {title}\n\n## Status\n\n{status}\n\n## Decision\n\n{decision}\n", encoding="utf-8")
    return path


def start(sandbox: Sandbox, source: str = "startup", session: str = "a", **fields: object) -> bytes:
    """The hook's stdin at the start of a session."""
    usual: dict[str, object] = {
        "session_id": session,
        "transcript_path": str(sandbox.claude_folder(sandbox.project) / f"{session}.jsonl"),
        "cwd": str(sandbox.project),
        "hook_event_name": "SessionStart",
        "source": source,
    }
    return json.dumps(usual | fields).encode()


def listed(sandbox: Sandbox, source: str = "startup", session: str = "a", **fields: object) -> list[str] | None:
    """The lines that the hook hands over at the start of a session, None for silence."""
    done = sandbox.hook(start(sandbox, source, session, **fields), "--budget", "5000")
    assert (done.returncode, done.stderr) == (0, b"")
    if not done.stdout:
        return None
    assert len(done.stdout) <= 2048
    output = json.loads(done.stdout)["hookSpecificOutput"]
    assert output.pop("hookEventName") == "SessionStart"
    (context,) = output.values()
    return str(context).splitlines()


def journal(sandbox: Sandbox) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(sandbox.paths.injections).read_text("utf-8").splitlines()]


@pytest.fixture
def decided(sandbox: Sandbox) -> Sandbox:
    """A trusted repository with decision records of every status, one in two languages, and a warm daemon."""
    sandbox.session("s-0", "Which queue to use", ("Which message queue do we use?", "RabbitMQ."))
    sandbox.note("staging-port", "The staging database listens on port 6543, not 5432", "It was moved in May.")
    sandbox.note("no-friday-deploys", "Never deploy on a Friday afternoon", "Nobody is there when it breaks.")
    queue = "We use NATS as the message queue between our services."
    write(sandbox, "0031-use-nats.md", "31. Use NATS as the message queue", "Accepted", queue)
    write(sandbox, "0014-use-rabbitmq.md", "14. Use RabbitMQ", "Superseded by [31. Use NATS](0031-use-nats.md)")
    write(sandbox, "0020-use-kafka.md", "20. Use Kafka", "Rejected")
    write(sandbox, "0040-use-quic.md", "40. Use QUIC", "Proposed")
    write(sandbox, "0007-utc.md", "7. Store times in UTC", "Accepted")
    write(sandbox, "0007-utc.ja.md", "7. 時刻は UTC で保存する", "承認", "すべて UTC で保存する。")
    write(sandbox, "reviews.md", "Reviews", "Two people review every change; that is how it is done here.")
    sandbox.trust(sandbox.project)
    sandbox.start()
    return sandbox


def test_a_session_starts_with_the_accepted_decisions_once(decided: Sandbox) -> None:
    folder = f"{decided.project.resolve()}/docs/adr:"
    decisions = ["- 0007 Store times in UTC", "- 0031 Use NATS as the message queue"]
    first = listed(decided)
    assert first is not None
    assert first[0].startswith(HEADER)
    assert first[1:] == [folder, *decisions]
    assert listed(decided, "resume") is None
    assert listed(decided, "fork", "b") is None
    again = listed(decided, "clear")
    assert again == first
    assert listed(decided, "startup", "c") == first
    lines = journal(decided)
    assert [(line["reason"], line["source"]) for line in lines] == [
        ("decisions", "startup"), ("resumed", "resume"), ("resumed", "fork"), ("decisions", "clear"),
        ("decisions", "startup"),
    ]  # fmt: skip
    assert [Path(item["path"]).name for item in lines[0]["items"]] == ["0007-utc.md", "0031-use-nats.md"]
    assert "NATS" not in Path(decided.paths.injections).read_text("utf-8")
    assert decided.json("status")["hook"]["last_24h"]["asked"] == 0


def test_two_hooks_of_one_start_are_answered_once_whatever_the_source(decided: Sandbox) -> None:
    for source in ("startup", "clear", "compact"):
        with ThreadPoolExecutor(8) as pool:
            calls = [start(decided, source, prompt_id="p" if source == "clear" else None)] * 8
            answers = list(pool.map(lambda call: ask(decided.paths, "hook", call, timeout=30)[1], calls))
        assert len([answer for answer in answers if answer]) == 1, source


def test_what_was_listed_counts_as_shown_until_the_conversation_is_emptied(decided: Sandbox) -> None:
    assert "0031 Use NATS" in (decided.context(QUEUE, session_id="other") or "")
    assert listed(decided) is not None
    assert "0031 Use NATS" not in (decided.context(QUEUE, session_id="a") or "")
    assert "staging-port" in (decided.context(QUESTION, session_id="a") or "")
    decided.close()
    decided.start()
    assert listed(decided) is None  # the journal remembers
    assert "0031 Use NATS" not in (decided.context(QUEUE, session_id="a") or "")
    assert listed(decided, "compact") is not None
    assert "staging-port" in (decided.context(QUESTION, session_id="a") or "")  # after a compaction it comes anew
    assert journal(decided)[-2]["emptied"] is True


def test_a_record_that_is_edited_or_muted_comes_and_goes_at_once(decided: Sandbox) -> None:
    write(decided, "0031-use-nats.md", "31. Use NATS as the message queue", "Proposed")
    write(decided, "0040-use-quic.md", "40. Use QUIC", "Accepted")
    assert (listed(decided) or [])[2:] == ["- 0007 Store times in UTC", "- 0040 Use QUIC"]
    decided.run("mute", "0040-use-quic.md", "--project")
    assert (listed(decided, "clear") or [])[2:] == ["- 0007 Store times in UTC"]
    assert journal(decided)[-1]["muted"] == 1


def test_where_nothing_is_accepted_or_trusted_or_wanted_nothing_is_said(sandbox: Sandbox) -> None:
    sandbox.session("s-0", "Which queue to use", ("Which message queue do we use?", "RabbitMQ."))
    write(sandbox, "0007-utc.md", "7. Store times in UTC", "Proposed")
    path = write(sandbox, "0008-tabs.md", "8. Use tabs", "Accepted")
    sandbox.start()
    assert listed(sandbox) is None  # not trusted
    sandbox.trust(sandbox.project)
    sandbox.run("index")
    assert (listed(sandbox, session="b") or [])[2:] == ["- 0008 Use tabs"]
    assert listed(sandbox, session="c", agent_id="agent-1") is None
    assert listed(sandbox, session="d", cwd="/nowhere", transcript_path=None) is None
    sandbox.configure("enabled = false\n")
    assert listed(sandbox, session="e") is None
    sandbox.configure("")
    path.unlink()
    assert listed(sandbox, session="f") is None
    reasons = [line["reason"] for line in journal(sandbox)]
    assert reasons == ["no decisions", "decisions", "subagent", "no decisions", "disabled", "no decisions"]


def test_of_ninety_decisions_the_newest_are_listed_and_the_others_counted(sandbox: Sandbox) -> None:
    sandbox.session("s-0", "Which queue to use", ("Which message queue do we use?", "RabbitMQ."))
    for number in range(1, 91):
        write(sandbox, f"{number:04}-choice.md", f"{number}. Choice of the team number {number}", "Accepted")
    sandbox.trust(sandbox.project)
    sandbox.start()
    found = listed(sandbox) or []
    assert found[-2].startswith("- 0090 ")
    count = len([line for line in found if line.startswith("- ")])
    assert found[-1] == f"({90 - count} older ones are not listed)"
    # Within the usual budget as well: what cannot be read in time is said to be there.
    done = sandbox.hook(start(sandbox, "startup", "z"))
    assert b"0090 Choice" in done.stdout


def test_the_event_alone_wakes_the_daemon_and_a_program_does_not(sandbox: Sandbox) -> None:
    sandbox.note("staging-port", "The staging database listens on port 6543", "It was moved in May.")
    sandbox.state.mkdir(mode=0o700)
    done = sandbox.hook(start(sandbox), environment={"CLAUDE_CODE_ENTRYPOINT": "sdk-cli"})
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert not Path(sandbox.paths.daemon_lock).exists()
    done = sandbox.hook(start(sandbox))
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    wait_until(lambda: (sandbox.daemon() or {}).get("state") == "ready", "the daemon that the event started is ready")
    assert sandbox.context(QUESTION) is not None


def test_two_hooks_of_one_message_are_answered_once_also_at_the_same_time(decided: Sandbox) -> None:
    for fields in ({"prompt_id": "p-1"}, {"turn_id": "t-1"}, {}):
        message = decided.message(QUESTION, **fields)
        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda call: ask(decided.paths, "hook", call, timeout=30)[1], [message] * 8))
        assert len([answer for answer in answers if answer]) == 1, fields
    asked = decided.json("status")["hook"]["last_24h"]
    assert (asked["asked"], asked["shown"], asked["silent"]) == (3, 3, {})


def test_the_second_hook_of_a_message_is_known_after_a_restart(decided: Sandbox) -> None:
    note = decided.claude_folder(decided.project) / "memory" / "staging-port.md"
    assert decided.context(QUESTION, session_id="a", prompt_id="p-1") is not None
    decided.context("/clear", session_id="a")  # else it would be silent because it was shown
    decided.close()
    decided.start()
    assert decided.context(QUESTION, session_id="a", prompt_id="p-1") is None
    assert str(note) in (decided.context(QUESTION, session_id="a", prompt_id="p-2") or "")


def test_other_agents_are_answered_by_the_name_of_their_event(decided: Sandbox) -> None:
    message = decided.message(QUESTION, hook_event_name="BeforeAgent", timestamp="2026-08-14T09:30:00Z")
    output = json.loads(decided.hook(message, "--budget", "5000").stdout)
    assert output.keys() == {"hookSpecificOutput"}
    assert output["hookSpecificOutput"].keys() == {"hookEventName", "additionalContext"}
    assert output["hookSpecificOutput"]["hookEventName"] == "BeforeAgent"
