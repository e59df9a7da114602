"""`recall models` where a process of its own would tell no more: the table, the questions, a disk that is full."""

import io
import sys
from pathlib import Path

import pytest

from recall.cli.ask import require
from recall.cli.main import main
from recall.cli.models import WIDTH, measured
from recall.core.errors import RecallError, UsageError
from recall.embed.embedder import Embedder
from recall.models import speeds
from recall.models.listing import Entry
from recall.wire.paths import StatePaths
from tiny_model import tiny_model


@pytest.fixture
def paths(tmp_path: Path) -> StatePaths:
    return StatePaths(str(tmp_path / "state"))


def printed(paths: StatePaths, found: list[Entry], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recall.models.listing.entries", lambda *_: iter(found))
    assert main(["models", "--home", paths.home]) == 0


def test_the_table_fits_a_terminal_and_terms_are_open_only_until_they_are_accepted(
    paths: StatePaths, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    languages = "Japanese, " * 30
    known = Entry("gemma", False, licence="Gemma", terms="https://t.example", languages=languages, bytes=10)
    here = Entry(
        "gemma-here", True, licence="L" * 90, terms="https://t.example", languages=languages, installed=("int8",)
    )
    half = Entry("half", False, interrupted=True, arrived=12_000_000)
    printed(paths, [known, here, half], monkeypatch)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines[:5])) <= WIDTH
    assert "Gemma (to be accepted)" in lines[1]
    assert lines[1].endswith("…")
    assert "to be accepted" not in lines[2]
    assert lines[-1].startswith("half is interrupted, 12 MB of it lie here: the same `recall models add` goes on")


@pytest.mark.parametrize("stdin", [None, io.StringIO("y\n")])
def test_where_nobody_can_be_asked_the_option_is_named(
    stdin: io.StringIO | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", stdin)
    with pytest.raises(UsageError, match=r"^Fetch it\? Nobody can be asked here; --yes says yes\.$"):
        require("Fetch it?", "--yes")


def test_a_disk_that_does_not_take_the_speed_stops_nothing(
    paths: StatePaths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_: object) -> None:
        raise RecallError("the disk is full")

    monkeypatch.setattr(speeds, "replace_bytes", full)
    assert measured(Embedder(tiny_model(tmp_path / "tiny")), paths).query_ms_p50 > 0
    assert capsys.readouterr().err == "recall: the measured speed is not kept: the disk is full\n"
