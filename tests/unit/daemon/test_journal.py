"""What is written about a message, and how the last day is counted."""

import json
import math
import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.core.types import Hit
from recall.daemon.journal import MAX_LINE_BYTES, Entry, Journal, last_day, read_entries, read_hook_log
from recall.daemon.sessions import Past

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
        {"time": stamp(-9_000), "reason": "written under a wrong clock", "items": []},
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


def test_a_session_start_and_a_second_call_are_no_messages(tmp_path: Path) -> None:
    path, hook_log = tmp_path / "i", tmp_path / "h"
    journal = Journal(path)
    journal.add(Entry("s-1", "none", "decisions", items=[HIT], event="SessionStart", source="compact", emptied=True))
    journal.add(Entry("s-1", "none", "no decisions", event="SessionStart", source="startup", prompt="p-0"))
    journal.add(Entry("s-1", "some", "likely", items=[HIT], prompt="p-1"))
    journal.add(Entry("s-1", "none", "answered", prompt="p-1"))
    day = last_day(path, hook_log, time.time())
    assert (day.asked, day.shown, day.silent) == (1, 1, {})
    first = next(read_entries(path))
    assert (first["event"], first["source"]) == ("SessionStart", "compact")
    assert b"secret" not in path.read_bytes()
    assert list(journal.shown()) == [
        Past("s-1", emptied=True, paths=[HIT.path], listed=True),
        Past("s-1", paths=[]),
        Past("s-1", paths=[HIT.path], prompt="p-1"),
        Past("s-1", paths=[], prompt="p-1"),
    ]


def test_what_why_needs_is_kept_without_a_word_of_a_record_or_a_message(tmp_path: Path) -> None:
    path = tmp_path / "injections.jsonl"
    hits = [
        replace(HIT, rank=n, path=f"/notes/{n}.md", signs={"late": 1.23456, "dense": math.nan}) for n in range(1, 20)
    ]
    entry = Entry("s-1", "none", "unlikely", ranked=hits, held=["/h"], cut=["/c"], muted=2, prompt="p-1",
                  probability=0.41234, signs={"cosine": 2.34567})  # fmt: skip
    Journal(path).add(entry)
    Journal(path).add(replace(entry, prompt="words of the person"))
    first, second = read_entries(path)
    assert len(first["ranked"]) == 11
    assert first["ranked"][0] == {"kind": "memory", "path": "/notes/1.md", "score": 0.9, "signs": {"late": 1.235}}
    assert (first["held"], first["cut"], first["muted"], first["prompt"]) == (["/h"], ["/c"], 2, "p-1")
    assert (first["probability"], first["signs"]) == (0.412, {"cosine": 2.346})
    assert "prompt" not in second
    assert b"secret" not in path.read_bytes()
    assert b"words" not in path.read_bytes()


def test_an_entry_without_news_is_as_short_as_before(tmp_path: Path) -> None:
    path = tmp_path / "injections.jsonl"
    Journal(path).add(Entry("s-1", "none", "short"))
    (fields,) = read_entries(path)
    assert list(fields) == ["time", "session", "tier", "reason", "gap", "top", "items", "bytes", "ms"]


@given(
    ranked=st.lists(st.text(max_size=900), max_size=14),
    held=st.lists(st.text(max_size=900), max_size=9),
    items=st.lists(st.text(min_size=1, max_size=60), max_size=5),
)
def test_a_line_is_bounded_and_never_loses_what_was_handed_over(
    tmp_path_factory: pytest.TempPathFactory, ranked: list[str], held: list[str], items: list[str]
) -> None:
    path = tmp_path_factory.mktemp("journal") / "i.jsonl"
    shown, candidates = ([replace(HIT, path=name) for name in paths] for paths in (items, ranked))
    Journal(path).add(Entry("s", "some", "likely", ranked=candidates, held=held, items=shown))
    assert len(path.read_bytes()) <= MAX_LINE_BYTES
    (fields,) = read_entries(path)
    assert [item["path"] for item in fields["items"]] == items
    kept = [hit["path"] for hit in fields.get("ranked", [])]
    assert kept == ranked[: len(kept)]


def test_the_hook_log_is_read_past_its_damage(tmp_path: Path) -> None:
    path = tmp_path / "hook.log"
    path.write_text("2026-08-14T09:30:00 timeout 300\nhalf a\n2026-08-14T09:30:01 replaced 0\nx y z\n")
    assert list(read_hook_log(path)) == [("2026-08-14T09:30:00", "timeout", 300.0)]


def test_a_line_that_was_cut_off_costs_only_itself_and_deep_nesting_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "injections.jsonl"
    path.write_text('{"reason": "short"}\n' + "[" * 100_000 + '\n{"reason": "cut o', encoding="utf-8")
    Journal(path).add(Entry("s-1", "none", "unlikely"))
    Journal(path).add(Entry("s-2", "none", "unlikely"))
    assert [fields["reason"] for fields in read_entries(path)] == ["short", "unlikely", "unlikely"]
