"""Notes, rules and conversations together, secrets, scope and what a session has seen, through real daemons."""

import json
from pathlib import Path
from uuid import uuid4

import pytest

from recall.wire.transport import ask
from support import Sandbox

QUESTION = "which port does the staging database listen on?"
TOKEN = "ghp_" + "wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx"


def staging(sandbox: Sandbox, project: Path | None = None, port: int = 6543) -> None:
    sandbox.note("staging-port", f"The staging database listens on port {port}, not 5432", "Moved.", project=project)
    sandbox.note("no-friday-deploys", "Never deploy on a Friday afternoon", "Nobody is there.", project=project)


def record(sandbox: Sandbox, name: str, title: str, status: str, decision: str) -> Path:
    path = sandbox.project / "docs" / "adr" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"# {title}\n\n## Status\n\n{status}\n\n## Decision\n\n{decision}\n", encoding="utf-8")
    return path


@pytest.fixture
def decided(sandbox: Sandbox) -> Sandbox:
    """A repository with decision records, one superseded, one withdrawn, one in two languages."""
    sandbox.session("s-0", "Which queue to use", ("Which message queue do we use?", "RabbitMQ."))
    superseded = "Superseded by [31. Use NATS](0031-use-nats.md)"
    for number, queue, status in ((14, "RabbitMQ", superseded), (31, "NATS", "Accepted"), (20, "Kafka", "Rejected")):
        title = f"{number}. Use {queue} as the message queue"
        file = f"{number:04}-use-{queue.lower()}.md"
        record(sandbox, file, title, status, f"We use {queue} as the message queue between services.")
    record(sandbox, "0007-utc.md", "7. Store times in UTC", "Accepted", "All timestamps are stored in UTC.")
    record(sandbox, "0007-utc.ja.md", "7. 時刻は UTC で保存する", "承認", "タイムスタンプはすべて UTC で保存する。")
    return sandbox


def test_a_superseded_record_follows_its_successor_and_a_rejected_one_is_not_shown(decided: Sandbox) -> None:
    decided.trust(decided.project)
    decided.start()
    hits = decided.json("query", "which message queue do our services use?", "--kind", "knowledge")["hits"]
    assert [hit["name"] for hit in hits][:2] == [
        "0031 Use NATS as the message queue",
        "0014 Use RabbitMQ as the message queue",
    ]
    assert hits[1]["successor"] == "0031"
    assert not [hit for hit in hits if "Kafka" in hit["name"]]
    context = decided.context("Which message queue do our services use, RabbitMQ as the message queue?") or ""
    if "0014" in context:
        assert "[rule] 0014 Use RabbitMQ as the message queue (superseded by 0031)" in context


def test_a_record_in_two_languages_comes_once_in_the_language_of_the_message(decided: Sandbox) -> None:
    decided.trust(decided.project)
    decided.start()
    for question, name in (
        ("are timestamps stored in UTC?", "0007-utc.md"),
        ("タイムスタンプは UTC で保存？", "0007-utc.ja.md"),
    ):
        hits = decided.json("query", question, "--kind", "knowledge")["hits"]
        assert Path(hits[0]["path"]).name == name
        assert len([hit for hit in hits if "0007-utc" in hit["path"]]) == 1


def test_a_repository_that_is_not_trusted_is_not_read_and_status_says_so(decided: Sandbox) -> None:
    decided.start()
    assert decided.json("query", "which message queue?", "--kind", "knowledge")["hits"] == []
    assert any("trust" in item["reason"] for item in decided.json("status")["index"]["skipped"])
    decided.trust(decided.project)
    decided.run("index")
    assert decided.json("query", "which message queue?", "--kind", "knowledge")["hits"] != []


def test_rules_of_a_named_folder_are_shared_by_all_projects(sandbox: Sandbox) -> None:
    rules = sandbox.home / "team rules"
    rules.mkdir()
    (rules / "reviews.md").write_text("# Reviews\n\nEvery change is reviewed by two people before it is merged.\n")
    sandbox.configure(f'[[knowledge]]\npath = "{rules}"\n')
    sandbox.start()
    hits = sandbox.json("query", "how many people must review a change before it is merged?")["hits"]
    assert (hits[0]["kind"], hits[0]["name"], hits[0]["project"]) == ("knowledge", "Reviews", "")


def test_a_strong_match_brings_the_conversation_by_date_and_title_only(sandbox: Sandbox) -> None:
    staging(sandbox)
    notes = {"tabs": "Indent Makefiles with tabs", "utc": "All times are in UTC", "mail": "Mail goes through the queue"}
    for number, (name, body) in enumerate(notes.items()):
        sandbox.note(name, body, "x")
        sandbox.session(f"s-{number}", f"About {name}", (f"What about {name}? {body}", "Yes."))
    sandbox.session("s-9", "Moving the staging database", (QUESTION, "The staging database listens on port 6543 now."))
    sandbox.start()
    context = sandbox.context(QUESTION)
    assert context is not None
    assert "[memory] staging-port" in context
    assert "[conversation] 2026-08-14 Moving the staging database" in context
    assert "listens on port 6543 now" not in context
    assert "[conversation]" not in (sandbox.context(QUESTION, session_id="s-9") or "")


def test_a_headline_comes_once_a_session_until_the_conversation_is_emptied(sandbox: Sandbox) -> None:
    staging(sandbox)
    transcript = sandbox.session("now", "Now", ("hello there, friend", "Hello."))
    sandbox.start()

    def asked(session: str = "a") -> bool:
        # With an id each, as Claude Code sends: else an equal message within seconds is a second call for the first.
        where = {"session_id": session, "transcript_path": str(transcript), "prompt_id": str(uuid4())}
        return "staging-port" in (sandbox.context(QUESTION, **where) or "")

    assert asked()
    assert not asked()
    assert asked(session="b")
    sandbox.close()
    sandbox.start()
    assert not asked()  # the journal remembers
    sandbox.context("/compact", session_id="a")
    sandbox.close()
    sandbox.start()
    assert asked()  # that the conversation was emptied, too
    assert not asked()
    with transcript.open("a") as file:
        file.write(json.dumps({"type": "user", "isCompactSummary": True}) + "\n")
    assert asked()
    sandbox.close()
    sandbox.start()
    assert not asked()  # the compaction is older than what was shown
    assert sandbox.json("status")["hook"]["last_24h"]["silent"]["already shown"] == 4


def test_two_hooks_of_one_prompt_are_answered_once(sandbox: Sandbox) -> None:
    staging(sandbox)
    sandbox.start()
    assert sandbox.context(QUESTION, session_id="a", prompt_id="p-1") is not None
    assert sandbox.context("/clear", session_id="a") is None
    assert sandbox.context(QUESTION, session_id="a", prompt_id="p-1") is None
    assert sandbox.context(QUESTION, session_id="a", prompt_id="p-2") is not None


def test_no_byte_of_a_secret_reaches_the_index_the_logs_or_an_output(sandbox: Sandbox) -> None:
    note = sandbox.note("token", f"The staging database takes the token {TOKEN}", f"export GITHUB_TOKEN={TOKEN}")
    note.write_text(note.read_text("utf-8").replace("name: token", f"name: token {TOKEN}"), encoding="utf-8")
    sandbox.session("s-1", f"Rotating {TOKEN}", (f"Is {TOKEN} the staging database token?", f"Yes, {TOKEN}."))
    sandbox.trust(sandbox.project)
    record(sandbox, "0001-token.md", f"1. Token {TOKEN}", "Accepted", f"The staging token is {TOKEN}.")
    sandbox.start()
    said = sandbox.context("which token does the staging database take?") or ""
    said += sandbox.run("query", "which token does the staging database take?").stdout
    said += json.dumps(sandbox.json("query", "which token does the staging database take?"))
    said += sandbox.run("status").stdout
    assert "[masked: github-pat]" in said
    assert TOKEN not in said
    assert sandbox.json("status")["index"]["masked"]["github-pat"] >= 3
    sandbox.close()
    files = [path for path in sandbox.state.rglob("*") if path.is_file()]
    assert [path for path in files if TOKEN.encode() in path.read_bytes()] == []


def test_a_secret_that_hides_behind_invisible_characters_or_a_cut_is_masked(sandbox: Sandbox) -> None:
    sandbox.session("s-1", f"Fix {TOKEN[:9]}\u200b{TOKEN[9:]} now", ("Is this the token of staging?", "Yes, it is."))
    lines = [TOKEN[4:] * 2, *(TOKEN[4:][::-1] * 2 for _ in range(12))]
    key = "\n".join(["-----BEGIN RSA PRIVATE KEY-----", *lines, "-----END RSA PRIVATE KEY-----"])
    sandbox.trust(sandbox.project)
    path = record(sandbox, "0031-key.md", "31. Signing key", "Accepted", f"The service signs with this key:\n{key}")
    assert key in path.read_text("utf-8")
    sandbox.start()
    said = json.dumps(sandbox.json("query", "which key does the service sign with?"))
    assert "0031 Signing key" in said
    sandbox.close()
    stored = b"".join(file.read_bytes() for file in sandbox.state.rglob("*") if file.is_file())
    for secret in (TOKEN[4:], *lines[:2]):
        assert secret.encode() not in stored
        assert secret not in said


def test_a_line_of_asterisks_keeps_nobody_waiting(sandbox: Sandbox) -> None:
    staging(sandbox)
    sandbox.session("s-0", "Which queue", ("Which message queue do we use?", "RabbitMQ."))
    sandbox.trust(sandbox.project)
    record(sandbox, "0040-bold.md", "40. Bold", "*" * 30_000, "*_" * 15_000)
    sandbox.start()
    assert "staging-port" in (sandbox.context(QUESTION) or "")


def test_no_message_in_one_project_ever_shows_another_ones_records(sandbox: Sandbox) -> None:
    other = sandbox.home / "project-two"
    (other / ".git").mkdir(parents=True)
    staging(sandbox)
    staging(sandbox, other, port=7654)
    titles = {sandbox.project: "Alpha talk", other: "Beta talk"}
    for project, title in titles.items():
        sandbox.session(f"s-{project.name}", title, (QUESTION, f"It is {title}."), project=project)
    sandbox.start()
    shown = 0
    for number in range(500):
        here, elsewhere = (sandbox.project, other) if number % 2 else (other, sandbox.project)
        message = sandbox.message(f"{QUESTION} ({number})", cwd=str(here), session_id=f"s{number}")
        _, body = ask(sandbox.paths, "hook", message, timeout=30)
        text = body.decode()
        shown += "staging-port" in text
        assert str(sandbox.claude_folder(elsewhere)) + "/" not in text
        assert titles[elsewhere] not in text
    assert shown == 500
    named = sandbox.json("query", QUESTION, "--repo", "project-two")["hits"]
    assert {hit["project"] for hit in named} == {str(other)}
    assert len({hit["project"] for hit in sandbox.json("query", QUESTION, "--all")["hits"]}) == 2
