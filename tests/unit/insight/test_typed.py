"""Typed prompts out of transcripts: a person's alone, once each, the last ones, and the one of a decision."""

import json
from datetime import datetime, timedelta, timezone
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from recall.insight.typed import find_prompt, last_typed, transcripts_of, typed_prompts

START = datetime(2026, 8, 14, 9, 30, tzinfo=timezone.utc)  # noqa: UP017


def line(text: str, minutes: int = 0, **fields: object) -> dict[str, object]:
    """A typed prompt, as the client writes it."""
    when = (START + timedelta(minutes=minutes)).isoformat().replace("+00:00", "Z")
    return {
        "type": "user", "sessionId": "s-1", "cwd": "/srv/app", "entrypoint": "cli", "timestamp": when,
        "origin": {"kind": "human"}, "promptSource": "typed", "message": {"role": "user", "content": text},
    } | fields  # fmt: skip


def write(path: Path, *lines: object, tail: str = "") -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(value) + "\n" for value in lines) + tail, encoding="utf-8")
    return str(path)


def texts(path: str) -> list[str]:
    return [typed.text for typed in typed_prompts(path)]


def test_only_what_a_person_typed_is_read(tmp_path: Path) -> None:
    path = write(
        tmp_path / "s-1.jsonl",
        line("mine"),
        line("a program's", promptSource="sdk", entrypoint="sdk-cli"),
        line("<task-notification>done</task-notification>"),
        line("a subagent's", isSidechain=True),
        line("", message={"role": "user", "content": [{"type": "tool_result", "content": "no"}]}),
        line("/clear"),
        {"type": "assistant", "message": {"role": "assistant", "content": [{"type": "text", "text": '"user"'}]}},
        [1],
        line("without a time", timestamp=7),
        line("also mine", 1),
        tail='{"type": "user", "message": {"content": "half',
    )
    assert texts(path) == ["mine", "also mine"]


def test_a_prompt_that_waited_comes_once(tmp_path: Path) -> None:
    queued = line("later please", 1) | {
        "type": "attachment", "message": None,
        "attachment": {"type": "queued_command", "commandMode": "prompt", "prompt": "later please"},
    }  # fmt: skip
    assert (
        texts(write(tmp_path / "a.jsonl", queued, line("later please", 2), line("later please", 3)))
        == ["later please"] * 2
    )


def test_the_prompt_of_a_decision_goes_by_its_id_else_by_the_time(tmp_path: Path) -> None:
    path = write(
        tmp_path / "projects" / "-srv-app" / "s-1.jsonl", line("one", promptId="p-1"), line("two", 1, promptId="p-2")
    )
    old = write(tmp_path / "projects" / "-srv-app" / "s-2.jsonl", line("three"), line("four", 1))
    assert transcripts_of("s-1", [tmp_path, tmp_path / "nowhere"]) == [path]
    local = START.astimezone().replace(tzinfo=None)

    def found(transcript: str, prompt: str | None, minutes: float) -> str | None:
        typed = find_prompt([transcript, "/nowhere.jsonl"], prompt, local + timedelta(minutes=minutes))
        return typed.text if typed else None

    assert found(path, "p-2", 0) == "two"
    assert found(path, "p-3", 0) is None
    assert found(path, None, 0.9) == "two"
    assert found(old, "p-1", 0.1) == "three"
    assert found(old, None, 30) is None


def test_the_last_prompts_of_all_transcripts_come_in_order_and_copies_once(tmp_path: Path) -> None:
    write(tmp_path / "a" / "s-1.jsonl", *(line(f"a{n}", 2 * n) for n in range(4)))
    write(tmp_path / "b" / "s-2.jsonl", line("a3", 6), *(line(f"b{n}", 2 * n + 1) for n in range(4)))
    write(tmp_path / "b" / "agent-1.jsonl", line("a subagent's", 9))
    (tmp_path / "b" / "folder.jsonl").mkdir()
    typed, unreadable = last_typed([str(tmp_path / "a"), str(tmp_path / "b"), "/nowhere"], 4)
    assert [prompt.text for prompt in typed] == ["a2", "b2", "a3", "b3"]
    assert unreadable == [str(tmp_path / "b" / "folder.jsonl")]


@given(st.lists(st.binary(max_size=60)))
def test_no_bytes_end_the_reading(tmp_path_factory: str, parts: list[bytes]) -> None:
    path = tmp_path_factory.mktemp("t") / "x.jsonl"  # type: ignore[attr-defined]
    good = json.dumps(line("mine")).encode()
    path.write_bytes(b"\n".join([good, *(b'{"user": ' + part.replace(b"\n", b"") for part in parts), good]))
    assert texts(str(path)) == ["mine", "mine"]
