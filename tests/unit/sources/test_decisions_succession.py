from dataclasses import dataclass
from pathlib import Path

import pytest

from recall.core.types import Kind
from recall.sources.succession import Succession, linked_path, resolve


@dataclass(frozen=True)
class Row:
    path: str
    name: str
    successor: str | None = None
    successor_path: str | None = None
    origin: str | None = None
    person: str | None = None
    project: str = "p"
    language: str | None = "en"
    group: str | None = None
    description: str = ""
    date: str | None = None
    kind: Kind = "knowledge"
    session: str | None = None
    sessions: frozenset[str] = frozenset()


def test_a_successor_is_found_by_link_number_or_title() -> None:
    new = Row("/d/0031-y.md", "0031 Use Y")
    for old in (
        Row("/d/0014-x.md", "0014 Use X", "whatever it says", "/d/0031-y.md"),
        Row("/d/0014-x.md", "0014 Use X", "whatever it says", "/d/0031-y"),
        Row("/d/0014-x.md", "0014 Use X", "31"),
        Row("/d/0014-x.md", "0014 Use X", "use y"),
    ):
        assert resolve([old, new]) == {old.path: Succession("0031", new.path)}


def test_a_successor_that_appears_later_changes_the_record() -> None:
    old = Row("/d/0014-x.md", "0014 Use X", "0031", "/d/0031-y.md")
    assert resolve([old]) == {old.path: Succession("0031", None)}
    assert resolve([old, Row("/d/0031-y.md", "0031 Use Y")]) == {old.path: Succession("0031", "/d/0031-y.md")}


def test_a_chain_is_followed_to_what_holds_today() -> None:
    rows = [Row("/d/1.md", "1 A", "2"), Row("/d/2.md", "2 B", "3"), Row("/d/3.md", "3 C")]
    assert resolve(rows) == {"/d/1.md": Succession("3", "/d/3.md"), "/d/2.md": Succession("3", "/d/3.md")}


def test_a_chain_that_ends_with_a_rejected_record_has_no_successor() -> None:
    rows = [Row("/d/1.md", "1 A", "2"), Row("/d/2.md", "2 B", "")]
    assert resolve(rows) == {"/d/1.md": Succession("", None), "/d/2.md": Succession("", None)}


def test_a_ring_ends() -> None:
    rows = [Row("/d/1.md", "1 A", "2"), Row("/d/2.md", "2 B", "1"), Row("/d/3.md", "3 C", "3")]
    assert resolve(rows) == {
        "/d/1.md": Succession("2", "/d/2.md"),
        "/d/2.md": Succession("1", "/d/1.md"),
        "/d/3.md": Succession("", None),
    }


def test_a_record_of_another_project_is_never_named() -> None:
    old = Row("/a/0014-x.md", "0014 Use X", "0031", "/b/0031-secret.md", project="a")
    assert resolve([old, Row("/b/0031-secret.md", "0031 Secret", project="b")]) == {old.path: Succession("0031", None)}


def test_the_same_number_in_another_folder_is_another_record() -> None:
    old = Row("/d/0014-x.md", "0014 Use X", "0031")
    assert resolve([old, Row("/e/0031-y.md", "0031 Use Y")])[old.path] == Succession("0031", None)


def test_each_language_leads_to_its_own_version_of_the_successor() -> None:
    rows = [
        Row("/d/1-a.md", "1 A", "2", language="en", group="/d/1-a"),
        Row("/d/1-a.ja.md", "1 エー", "2", "/d/2-b.md", language="ja", group="/d/1-a"),
        Row("/d/2-b.md", "2 B", language="en", group="/d/2-b"),
        Row("/d/2-b.ja.md", "2 ビー", language="ja", group="/d/2-b"),
    ]
    found = resolve(rows)
    assert found == {"/d/1-a.md": Succession("2", "/d/2-b.md"), "/d/1-a.ja.md": Succession("2", "/d/2-b.ja.md")}


def test_a_translation_that_was_not_updated_is_out_of_force_as_well() -> None:
    rows = [
        Row("/d/1-a.md", "1 A", "2", language="en", group="/d/1-a"),
        Row("/d/1-a.ja.md", "1 エー", language="ja", group="/d/1-a"),
        Row("/d/2-b.md", "2 B", language="en", group="/d/2-b"),
    ]
    assert resolve(rows)["/d/1-a.ja.md"] == Succession("2", "/d/2-b.md")


@pytest.mark.skipif(Path("/").anchor != "/", reason="POSIX paths")
def test_links_are_read_as_markdown_writes_them() -> None:
    record = "/d/adr/0014-x.md"
    assert linked_path(record, "./0031-y.md#decision") == "/d/adr/0031-y.md"
    assert linked_path(record, "../old/0031%20y.md") == "/d/old/0031 y.md"
    assert linked_path(record, "/docs/adr/0031-y.md") == "/d/adr/0031-y.md"
    assert linked_path(record, "https://example.com/r/blob/main/docs/adr/0031-y.md?plain=1") == "/d/adr/0031-y.md"
    assert linked_path(record, "#decision") is None
    assert linked_path(record, "") is None
