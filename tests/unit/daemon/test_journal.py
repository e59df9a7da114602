"""What is written about a message, and how the last day is counted."""

import json
import time
from pathlib import Path

from recall.core.types import Hit
from recall.daemon.journal import Entry, Journal, last_day

HIT = Hit(1, 0.9, "memory", "a secret name", "a secret description", "/notes/a.md", "/p")


def stamp(seconds_ago: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(time.time() - seconds_ago))


def test_an_entry_names_files_and_numbers_and_no_text_of_a_record(tmp_path: Path) -> None:
    path = tmp_path / "injections.jsonl"
    Journal(path).add(Entry("s-1", "strong", "strong", 0.12, 0.9, [HIT], 300, 4.2))
    fields = json.loads(path.read_text())
    assert fields["items"] == [{"kind": "memory", "path": "/notes/a.md"}]
    assert (fields["session"], fields["tier"], fields["gap"], fields["bytes"]) == ("s-1", "strong", 0.12, 300)
    assert b"secret" not in path.read_bytes()
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_session_that_is_no_plain_word_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "injections.jsonl"
    for session in ("words of the person", "x" * 65, "", None):
        Journal(path).add(Entry(session, "none", "short"))
    assert [json.loads(line)["session"] for line in path.read_text().splitlines()] == [None] * 4


def test_a_full_or_missing_folder_never_reaches_the_answer(tmp_path: Path) -> None:
    Journal(tmp_path / "nowhere" / "injections.jsonl").add(Entry(None, "none", "short"))
    assert list(tmp_path.iterdir()) == []


def test_the_last_day_counts_both_journals_and_passes_over_damage(tmp_path: Path) -> None:
    injections, hook_log = tmp_path / "i", tmp_path / "h"
    rows: list[dict[str, object]] = [
        {"time": stamp(90_000), "reason": "strong", "items": [1]},
        {"time": stamp(60), "reason": "strong", "items": [1]},
        {"time": stamp(50), "reason": "short", "items": []},
        {"time": stamp(40), "reason": "short", "items": []},
    ]
    injections.write_text("\n".join(map(json.dumps, rows)) + '\n{"time": "half\n[]\n7\n')
    hook_log.write_text(
        f"{stamp(99_000)} timeout 300\n{stamp(5)} timeout 300\n{stamp(4)} busy 2\n{stamp(3)} replaced 0\nx\n"
    )
    day = last_day(injections, hook_log, time.time())
    assert (day.asked, day.shown, day.timeouts) == (5, 1, 1)
    assert day.silent == {"short": 2, "busy": 1}
    nothing = last_day(tmp_path / "no", tmp_path / "none", time.time())
    assert (nothing.asked, nothing.silent) == (0, {})
