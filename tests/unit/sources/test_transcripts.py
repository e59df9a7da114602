import json
import os
from pathlib import Path

import pytest

from recall.sources.transcripts import session_folders


def line(cwd: object, **more: object) -> str:
    return json.dumps({"type": "user", "message": {"content": "text"}, "cwd": cwd, **more}) + "\n"


def write(path: Path, text: str, age: int = 0) -> None:
    path.write_text(text, encoding="utf-8")
    os.utime(path, (1_800_000_000 - age, 1_800_000_000 - age))


def test_the_directories_of_a_session_are_read_in_order_once_each(tmp_path: Path) -> None:
    lines = ['{"type": "mode"}\n', '{"type": "summary"}\n', line("/w/a"), line("/w/a"), line("/w/a/sub"), line("/w/a")]
    write(tmp_path / "s.jsonl", "".join(lines))
    assert session_folders(str(tmp_path)) == [["/w/a", "/w/a/sub"]]


def test_the_three_newest_sessions_are_read_newest_first(tmp_path: Path) -> None:
    for age in range(5):
        write(tmp_path / f"{age}.jsonl", line(f"/w/{age}"), age)
    assert session_folders(str(tmp_path)) == [["/w/0"], ["/w/1"], ["/w/2"]]


def test_damaged_half_and_foreign_lines_are_passed_over(tmp_path: Path) -> None:
    bad = [
        "{broken\n",
        '{"cwd": \n',
        '["cwd"]\n',
        '"cwd"\n',
        line(None),
        line(7),
        line(""),
        line(["/w"]),
        json.dumps({"message": {"cwd": "/not/this"}}) + "\n",
        json.dumps({"message": 'she wrote "cwd": "/nor/this"'}) + "\n",
        '{"cwd": ' + "[" * 20_000 + "\n",
        "\n",
    ]
    write(tmp_path / "s.jsonl", "".join(bad) + line("/w/a") + '{"cwd": "/w/half')
    assert session_folders(str(tmp_path)) == [["/w/a"]]


def test_bytes_that_are_no_utf_8_cost_their_line_only(tmp_path: Path) -> None:
    (tmp_path / "s.jsonl").write_bytes(b'{"cwd": "/w/\xff"}\n' + line("/w/a").encode())
    assert session_folders(str(tmp_path)) == [["/w/a"]]


def test_behind_a_first_message_that_is_huge_the_end_of_the_file_tells(tmp_path: Path) -> None:
    write(tmp_path / "s.jsonl", line("/w/first", image="x" * 300_000) + line("/w/a"))
    assert session_folders(str(tmp_path)) == [["/w/a"]]


def test_subagents_and_other_files_do_not_count(tmp_path: Path) -> None:
    write(tmp_path / "agent-1.jsonl", line("/w/agent"))
    write(tmp_path / "notes.json", line("/w/notes"))
    (tmp_path / "folder.jsonl").mkdir()
    (tmp_path / "broken.jsonl").symlink_to("nothing")
    write(tmp_path / "empty.jsonl", "")
    assert session_folders(str(tmp_path)) == []


def test_a_missing_folder_has_no_sessions(tmp_path: Path) -> None:
    assert session_folders(str(tmp_path / "nowhere")) == []


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_in_the_place_of_a_transcript_does_not_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")
    write(tmp_path / "s.jsonl", line("/w/a"))
    assert session_folders(str(tmp_path)) == [["/w/a"]]
