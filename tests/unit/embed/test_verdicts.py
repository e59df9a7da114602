"""What a self-test must show, and how long its verdict is remembered."""

from pathlib import Path

import pytest

from recall.embed.verdicts import WEEK, Trial, Verdicts


def test_a_refusal_counts_until_its_end_and_a_success_for_ever(tmp_path: Path) -> None:
    now = [1e9]
    verdicts = Verdicts(tmp_path / "devices.json", lambda: now[0])
    fast, slow = Trial(1.0, 5.0, "", now[0] + WEEK), Trial(1.0, 0.5, "", now[0] + WEEK)
    verdicts.put("fast", fast)
    verdicts.put("slow", slow)
    assert verdicts.get("none", timed=True) is None
    assert verdicts.get("fast", timed=True) == fast
    assert verdicts.get("slow", timed=True) == slow
    for moved in (WEEK, -1.0):  # a week later, and with a clock that was ahead when it was written
        now[0] = 1e9 + moved
        assert verdicts.get("fast", timed=True) == fast
        assert verdicts.get("slow", timed=True) is None
        assert verdicts.get("slow", timed=False) == slow  # which is no refusal where the speed does not count
    verdicts.forget("fast")
    assert verdicts.get("fast", timed=True) is None


def test_the_latest_twenty_verdicts_are_kept(tmp_path: Path) -> None:
    verdicts, fast = Verdicts(tmp_path / "devices.json"), Trial(1.0, 5.0, "", 0.0)
    for number in range(25):
        verdicts.put(str(number), fast)
    assert [verdicts.get(str(number), timed=True) for number in (0, 4, 5, 24)] == [None, None, fast, fast]


@pytest.mark.parametrize(
    ("trial", "timed", "objects"),
    [
        (Trial(0.99, 1.2, "", 0), True, False),
        (Trial(0.9899, 9.0, "", 0), True, True),
        (Trial(1.0, 1.19, "", 0), True, True),
        (Trial(1.0, 0.1, "", 0), False, False),
        (Trial(float("nan"), 9.0, "", 0), False, True),
        (Trial(1.0, 9.0, "it broke", 0), False, True),
    ],
)
def test_what_a_trial_must_show(trial: Trial, timed: bool, objects: bool) -> None:
    assert bool(trial.objection(timed)) == objects
