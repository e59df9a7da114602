"""What is said of sharing, without asking the server."""

from dataclasses import replace
from pathlib import Path

import pytest

from recall.doctor.case import Case
from recall.doctor.sharing import AWAY_SECONDS, judge_sharing, sharing
from recall.replica.membership import Membership
from recall.share.report import Standing
from recall.wire.paths import StatePaths

NOW = 2_000_000_000.0
WELL = Standing(
    member=Membership("postgresql://db/team", "0" * 32, "laptop", "ann", "1" * 32, agreed=True),
    server="db:5432/team",
    protected=True,
    sent=3,
    received=4,
    machines=[("desk", "bob", 4)],
    synced=int(NOW) - 60,
    failed=None,
    failing_since=None,
)


@pytest.mark.parametrize(
    ("stands", "driver", "findings"),
    [
        (WELL, True, [("ok", "ok")]),
        (replace(WELL, synced=None), True, [("ok", "ok")]),
        (
            replace(WELL, synced=None, member=replace(WELL.member, agreed=False)),
            True,
            [("note", "not-begun")],
        ),
        (WELL, False, [("problem", "no-driver")]),
        (replace(WELL, member=replace(WELL.member, paused=True)), True, [("note", "paused")]),
        (replace(WELL, failed="no answer", failing_since=int(NOW) - 60), True, [("note", "failing")]),
        (replace(WELL, failed="no answer", failing_since=int(NOW - AWAY_SECONDS) - 9), True, [("problem", "failing")]),
        (replace(WELL, failed="no answer"), True, [("note", "failing")]),
        (replace(WELL, protected=False), True, [("note", "unprotected")]),
        (
            replace(WELL, member=replace(WELL.member, paused=True), failed="no answer", failing_since=0),
            True,
            [("note", "paused")],
        ),
    ],
)
def test_a_membership(stands: Standing, driver: bool, findings: list[tuple[str, str]]) -> None:
    found = judge_sharing(stands, NOW, 5, has_driver=driver)
    assert [(line.state, line.code) for line in found] == findings
    assert not any(isinstance(value, str) for line in found for value in line.facts.values()), "no name of the team's"


def test_a_copied_membership_is_told_whatever_else_there_is() -> None:
    for stands in (WELL, replace(WELL, failed="copied"), replace(WELL, member=replace(WELL.member, paused=True))):
        (found,) = judge_sharing(stands, NOW, 5, has_driver=True, copied=True)
        assert (found.state, found.code) == ("problem", "copied")


@pytest.mark.parametrize(
    ("seconds", "words"), [(60, "works at the moment"), (3 * 86_400, "has worked for 3 days"), (-5, "works at the")]
)
def test_it_says_since_when(seconds: float, words: str) -> None:
    (found,) = judge_sharing(replace(WELL, failed="gone", failing_since=int(NOW - seconds)), NOW, 5, has_driver=True)
    assert words in found.found


def test_without_a_team_nothing_is_said(tmp_path: Path) -> None:
    case = Case(StatePaths(str(tmp_path)), {}, tmp_path, "linux", NOW, tmp_path)
    (found,) = sharing(case)
    assert (found.state, found.code) == ("ok", "off")
