"""Which messages are a person's question."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.daemon.prompt import (
    END_CHARACTERS,
    READ_CHARACTERS,
    Message,
    Start,
    empties_the_conversation,
    read_call,
    reason_to_skip,
)

QUESTION = "which port does staging use?"
FRAMES = '  File "/srv/app/worker.py", line 88, in run\n    self.handle(job)\n'


def body(prompt: object = QUESTION, **fields: object) -> bytes:
    return json.dumps({"prompt": prompt, "hook_event_name": "UserPromptSubmit"} | fields).encode()


def message(data: bytes) -> Message | None:
    found = read_call(data)
    assert not isinstance(found, Start)
    return found


def reason(data: bytes, min_characters: int = 8) -> str | None:
    return reason_to_skip(message(data), min_characters)


def test_a_question_is_read_with_where_it_was_typed() -> None:
    found = read_call(body(f"  {QUESTION}\n", cwd="/p", session_id="s", transcript_path="/t.jsonl", prompt_id="p"))
    assert found == Message(QUESTION, "/p", "/t.jsonl", "s", "p")


def test_keys_may_be_camel_case_as_vs_code_sends_them() -> None:
    fields = {"prompt": QUESTION, "hookEventName": "UserPromptSubmit", "sessionId": "s", "transcriptPath": "/t.jsonl"}
    assert read_call(json.dumps(fields).encode()) == Message(QUESTION, None, "/t.jsonl", "s")


def test_only_the_prompt_is_needed() -> None:
    assert read_call(json.dumps({"prompt": QUESTION}).encode()) == Message(QUESTION)


def test_gemini_calls_the_event_otherwise_and_codex_numbers_turns() -> None:
    assert message(body(hook_event_name="BeforeAgent")) == Message(QUESTION, event="BeforeAgent")
    assert reason(body(hook_event_name="BeforeAgent")) is None
    assert message(body(turn_id="t-1")) == Message(QUESTION, prompt_id="t-1")


def test_a_session_start_needs_no_prompt() -> None:
    start = {"hook_event_name": "SessionStart", "session_id": "s", "transcript_path": "/t", "cwd": "/p"}
    assert read_call(json.dumps(start | {"source": "clear"}).encode()) == Start("clear", "/p", "/t", "s")
    assert read_call(b'{"hookEventName": "SessionStart", "sessionId": "s"}') == Start(session="s")
    assert read_call(json.dumps(start | {"source": "of tomorrow"}).encode()) == Start(None, "/p", "/t", "s")
    assert [Start(source).emptied for source in ("startup", "resume", "fork", "clear", "compact", None)] == [
        False, False, False, True, True, False,
    ]  # fmt: skip


@pytest.mark.parametrize("prompt", ["/clear", "/compact now please", "/my-plugin:review the port", "/", "!ls -la here"])
def test_commands_are_no_questions(prompt: str) -> None:
    assert reason(body(prompt)) in ("command", "short")
    assert reason(body(prompt), 1) == "command"


@pytest.mark.parametrize("prompt", ["/etc/hosts has a wrong line", "/Users/me/a.py fails", "why? /clear did nothing"])
def test_a_path_at_the_beginning_is_no_command(prompt: str) -> None:
    assert reason(body(prompt)) is None


@pytest.mark.parametrize(
    "prompt",
    [
        "<task-notification>the build is done</task-notification>",
        "<cross-session-message from='a'>hello there</cross-session-message>",
        "<command-name>/clear</command-name>",
        "This session is being continued from a previous conversation",
        "[Request interrupted by user]",
        "Caveat: the messages below were generated",
    ],
)
def test_machine_made_prompts_are_told_by_how_they_begin(prompt: str) -> None:
    assert reason(body(prompt)) == "machine"


def test_subagents_other_events_the_off_word_and_short_messages_are_skipped() -> None:
    assert reason(body(agent_id="a1")) == "subagent"
    assert reason(body(agent_id="")) is None
    assert reason(body(hook_event_name="Stop")) == "event"
    assert reason(body(f"{QUESTION} #norecall")) == "norecall"
    assert reason(body("1234567")) == "short"
    assert reason(body("   1234567   ")) == "short"
    assert reason(body("12345678")) is None
    assert reason(body("ポート番号は何番？")) is None


def test_a_short_message_is_searched_as_it_is() -> None:
    assert Message(QUESTION).gist == QUESTION


def test_of_much_that_is_said_both_ends_are_searched() -> None:
    said = "Why does this fail? " + "It has been slow since the move. " * 200 + "It worked yesterday."
    asked = Message(said).gist
    assert len(asked) == 2 * END_CHARACTERS + 1
    assert asked.startswith("Why does this fail?")
    assert asked.endswith("It worked yesterday.")


def test_what_was_pasted_is_left_out() -> None:
    message = Message("Why does this fail?\n" + FRAMES * 60 + "It worked yesterday.")
    assert message.gist.splitlines() == ["Why does this fail?", "It worked yesterday."]


@pytest.mark.parametrize("prompt", ["x" * 3000, "あああああああああ", "\\n" * 5 + "-" * 80, "=-=-=-=-=-=-=-="])
def test_one_character_again_and_again_says_nothing(prompt: str) -> None:
    assert reason(body(prompt)) == "short"


def test_a_paste_alone_is_no_question_yet_can_be_asked_for() -> None:
    trace = "Traceback (most recent call last):\n" + FRAMES * 150 + "ValueError: no such port"
    assert len(trace.splitlines()) > 300
    assert reason(body(trace)) == "paste"
    assert Message(trace).to_search == f"{trace[:END_CHARACTERS]}\n{trace[-END_CHARACTERS:]}"


def test_of_a_huge_message_whole_lines_of_both_ends_are_read() -> None:
    log = "2026-05-01 10:12:07 INFO worker 7 finished its job in time\n"
    message = Message("Why is it slow?\n" + log * (4 * READ_CHARACTERS // len(log)) + "It was fast before.")
    assert message.gist.splitlines() == ["Why is it slow?", "It was fast before."]


@given(st.binary(max_size=400))
def test_any_bytes_are_a_message_or_a_reason(data: bytes) -> None:
    found = read_call(data)
    assert isinstance(found, Start) or isinstance(reason_to_skip(found, 8), str | None)


@given(st.recursive(st.none() | st.booleans() | st.floats() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["prompt", "cwd", "agent_id", "x"]), inner)))  # fmt: skip  # noqa: E501
def test_any_json_is_a_message_or_a_reason(value: object) -> None:
    assert isinstance(reason_to_skip(message(json.dumps(value).encode()), 8), str | None)


@pytest.mark.parametrize(
    ("prompt", "emptied"),
    [("/clear", True), ("/compact keep the plan", True), ("/clearing", False), ("clear", False), ("", False)],
)
def test_the_commands_that_empty_a_conversation(prompt: str, emptied: bool) -> None:
    assert empties_the_conversation(prompt) is emptied
