"""One line at a time: who wrote it, and what of it counts."""

from typing import Any

import pytest

from recall.sources.messages import Answer, Break, Prompt, Sidechain, Title, read_message


def user(content: object = "Why?", **more: object) -> dict[str, Any]:
    return {"type": "user", "message": {"content": content}, **more}


@pytest.mark.parametrize(
    ("entrypoint", "more", "person"),
    [
        ("", {}, True),  # before 2.1.80
        ("cli", {}, True),
        ("claude-vscode", {}, True),
        ("claude-desktop", {}, True),
        ("a-new-one", {}, True),
        ("sdk-cli", {}, False),
        ("sdk-py", {"promptSource": "typed"}, False),
        ("mcp", {}, False),
        ("claude-code-github-action", {}, False),
        ("", {"promptSource": "sdk"}, False),
        ("", {"promptSource": "system"}, False),
        ("", {"promptSource": "typed"}, True),
        ("cli", {"promptSource": "sdk"}, True),
        ("cli", {"promptSource": "system"}, False),
        ("cli", {"origin": {"kind": "human"}}, True),
        ("cli", {"origin": {"kind": "task-notification"}, "promptSource": "typed"}, False),
        ("sdk-ts", {"origin": {"kind": "human"}}, False),
        ("cli", {"origin": "odd", "promptSource": 7}, True),
    ],
)
def test_the_strongest_sign_tells_whether_a_person_wrote_a_prompt(
    entrypoint: str, more: dict[str, Any], person: bool
) -> None:
    assert isinstance(read_message(user(**more), entrypoint), Prompt if person else Break)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("Why?", "Why?"),
        ([{"type": "text", "text": "Why?"}, {"type": "image"}, "And how?"], "Why?\nAnd how?"),
        ("<system-reminder>a</system-reminder>\n<ide_selection>b</ide_selection> Why?", "Why?"),
        ("Why <system-reminder> in the text?", "Why <system-reminder> in the text?"),
        ("<command-name>/fix</command-name><command-args>the test</command-args>", "/fix the test"),
        ("a\u202eb\ud800c", "abc"),
    ],
)
def test_the_words_of_a_person_are_taken_out(content: object, text: str) -> None:
    assert read_message(user(content), "cli") == Prompt(text, queued=False)


@pytest.mark.parametrize("content", [None, 7, {}, "", " ", [7, None, {}], "<system-reminder>never closed", "\u200b"])
def test_a_prompt_without_words_ends_the_answer_and_is_none(content: object) -> None:
    assert read_message(user(content), "cli") == Break()


def test_the_rest_of_what_stands_in_a_transcript_says_nothing() -> None:
    records: list[dict[str, Any]] = [
        {},
        {"type": 7},
        {"type": ["user"]},
        {"type": "user"},
        {"type": "user", "message": "error"},
        {"type": "assistant", "message": None},
        {"type": "assistant", "message": {"content": [{"type": "thinking", "thinking": "x"}]}},
        {"type": "attachment", "attachment": {"type": "hook_additional_context", "content": ["x"]}},
        {"type": "attachment", "attachment": "x"},
        {"type": "queue-operation", "content": "x"},
        {"type": "ai-title", "aiTitle": None},
        {"type": "custom-title", "customTitle": " "},
    ]
    for record in records:
        assert read_message(record, "cli") is None


def test_a_queued_prompt_is_a_persons_unless_a_machine_queued_it() -> None:
    queued = {"type": "queued_command", "prompt": "And then?"}
    assert read_message({"type": "attachment", "attachment": queued}, "cli") == Prompt("And then?", queued=True)
    assert read_message({"type": "attachment", "attachment": queued}, "sdk-cli") == Break(automated=True)
    notice = {**queued, "commandMode": "task-notification"}
    assert read_message({"type": "attachment", "attachment": notice}, "cli") == Break()


def test_answers_titles_and_subagents_are_told_apart() -> None:
    said = {"message": {"content": [{"type": "text", "text": " Yes. "}]}}
    assert read_message({"type": "assistant", **said}, "cli") == Answer("Yes.")
    assert read_message({"type": "assistant", "isSidechain": True, **said}, "cli") is None
    assert read_message(user(isSidechain=True), "cli") == Sidechain()
    assert read_message({"type": "ai-title", "aiTitle": "T"}, "cli") == Title("ai-title", "T")
