"""What is read out of the session files of tests/golden/transcripts, some real, some made for each kind of record."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from recall.core.types import FoundFile
from recall.sources.conversations import follow

FOLDER = Path(__file__).resolve().parents[2] / "golden" / "transcripts"
EXPECTED: dict[str, Any] = json.loads((FOLDER / "expected.json").read_text("utf-8"))


@pytest.fixture(autouse=True)
def utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Dates are the person's; this one lives in Reykjavik."""
    if not hasattr(time, "tzset"):
        pytest.skip("the time zone cannot be set here")
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def read(name: str) -> dict[str, Any]:
    path = FOLDER / name
    steps = list(follow(FoundFile("conversation", str(path), "/folder", path.stat().st_size, 1), None))
    ending = steps[-1].ending
    assert ending
    return {
        "title": ending.title,
        "left_out": ending.left_out,
        "damaged_lines": ending.damaged_lines,
        "exchanges": [
            {"key": document.key, "date": document.date, "session": document.session, "body": document.body}
            for step in steps
            if (document := step.document)
        ],
    }


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_exactly_the_exchanges_of_people_are_read(name: str) -> None:
    assert read(name) == EXPECTED[name]


def test_every_golden_file_is_expected_and_nothing_that_is_to_be_dropped_is() -> None:
    assert sorted(EXPECTED) == sorted(path.relative_to(FOLDER).as_posix() for path in FOLDER.glob("*/*.jsonl"))
    assert "DROP" not in json.dumps(EXPECTED)


def test_the_day_is_that_of_the_person(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    assert read("client-2.1.197/interactive.jsonl")["exchanges"][0]["date"] == "2026-11-30"
