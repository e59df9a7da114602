"""The examination: no check hides another or keeps anybody waiting, and mending is believed only when it is seen."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from recall.core.errors import RecallError
from recall.doctor.case import Case, Finding
from recall.doctor.examine import CHECKS, UNBOUND, Check, examine, guarded, mend
from recall.wire.paths import StatePaths


@pytest.fixture
def case(tmp_path: Path) -> Case:
    state = tmp_path / "state"
    state.mkdir(mode=0o700)
    (state / "config.toml").touch()
    return Case(StatePaths(str(state)), {"CLAUDE_CONFIG_DIR": str(tmp_path)}, tmp_path, "linux", 0.0, tmp_path)


def fine(_: Case) -> Iterator[Finding]:
    yield Finding("fine", "ok", "ok", "well")


def breaks(_: Case) -> Iterator[Finding]:
    yield Finding("breaks", "note", "first", "said before it broke")
    raise KeyError("a word of somebody's note")


def refuses(_: Case) -> Iterator[Finding]:
    raise RecallError("expected this, found that; do so")
    yield


def test_a_check_that_breaks_is_a_line_of_its_own(case: Case) -> None:
    checks: dict[str, Check] = {"fine": fine, "breaks": breaks, "refuses": refuses, "again": fine}
    found = examine(case, checks)
    assert [line.name for line in found] == ["setup", "fine", "breaks", "breaks", "refuses", "fine"]
    assert [line.state for line in found[2:5]] == ["note", "problem", "problem"]
    assert "KeyError at examine.py:" in found[3].found
    assert "note" not in found[3].found.partition("failed")[2], "the message of an error may quote anything"
    assert "expected this" in found[4].found


def test_a_check_that_hangs_is_given_up(case: Case) -> None:
    never = threading.Event()

    def hangs(_: Case) -> Iterator[Finding]:
        never.wait()
        yield Finding("hangs", "ok", "ok", "")

    (line,) = guarded("hangs", hangs, case, seconds=0.05)
    never.set()
    assert line.state == "problem"
    assert "did not end within" in line.found


def test_without_a_setup_only_that_is_looked_at_which_needs_none(case: Case) -> None:
    Path(case.paths.config).unlink()
    asked: list[str] = []

    def check(name: str) -> Check:
        def run(_: Case) -> Iterator[Finding]:
            asked.append(name)
            yield Finding(name, "ok", "ok", "")

        return run

    found = examine(case, {name: check(name) for name in CHECKS})
    assert (found[0].name, found[0].state) == ("setup", "problem")
    assert asked == [name for name in CHECKS if name in UNBOUND]


def finding(name: str, state: str = "problem", code: str = "bad", fix: Callable[[], str] | None = None) -> Finding:
    return Finding(name, state, code, f"{name} is {code}", "do this", fix)  # type: ignore[arg-type]


def test_what_is_gone_at_the_second_look_is_fixed_and_stands_in_its_place() -> None:
    before = [finding("a", "ok", "ok"), finding("b", fix=lambda: "did b"), finding("c", fix=lambda: "did c")]
    after = [finding("a", "ok", "ok"), finding("b", "ok", "ok"), finding("c", "ok", "ok")]
    lines = mend(before, lambda: after)
    assert [(line.name, line.state, line.advice) for line in lines] == [
        ("a", "ok", "do this"),
        ("b", "fixed", "did b"),
        ("c", "fixed", "did c"),
    ]
    assert not any(line.fixable for line in lines)


def test_what_is_still_there_is_not_called_fixed_whatever_its_mending_says() -> None:
    before = [finding("a", fix=lambda: "did a"), finding("b")]
    assert [line.state for line in mend(before, lambda: before)] == ["problem", "problem"]


def test_a_mending_that_fails_says_why_and_keeps_no_other_back() -> None:
    def refuse() -> str:
        raise OSError("the disk is full")

    before = [finding("a", fix=refuse), finding("b", fix=lambda: "did b")]
    after = [replace(before[0]), finding("b", "ok", "ok")]
    lines = mend(before, lambda: after)
    assert [(line.name, line.state) for line in lines] == [("a", "problem"), ("b", "fixed")]
    assert "the disk is full" in lines[0].advice


def test_two_faults_of_one_check_are_told_apart() -> None:
    before = [finding("a", code="one", fix=lambda: "did one"), finding("a", code="two")]
    lines = mend(before, lambda: [finding("a", code="two")])
    assert [(line.code, line.state) for line in lines] == [("one", "fixed"), ("two", "problem")]


def test_where_nothing_can_be_mended_there_is_no_second_look() -> None:
    def never() -> list[Finding]:
        raise AssertionError

    assert mend([finding("a")], never) == [finding("a")]
