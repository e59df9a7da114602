"""Following a transcript over several readings, and finding transcripts at all."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from recall.core.errors import SourceError
from recall.core.types import Document, FoundFile
from recall.sources.conversations import STEP_BYTES, Ending, Step, follow, scan
from recall.sources.lines import MAX_LINE_BYTES
from recall.sources.projects import discover


def line(kind: str, content: object, **more: object) -> bytes:
    record = {"type": kind, "message": {"content": content}, "entrypoint": "cli", "cwd": "/srv/app", **more}
    return json.dumps(record, ensure_ascii=False).encode() + b"\n"


def ask(text: str, **more: object) -> bytes:
    return line("user", text, **{"uuid": f"u-{text}", **more})


def say(text: str) -> bytes:
    return line("assistant", [{"type": "text", "text": text}])


class Transcript:
    """A file that is read again and again, each time from where the reading before came to."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.state: str | None = None
        self.documents: dict[str, Document] = {}
        self.ending = Ending()
        self.anew = False

    def append(self, *parts: bytes) -> None:
        with self.path.open("ab") as file:
            file.write(b"".join(parts))

    def read(self) -> list[str]:
        """Read what is new; the bodies that this brought."""
        found = FoundFile("conversation", str(self.path), "/folder", self.path.stat().st_size, 1)
        brought = []
        for step in follow(found, self.state):
            self.anew = step.anew
            if step.document:
                brought.append(step.document.body)
                self.documents[step.document.key] = step.document
            self.state = step.state()
            self.ending = step.ending or self.ending
        return brought

    @property
    def bodies(self) -> list[str]:
        return [document.body for document in self.documents.values()]


@pytest.fixture
def transcript(tmp_path: Path) -> Transcript:
    return Transcript(tmp_path / "s-1.jsonl")


def test_only_what_was_appended_and_the_exchange_before_it_are_read_again(transcript: Transcript) -> None:
    transcript.append(ask("One?"), say("1."), ask("Two?"), say("2."))
    assert transcript.read() == ["One?\n\n1.", "Two?\n\n2."]
    assert transcript.read() == ["Two?\n\n2."]
    transcript.append(say("And more."), ask("Three?"))
    assert transcript.read() == ["Two?\n\n2.\n\nAnd more.", "Three?"]
    assert not transcript.anew
    assert list(transcript.documents) == ["u-One?", "u-Two?", "u-Three?"]


def test_what_was_read_is_remembered_across_readings(transcript: Transcript) -> None:
    transcript.append(ask("Rename it. Then test."), say("Done."), b"damaged\n", ask("Again?", entrypoint=None))
    transcript.read()
    assert (transcript.ending.title, transcript.ending.damaged_lines) == ("Rename it.", 1)
    transcript.append(b"damaged too\n", line("user", "And by whom?", uuid="u", entrypoint=None, cwd=None))
    transcript.read()
    assert (transcript.ending.title, transcript.ending.damaged_lines) == ("Rename it.", 2)
    assert transcript.documents["u"].project == "/srv/app"
    transcript.append(json.dumps({"type": "ai-title", "aiTitle": "Renaming"}).encode() + b"\n")
    transcript.read()
    assert (transcript.ending.title, transcript.ending.damaged_lines) == ("Renaming", 2)


def test_half_a_line_waits_for_its_other_half(transcript: Transcript) -> None:
    whole = ask("保存期間は？")
    for cut in range(1, len(whole) - 1):
        transcript.path.unlink(missing_ok=True)
        transcript.__init__(transcript.path)  # type: ignore[misc]
        transcript.append(ask("One?"), whole[:cut])
        assert transcript.read() == ["One?"]
        assert transcript.ending.damaged_lines == 0
        transcript.append(whole[cut:])
        assert transcript.read() == ["One?", "保存期間は？"]


def test_a_last_line_without_a_newline_counts_when_it_is_whole(transcript: Transcript) -> None:
    transcript.append(ask("One?"), ask("Two?").rstrip())
    assert transcript.read() == ["One?", "Two?"]
    transcript.append(b"\n", say("2."))
    assert transcript.read() == ["Two?\n\n2."]


def test_an_empty_state_says_that_what_was_read_before_is_void(transcript: Transcript) -> None:
    transcript.append(ask("One?"))
    transcript.read()
    assert not transcript.anew
    transcript.state = ""
    assert transcript.read() == ["One?"]
    assert transcript.anew


@pytest.mark.parametrize("change", ["rewritten", "truncated", "replaced by another"])
def test_a_file_that_is_another_one_is_read_from_its_beginning(transcript: Transcript, change: str) -> None:
    transcript.append(*(part for number in range(300) for part in (ask(f"Q{number}?"), say("A."))))
    transcript.read()
    data = transcript.path.read_bytes()
    if change == "rewritten":
        transcript.path.write_bytes(data.replace(b"Q0?", b"P0?") + ask("New?"))
    elif change == "truncated":
        transcript.path.write_bytes(data[: len(data) // 2])
    else:
        transcript.path.write_bytes(ask("New?") + b" " * len(data))
    transcript.read()
    assert transcript.anew


def test_a_long_line_is_passed_over_and_the_lines_around_it_are_read(transcript: Transcript) -> None:
    tool = (
        b'{"type":"user","message":{"content":[{"type":"tool_result","content":"' + b"x" * MAX_LINE_BYTES + b'"}]}}\n'
    )
    picture = b'{"type":"user","message":{"content":[{"type":"image","data":"' + b"x" * MAX_LINE_BYTES + b'"}]}}\n'
    transcript.append(ask("One?"), tool, say("1."), picture, say("to the picture"), ask("Two?"), picture[:-2])
    assert transcript.read() == ["One?\n\n1.", "Two?"]
    assert transcript.ending.damaged_lines == 0
    transcript.append(picture[-2:], ask("Three?"))
    assert transcript.read() == ["Two?", "Three?"]


def test_a_long_reading_without_an_exchange_can_be_interrupted_and_gone_on_with(transcript: Transcript) -> None:
    noise = json.dumps({"type": "progress", "data": "x" * 100_000}).encode() + b"\n"
    transcript.append(noise * (2 * STEP_BYTES // len(noise) + 2), ask("One?"))
    found = FoundFile("conversation", str(transcript.path), "/folder", 1, 1)
    steps = follow(found, None)
    first: Step = next(steps)
    assert (first.document, first.ending) == (None, None)
    transcript.state = first.state()
    del steps
    assert transcript.state
    assert json.loads(transcript.state)["facts"]["offset"] >= STEP_BYTES
    assert transcript.read() == ["One?"]
    assert not transcript.anew


def test_an_answer_that_is_long_enough_is_not_read_again_while_it_grows(transcript: Transcript) -> None:
    transcript.append(ask("One?"), say("word " * 2000), say("never mind"))
    (body,) = transcript.read()
    assert "never mind" not in body
    transcript.append(say("nor this"))
    assert transcript.read() == []


def test_the_title_is_masked_before_it_is_kept(transcript: Transcript) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    transcript.append(ask(f"Why does {token} fail?"))
    transcript.read()
    assert transcript.state
    assert token not in transcript.state + str(transcript.ending)
    assert sum(transcript.ending.masked.values()) == 1


def test_records_without_identifiers_get_some_that_stay(transcript: Transcript) -> None:
    transcript.append(ask("One?", uuid=None), ask("Two?", uuid="x" * 300), ask("Three?", uuid="a\nb"))
    transcript.read()
    first = list(transcript.documents)
    assert len(set(first)) == 3
    assert all(key.startswith("s-1@") for key in first)
    transcript.state = None
    transcript.read()
    assert list(transcript.documents) == first


def test_the_project_is_the_repository_of_the_line_and_outside_of_one_that_of_the_session(
    transcript: Transcript, tmp_path: Path
) -> None:
    root = Path(os.path.realpath(tmp_path))
    (root / "repo" / ".git").mkdir(parents=True)
    (root / "repo" / "sub").mkdir()
    (root / "plain" / "sub").mkdir(parents=True)
    for text, cwd in {"a": "repo/sub", "b": "plain/sub", "c": "elsewhere"}.items():
        transcript.append(ask(text, cwd=str(root / cwd)))
    transcript.append(ask("d", cwd="C:\\work" if sys.platform != "win32" else "/work"))
    found = FoundFile("conversation", str(transcript.path), str(root / "plain"), 1, 1)
    projects = {step.document.body: step.document.project for step in follow(found, None) if step.document}
    assert projects == {
        "a": str(root / "repo"),
        "b": str(root / "plain"),
        "c": str(root / "elsewhere"),
        "d": str(root / "elsewhere"),
    }


def test_a_copy_of_a_queued_prompt_is_taken_once_and_a_later_one_again(transcript: Transcript) -> None:
    queued = {"type": "queued_command", "prompt": "Go on."}
    attachment: dict[str, Any] = {"type": "attachment", "attachment": queued, "entrypoint": "cli", "uuid": "q"}
    transcript.append(ask("One?"), json.dumps(attachment).encode() + b"\n", say("First."))
    transcript.read()
    transcript.append(ask("Go on.", uuid="copy"), say("Second."), ask("Go on.", uuid="again"), say("Third."))
    transcript.read()
    assert transcript.bodies == ["One?", "Go on.\n\nFirst.\n\nSecond.", "Go on.\n\nThird."]


def test_a_file_that_cannot_be_read_is_a_reason(tmp_path: Path) -> None:
    for path in (tmp_path / "missing.jsonl", tmp_path):
        with pytest.raises(SourceError):
            list(follow(FoundFile("conversation", str(path), "/folder", 1, 1), None))


def test_transcripts_are_found_once_each_and_nothing_else_is(tmp_path: Path) -> None:
    folder = tmp_path / "claude" / "projects" / "-srv-app"
    (folder / "s-1" / "subagents").mkdir(parents=True)
    (folder / "s-1.jsonl").write_bytes(ask("One?"))
    (folder / "s-1" / "subagents" / "s-2.jsonl").write_bytes(ask("Not this?"))
    (folder / "notes.json").write_bytes(b"{}")
    (folder / "folder.jsonl").mkdir()
    (tmp_path / "other").symlink_to(tmp_path / "claude")
    found = scan(discover([tmp_path / "claude", tmp_path / "other"]))
    assert [(file.path, file.project) for file in found.files] == [(str(folder / "s-1.jsonl"), "/srv/app")]
    assert {item.reason for item in found.skipped} == {"is a folder, not a file"}
