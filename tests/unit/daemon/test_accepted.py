"""Which decision records are accepted: files read once, newest first, versions together."""

import os
from pathlib import Path

import pytest

from recall.core.types import SHARED, Document
from recall.daemon.accepted import Statuses, accepted, candidates

PROJECT = "/p"


def document(path: str, name: str, **fields: str | None) -> Document:
    usual = {"project": PROJECT, "description": "", "body": ""}
    return Document("knowledge", path, name=name, **(usual | fields))  # type: ignore[arg-type]


def write(folder: Path, name: str, status: str) -> str:
    path = folder / name
    path.write_text(f"# {name}\n\n## Status\n\n{status}\n\n## Decision\n\nWe do.\n", encoding="utf-8")
    return str(path)


def plenty() -> float:
    return 60.0


def test_what_each_file_says(tmp_path: Path) -> None:
    said = {
        "1.md": "Accepted",
        "2.md": "Proposed",
        "3.md": "Superseded by [4](4.md)",
        "4.md": "承認",
        "5.md": "Rejected",
    }
    paths = [write(tmp_path, name, status) for name, status in said.items()]
    plain = tmp_path / "rule.md"
    plain.write_text("# Reviews\n\nTwo people review.\n", encoding="utf-8")
    found = Statuses().read([*paths, str(plain), str(tmp_path / "gone.md"), "/with a NUL\0"], plenty)
    assert list(found.values()) == ["accepted", "proposed", "superseded", "accepted", "rejected", None, None, None]


def test_a_file_is_read_again_only_when_it_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, statuses = write(tmp_path, "1.md", "Proposed"), Statuses()
    reads = []
    original = os.open
    monkeypatch.setattr(os, "open", lambda name, *rest: reads.append(name) or original(name, *rest))  # type: ignore[func-returns-value]
    assert statuses.read([path], plenty) == statuses.read([path], plenty) == {path: "proposed"}
    assert reads == [path]
    write(tmp_path, "1.md", "Accepted")
    assert statuses.read([path], plenty) == {path: "accepted"}
    assert reads == [path, path]


def test_reading_ends_with_the_time_and_goes_on_the_next_time(tmp_path: Path) -> None:
    paths, statuses = [write(tmp_path, f"{number}.md", "Accepted") for number in range(9)], Statuses()
    ticks = iter([1.0, 1.0, 0.0])
    assert list(statuses.read(paths, lambda: next(ticks))) == paths[:2]
    assert list(statuses.read(paths, plenty)) == paths


def test_candidates_are_this_projects_records_in_force_newest_first() -> None:
    records = [
        document("/a/0007.md", "0007 UTC"),
        document("/a/0031.md", "0031 NATS"),
        document("/a/0014.md", "0014 RabbitMQ", successor="0031"),
        document("/a/0020.md", "0020 Kafka", successor=""),
        document("/a/old.md", "Plain", date="2020-01-01"),
        document("/a/new.md", "Plainer", date="2026-01-01"),
        document("/b/0099.md", "0099 Elsewhere", project="/other"),
        document("/c/0098.md", "0098 Shared", project=SHARED),
        Document("memory", "/m/0097.md", PROJECT, "0097 A note", "", ""),
    ]
    found = candidates(records, {PROJECT})
    assert [[version.name for version in versions] for versions in found] == [
        ["0031 NATS"], ["0007 UTC"], ["Plainer"], ["Plain"],
    ]  # fmt: skip


def test_of_two_languages_one_is_listed_and_either_may_say_that_it_is_accepted() -> None:
    english = document("/a/7.md", "7 UTC", group="7", language="en")
    japanese = document("/a/7.ja.md", "7 時刻", group="7", language="ja")
    (versions,) = candidates([english, japanese], {PROJECT})
    assert accepted([versions], {"/a/7.md": "accepted"}, "ja") == [japanese]
    assert accepted([versions], {"/a/7.ja.md": "accepted", "/a/7.md": "proposed"}, "en") == [english]
    assert accepted([[japanese]], {"/a/7.ja.md": "partially superseded"}, "en") == [japanese]
    assert accepted([versions], {"/a/7.md": "proposed", "/a/7.ja.md": None}, "en") == []
    assert accepted([versions], {}, "en") == []
    withdrawn = document("/a/7.md", "7 UTC", group="7", language="en", successor="")
    assert candidates([withdrawn, japanese], {PROJECT}) == []
