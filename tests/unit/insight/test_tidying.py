"""Candidates for tidying: files that are gone, and pairs that are alike or at odds."""

from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from recall.core.types import BACKGROUND, Project
from recall.insight.records import Index
from recall.insight.tidying import ALIKE, candidates, close_pairs, gone_files, named_files
from recall.sources.succession import resolve
from recall.store.views import Postings, Record, Rows


def record(path: Path, project: Path, **fields: str) -> Record:
    values = {"name": path.stem, "description": "", "date": None, "session": None, "language": None, "group": None,
              "successor": None, "successor_path": None, "origin": None, "person": None} | fields  # fmt: skip
    return Record(kind="knowledge" if "successor" in fields else "memory", path=str(path), project=str(project),
                  sessions=frozenset(), **values)  # type: ignore[arg-type]  # fmt: skip


def index_of(records: list[Record], vectors: list[list[float]]) -> Index:
    """One row a record."""
    matrix = np.array(vectors, np.float32)
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    count = len(records)
    rows = Rows(matrix, np.arange(count, dtype=np.int32), np.arange(count), np.zeros(count, np.bool_),
                np.zeros((count, BACKGROUND), np.float32), Postings.of([b""] * count), list(records),
                [Project("/p", "p")], 1)  # fmt: skip
    return Index(rows, resolve(r for r in records if r.kind == "knowledge"), [], 0)


def project_with(folder: Path, count: int) -> tuple[list[Record], list[list[float]]]:
    """Records on subjects of their own, the last two on one."""
    vectors = np.eye(count, count)
    vectors[-1] = vectors[-2]
    vectors[-1, 0] = 0.2
    return [record(folder / f"{n}.md", folder) for n in range(count)], (vectors + 3).tolist()


def write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def test_two_notes_on_one_subject_are_found_whatever_all_notes_share(tmp_path: Path) -> None:
    records, vectors = project_with(tmp_path, 10)
    ((first, second, closeness),) = close_pairs(index_of(records, vectors))
    assert (first.path, second.path) == (str(tmp_path / "8.md"), str(tmp_path / "9.md"))
    assert closeness >= ALIKE
    found = candidates(index_of(records, vectors))
    assert [(pair.first, pair.second) for pair in found.alike] == [(first.path, second.path)]
    assert found.disagree == []


def test_of_few_notes_nothing_is_said(tmp_path: Path) -> None:
    assert close_pairs(index_of(*project_with(tmp_path, 7))) == []


def test_language_versions_and_other_projects_are_no_pairs(tmp_path: Path) -> None:
    records, vectors = project_with(tmp_path, 10)
    versions = [
        *records[:8],
        record(tmp_path / "8.md", tmp_path, group="g"),
        record(tmp_path / "9.md", tmp_path, group="g"),
    ]
    assert close_pairs(index_of(versions, vectors)) == []
    elsewhere = [*records[:9], record(tmp_path / "9.md", tmp_path / "other")]
    assert close_pairs(index_of(elsewhere, vectors)) == []


def test_notes_of_different_days_on_one_subject_may_contradict(tmp_path: Path) -> None:
    records, vectors = project_with(tmp_path, 10)
    write(tmp_path / "8.md", "The port is 5432, says the team on 2025-01-02. And 2024/12/31.")
    write(tmp_path / "9.md", "The port is 6543 since 2026年3月1日.")
    found = candidates(index_of(records, vectors))
    assert found.alike == []
    assert [pair.words for pair in found.disagree] == ["8.md is of 2025-01-02, 9.md of 2026-03-01"]


def test_a_superseded_record_beside_one_that_is_not_its_successor(tmp_path: Path) -> None:
    records, vectors = project_with(tmp_path, 10)
    records[8] = record(tmp_path / "8.md", tmp_path, successor="", successor_path="")
    found = candidates(index_of(records, vectors))
    assert [pair.words for pair in found.disagree] == ["8.md is superseded, 9.md is not"]


def test_files_in_backticks_that_the_project_no_longer_has(tmp_path: Path) -> None:
    (tmp_path / "src" / "deep").mkdir(parents=True)
    for name in ("src/there.py", "src/deep/moved.py"):
        write(tmp_path / name, "")
    text = "`src/there.py:12`, `deep/moved.py`, `src/gone.py`, `src/gone.py#L3`, `a/b`, `and/or words.py`, `../x/y.py`"
    note = record(tmp_path / "n.md", tmp_path)
    (gone,) = gone_files([note], {note.path: text})
    assert (gone.path, gone.files) == (note.path, ("src/gone.py",))
    nowhere = record(tmp_path / "m.md", tmp_path / "missing")
    assert gone_files([nowhere], {nowhere.path: text}) == []


@given(st.text())
def test_no_text_names_a_file_outside_of_its_project(text: str) -> None:
    for name in named_files(text + "`" + text + "/x.py`"):
        assert not name.startswith("/")
        assert ".." not in name.split("/")
