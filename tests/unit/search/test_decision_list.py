"""The list of decisions that a session starts with: order, budget, what is left out, and what a name cannot do."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.core.types import AnyRecord, Document
from recall.search.decision_list import LIST_BYTES, LIST_HEADERS, Listed, render_list
from recall.search.headlines import Language

FOLDER = "/home/me/project/docs/adr"


def record(number: int, name: str = "Use a queue between the services", folder: str = FOLDER) -> Document:
    return Document("knowledge", f"{folder}/{number:04}-x.md", "/home/me/project", f"{number:04} {name}", "", "")


def lines(listed: Listed | None) -> list[str]:
    assert listed is not None
    output = json.loads(listed.line)["hookSpecificOutput"]
    assert set(output) == {"hookEventName", "additionalContext"}
    assert output["hookEventName"] == "SessionStart"
    return str(output["additionalContext"]).split("\n")


def test_a_short_list_stands_in_order_of_numbers_and_names_its_folder() -> None:
    found = lines(render_list([record(31, "Use NATS"), record(7, "Store times in UTC")], "en"))
    assert found == [LIST_HEADERS["en"], f"{FOLDER}:", "- 0007 Store times in UTC", "- 0031 Use NATS"]


def test_folders_are_told_apart() -> None:
    records = [record(9), record(8, folder="/home/me/project/adr"), record(7)]
    found = lines(render_list(records, "ja"))
    assert [line for line in found if line.endswith(":")] == ["/home/me/project/adr:", f"{FOLDER}:"]
    assert found[0] == LIST_HEADERS["ja"]


def test_a_record_whose_number_does_not_tell_its_file_comes_with_the_file() -> None:
    plain = Document("knowledge", f"{FOLDER}/use-nats.md", "/p", "Use NATS", "", "")
    numbered = Document("knowledge", f"{FOLDER}/queue.md", "/p", "31 Use NATS", "", "")
    found = lines(render_list([numbered, plain], "en"))
    assert found[2:] == ["- Use NATS (use-nats.md)", "- 31 Use NATS (queue.md)"]


@pytest.mark.parametrize(
    ("language", "more"), [("en", "({} older ones are not listed)"), ("ja", "（ほかに古いもの {} 件）")]
)
def test_of_too_many_the_newest_are_listed_and_the_others_counted(language: Language, more: str) -> None:
    listed = render_list([record(number) for number in range(200, 0, -1)], language)
    assert listed is not None
    found = lines(listed)
    kept = [line for line in found if line.startswith("- ")]
    assert kept[-1].startswith("- 0200")
    assert kept[0].startswith(f"- {200 - len(kept) + 1:04}")
    assert found[-1] == more.format(200 - len(kept))
    assert len(listed.line.encode()) > LIST_BYTES - 60


def test_where_not_all_could_be_read_no_number_is_claimed() -> None:
    assert lines(render_list([record(7)], "en", unread=True))[-1] == "(older ones are not listed)"
    assert render_list([], "en", unread=True) is None


def test_none_are_nothing_and_a_place_that_fits_nowhere_does_not_hide_the_others() -> None:
    assert render_list([], "en") is None
    huge = record(9, folder="/" + "x" * 3000)
    assert render_list([huge], "en") is None
    assert lines(render_list([huge, record(7)], "en"))[-1] == "(1 older ones are not listed)"


def test_a_secret_in_a_name_is_masked_and_a_name_stays_one_line() -> None:
    token = "ghp_" + "wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx"
    found = lines(render_list([record(7, f"Token {token}"), record(6, 'Two\nlines\u202e "and" \\ more')], "en"))
    assert found[2:] == ['- 0006 Two lines "and" \\ more', "- 0007 Token [masked: github-pat]"]


@dataclass(frozen=True)
class _Made:
    records: Sequence[AnyRecord]


_TEXTS = st.text(max_size=120) | st.sampled_from(["日本語の決定" * 30, '"\\' * 60, "😀" * 50, "\x00\n\u2028" * 9])
_MADE = st.lists(st.tuples(st.integers(0, 99_999), _TEXTS, _TEXTS), max_size=120).map(
    lambda rows: _Made([record(number, name, f"/{folder}") for number, name, folder in rows])
)


@given(_MADE, st.sampled_from(["en", "ja"]), st.integers(0, 3000), st.booleans())
def test_whatever_the_records_hold_the_line_keeps_its_budget(
    made: _Made, language: Language, limit: int, unread: bool
) -> None:
    listed = render_list(made.records, language, limit, unread=unread)
    if listed is None:
        return
    assert len(listed.line.encode()) <= limit
    assert listed.line.count("\n") == 1
    found = lines(listed)
    assert len([line for line in found if line.startswith("- ")]) >= len(listed.records) > 0
    folders = len({r.path.rpartition("/")[0] for r in listed.records})
    left = len(made.records) > len(listed.records) or unread
    assert len(found) <= 1 + folders + len(listed.records) + left
