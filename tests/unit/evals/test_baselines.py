"""grep and BM25 on records, and records as question files name them."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from recall.core.types import Document
from recall.evals.baselines import Baselines
from recall.evals.records import Records, Text, records_of


def record(path: str, body: str, *, name: str = "", group: str | None = None) -> Document:
    return Document("knowledge", path, "/p", name or Path(path).stem, "", body, group=group)


def ranked(documents: Sequence[Document]) -> Baselines:
    return Baselines(records_of(documents).texts)


def test_grep_counts_the_questions_words() -> None:
    found = ranked([record("/a", "ports"), record("/b", "ports of databases"), record("/c", "nothing")])
    assert found.grep("which ports have the databases?") == ["/b", "/a"]


def test_bm25_weighs_rare_words_and_short_texts() -> None:
    texts = ["common " * 3 + "rare", "common", "common word", "other " * 30 + "rare"]
    found = ranked([record(f"/{number}", text) for number, text in enumerate(texts)])
    assert found.bm25("rare") == ["/0", "/3"]
    assert found.bm25("rare common")[0] == "/0"
    assert found.bm25("common")[-1] == "/2"


def test_bm25_finds_japanese_words_inside_of_runs() -> None:
    found = ranked([record("/a", "アクセスログの保存期間は90日"), record("/b", "画面の色を決める")])
    assert found.bm25("保存の期間は？")[0] == "/a"


def test_versions_of_one_record_are_one() -> None:
    found = ranked([record("/a.en", "ports", group="g"), record("/a.ja", "ports", group="g"), record("/b", "ports")])
    assert found.bm25("ports") == found.grep("ports") == ["g", "/b"]


def test_without_records_nothing_is_found() -> None:
    assert Baselines([]).bm25("anything") == Baselines([]).grep("anything") == []


@pytest.fixture
def records() -> Records:
    return records_of([record("/p/docs/adr/1.md", ""), record("/p/notes/1.md", ""), record("/p/notes/2.md", "")])


def test_records_are_named_by_their_path_or_its_end(records: Records) -> None:
    for name in ("/p/docs/adr/1.md", "docs/adr/1.md", "./adr/1.md", "adr/1.md"):
        found = records.find(name)
        assert isinstance(found, Text)
        assert found.path == "/p/docs/adr/1.md"


def test_names_that_mean_no_record_are_told_apart(records: Records, tmp_path: Path) -> None:
    (tmp_path / "x.md").write_text("a note that is not indexed", "utf-8")
    assert "could be 2 records" in str(records.find("1.md"))
    assert "is not there" in str(records.find("es/2.md"))
    assert "is not there" in str(records.find(""))
    assert "not among the notes" in str(records.find(str(tmp_path / "x.md")))
