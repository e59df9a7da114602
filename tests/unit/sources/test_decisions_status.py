import pytest

from recall.sources.status import Statement, read_status
from recall.sources.succession import Reference


def said(line: str, *, first: bool = True) -> Statement:
    statement = read_status(line, first=first)
    assert statement is not None, line
    return statement


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("accepted", "accepted"),
        ("✅ **Accepted**", "accepted"),
        ("Accepted (amended 2024-05-04)", "accepted"),
        ("accepted — supersedes ADR-0024 and ADR-0025", "accepted"),
        ("accepted — ADR-0024 と ADR-0025 を supersede", "accepted"),
        ("承認済み", "accepted"),
        ("Proposed", "proposed"),
        ("承認待ち", "proposed"),
        ("partially-superseded-by ADR-0097 (the first half)", "partially superseded"),
        ("superseded in part by 0097", "partially superseded"),
        ("部分的に置き換え（ADR-0097）", "partially superseded"),
    ],
)
def test_these_are_in_force(line: str, status: str) -> None:
    assert said(line) == (status, None)


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("rejected", "rejected"),
        ("❌ Rejected by the team", "rejected"),
        ("採用しない", "rejected"),
        ("却下", "rejected"),
        ("deprecated", "deprecated"),
        ("非推奨", "deprecated"),
        ("廃止", "deprecated"),
        ("**withdrawn (2026-04-27)** — the same day", "withdrawn"),
        ("withdrawn — tension with contemplative axioms (ADR-0002)", "withdrawn"),
        ("取り下げ", "withdrawn"),
        ("superseded", "superseded"),
    ],
)
def test_these_are_out_of_force_with_nothing_in_their_place(line: str, status: str) -> None:
    assert said(line) == (status, None)


@pytest.mark.parametrize(
    ("line", "successor"),
    [
        ("superseded by [ADR-0031](0031-y.md)", Reference("0031", "0031-y.md")),
        ("superseded by 0031", Reference("0031")),
        ("superseded-by ADR-0070 (Docker removed; 2 files stay)", Reference("0070")),
        ("Superceded by [31. Use y](0031-use-y.md)", Reference("31", "0031-use-y.md")),
        ("[Superseded by 31](0031-y.md)", Reference("31", "0031-y.md")),
        ("Superseded by [[0031-y]]", Reference("0031", "0031-y")),
        ("Superseded by ./0031-use-y.md", Reference("0031", "./0031-use-y.md")),
        ("Superseded on 2024-05-01 by ADR-31", Reference("31")),
        ("Superseded by Use y everywhere.", Reference("Use y everywhere")),
        ("Accepted, later superseded by ADR-31", Reference("31")),
        ("~~Accepted~~ Superseded by ADR-31", Reference("31")),
        ("This ADR has been superseded by ADR-31.", Reference("31")),
        ("Obsoleted by: RFC 12", Reference("12")),
        ("Replaced by [Push](push.md)", Reference("Push", "push.md")),
        ("置き換え済み: ADR-0031", Reference("0031")),
        ("ADR-0031 により置き換え", Reference("0031")),
        ("[ADR-0031](0031-y.ja.md) に supersede された", Reference("0031", "0031-y.ja.md")),
        ("supersede 済み（ADR-0031）", Reference("0031")),
    ],
)
def test_what_replaced_a_record_is_read_by_link_number_or_title(line: str, successor: Reference) -> None:
    assert said(line) == ("superseded", successor)


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("withdrawn by [ADR-0034](0034-y.md) on 2026-05-05", "withdrawn"),
        ("Deprecated in favor of [0034](0034-y.md)", "deprecated"),
        ("廃止（[ADR-0034](0034-y.md) に置き換え）", "deprecated"),
    ],
)
def test_a_record_that_was_given_up_may_name_its_successor(line: str, status: str) -> None:
    assert said(line) == (status, Reference("0034", "0034-y.md"))


@pytest.mark.parametrize(
    "line",
    [
        "",
        "---",
        "{proposed | rejected | accepted | superseded by [ADR-0005](0005-example.md)}",
        "[proposed | rejected | accepted | deprecated]",
        "The old interface was superseded by ADR-31.",
        "ADR-0053 により再解釈 (2026-06-06)。",
        "Reinterpreted by [ADR-0053](0053-y.md)",
    ],
)
def test_these_say_nothing(line: str) -> None:
    assert read_status(line) is None


def test_prose_below_the_status_is_not_read_as_one() -> None:
    assert read_status("Deprecated endpoints stay for a year.", first=False) is None
    assert read_status("Rejected alternatives are listed below.", first=False) is None
    assert said("Deprecated (2024-01-01)", first=False).status == "deprecated"
    assert said("Superseded by ADR-31", first=False).successor == Reference("31")
