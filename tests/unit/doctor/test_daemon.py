"""What is said of a daemon by its own words."""

from pathlib import Path
from typing import Any

import pytest

from recall.doctor import daemon
from recall.doctor.case import Case, Finding, Serve
from recall.version import BUILD
from recall.wire.paths import StatePaths


def case_with(serve: Serve) -> Case:
    """A case in which the daemon has been asked already."""
    case = Case(StatePaths("/nowhere/state"), {}, None, "linux", 0.0, Path("/nowhere"))
    case.__dict__["serve"] = serve
    return case


@pytest.mark.parametrize(
    ("says", "state", "code", "fixable"),
    [
        ({"state": "ready", "build": BUILD}, "ok", "ready", False),
        ({"state": "indexing", "build": BUILD}, "ok", "indexing", False),
        ({"state": "ready", "build": BUILD - 1}, "problem", "older", True),
        ({"state": "ready", "build": BUILD + 1}, "note", "newer", False),
        ({"state": "failed", "build": BUILD}, "note", "failed", False),
        ({"state": "ready"}, "problem", "older", True),
        (None, "problem", "mute", True),
    ],
)
def test_a_daemon(says: dict[str, Any] | None, state: str, code: str, fixable: bool) -> None:
    (found,) = daemon.daemon(case_with(Serve(held=True, says=says, error="no answer")))
    assert (found.state, found.code, found.fixable) == (state, code, fixable)


def test_without_a_daemon_the_next_message_starts_one() -> None:
    (found,) = daemon.daemon(case_with(Serve(held=False)))
    assert (found.state, found.code) == ("ok", "stopped")


def test_what_it_complains_about_is_said_once() -> None:
    case = case_with(Serve(held=True, says={"state": "ready", "build": BUILD, "problem": "the disk is full"}))
    found = daemon.trouble(case, [Finding("model", "ok", "ok", ""), Finding("path", "problem", "x", "")])
    assert found is not None
    assert (found.state, found.code) == ("problem", "complains")
    assert "the disk is full" in found.found
    assert daemon.trouble(case, [Finding("model", "problem", "damaged", "")]) is None
    assert daemon.trouble(case_with(Serve(held=False)), []) is None
