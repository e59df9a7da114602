"""Whole runs over small notes, with the real model and real files."""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bundled import bundled_late
from recall.core.errors import ModelError, StoreBusy, StoreError, StoreTooNew
from recall.core.types import Skipped
from recall.embed.catalog import find_model
from recall.embed.embedder import Embedder
from recall.embed.encoder import Heads
from recall.index.pipeline import run
from recall.index.sources import Source
from recall.index.work import Progress, Report
from recall.sources import memory
from recall.store.connection import open_writer
from recall.store.reader import Reader
from recall.store.repair import damaged_files
from recall.store.views import Rows
from recall.wire.lock import HeldLock
from recall.wire.paths import StatePaths

LONG = "The nightly backup runs at three. " * 60  # 4 chunks


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return Embedder(find_model("multilingual-e5-small", None))


class Machine:
    """A Claude folder with the notes of one project, and a state folder."""

    def __init__(self, root: Path, embedder: Embedder) -> None:
        self.claude = root / "claude"
        self.notes = self.claude / "projects" / "-home-me-app" / "memory"
        self.notes.mkdir(parents=True)
        (root / "state").mkdir()
        self.paths = StatePaths(str(root / "state"))
        self.index = Path(self.paths.index)
        self.embedder = embedder
        self.source = Source("memory", lambda: memory.scan([self.claude]), memory.read)
        self._clock = 1_700_000_000

    def write(self, name: str, body: str, description: str = "what to know") -> Path:
        """Write a note whose time of change lies in the past and differs from all others."""
        path = self.notes / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"---\nname: {path.stem}\ndescription: {description}\n---\n{body}\n", "utf-8")
        self._clock += 1
        os.utime(path, (self._clock, self._clock))
        return path

    def run(self, **options: object) -> Report:
        return run(self.paths, [self.source], self.embedder, bundled_late(), **options)  # type: ignore[arg-type]

    def rows(self) -> Rows:
        reader = Reader(self.index)
        rows = reader.load(self.embedder.identity)
        reader.close()
        return rows

    def names(self) -> list[str]:
        return sorted(record.name for record in self.rows().documents)


@pytest.fixture
def machine(tmp_path: Path, embedder: Embedder) -> Machine:
    return Machine(tmp_path, embedder)


def counts(report: Report) -> tuple[int, int, int, int, int]:
    return (report.added, report.changed, report.removed, report.unchanged, report.chunks_embedded)


def test_a_first_run_adds_every_note_and_a_second_one_finds_nothing_to_do(machine: Machine) -> None:
    machine.write("a.md", "Tabs, not spaces.")
    machine.write("deep/b.md", LONG)
    report = machine.run()
    assert (report.scanned, report.complete, report.skipped) == (2, True, [])
    assert counts(report) == (2, 0, 0, 0, 7)  # 1 + 4 chunks, and a headline each
    before = Reader(machine.index)
    version = before.version()
    assert counts(machine.run()) == (0, 0, 0, 2, 0)
    assert before.version() == version
    before.close()


def test_the_vectors_are_those_of_the_chunks_and_the_headlines_those_of_the_notes(machine: Machine) -> None:
    machine.write("indent.md", "Tabs, not spaces.", description="how to indent")
    machine.run()
    rows = machine.rows()
    (record,) = rows.documents
    assert (record.kind, record.name, record.description) == ("memory", "indent", "how to indent")
    assert record.path == str(machine.notes / "indent.md")
    expected = machine.embedder.embed_passages(["indent\nhow to indent", "indent\nhow to indent\nTabs, not spaces."])
    assert np.allclose(rows.vectors, expected, atol=1e-6)
    assert rows.is_headline.tolist() == [True, False]
    reader = Reader(machine.index)
    assert reader.sketches(rows.row_ids.tolist()).keys() == set(rows.row_ids.tolist())
    reader.close()
    assert np.allclose(np.linalg.norm(rows.vectors, axis=1), 1, atol=1e-5)


def test_only_the_changed_note_is_embedded_again_and_a_touched_one_is_not(machine: Machine) -> None:
    machine.write("a.md", "Tabs, not spaces.")
    machine.write("b.md", "Use British spelling.")
    touched = machine.write("c.md", "Never force-push.")
    machine.run()
    machine.write("b.md", "Use American spelling.")
    os.utime(touched, (1_800_000_000, 1_800_000_000))
    assert counts(machine.run()) == (0, 1, 0, 2, 1)


def test_a_longer_note_is_embedded_only_where_its_text_is_new(machine: Machine) -> None:
    machine.write("a.md", LONG)
    machine.run()
    machine.write("a.md", LONG + "And one more line at the end.")
    assert counts(machine.run()) == (0, 1, 0, 0, 1)


def test_a_renamed_note_is_not_embedded_again(machine: Machine) -> None:
    path = machine.write("a.md", LONG)
    machine.run()
    path.rename(path.with_name("b.md"))
    assert counts(machine.run()) == (1, 0, 1, 0, 0)
    assert [Path(record.path).name for record in machine.rows().documents] == ["b.md"]


def test_a_removed_note_vanishes_with_its_vectors_and_its_text(machine: Machine) -> None:
    machine.write("canary.md", "Tabs, not spaces.", description="canary-description")
    machine.write("kept.md", "Never force-push.")
    machine.run()
    assert b"canary-description" in machine.index.read_bytes()
    (machine.notes / "canary.md").unlink()
    assert counts(machine.run()) == (0, 0, 1, 1, 0)
    assert machine.names() == ["kept"]
    assert b"canary" not in b"".join(entry.read_bytes() for entry in machine.index.parent.iterdir())
    connection = open_writer(machine.index)
    for table in ("embedding", "sketch"):
        assert connection.execute(f"SELECT count(*) FROM {table}").fetchone() == (2,)
    connection.close()


def test_a_note_written_in_the_moment_of_the_scan_is_looked_at_again(machine: Machine) -> None:
    path = machine.write("a.md", "Tabs.")
    os.utime(path)
    machine.run()
    times = (path.stat().st_atime_ns, path.stat().st_mtime_ns)
    path.write_text(path.read_text("utf-8").replace("Tabs.", "Dots."), "utf-8")
    os.utime(path, ns=times)  # same size, same time: what a coarse clock makes of two quick saves
    assert counts(machine.run()) == (0, 1, 0, 0, 1)


def test_one_bad_note_is_named_with_its_reason_and_hides_no_other(machine: Machine) -> None:
    machine.write("good.md", "Tabs, not spaces.")
    bad = machine.write("bad.md", "")
    bad.write_bytes(b"# A note\n\nwith a zero \0 byte")
    report = machine.run()
    assert (report.added, [item.path for item in report.skipped]) == (1, [str(bad)])
    assert "zero bytes" in report.skipped[0].reason
    reader = Reader(machine.index)
    summary = reader.summary(machine.embedder.identity)
    reader.close()
    assert (summary.skipped, summary.pending) == (report.skipped, 0)
    bad.write_text("# A note\n\nthat was mended", "utf-8")
    assert machine.run().skipped == []
    assert machine.names() == ["A note", "good"]


def test_a_note_that_becomes_unreadable_leaves_the_index(machine: Machine) -> None:
    path = machine.write("a.md", "Tabs, not spaces.")
    machine.run()
    path.write_bytes(b"zero \0 byte")
    assert [item.path for item in machine.run().skipped] == [str(path)]
    assert machine.names() == []


def test_a_lone_surrogate_in_a_note_is_dropped_and_the_note_indexed(machine: Machine) -> None:
    path = machine.notes / "a.md"
    path.write_text('---\nname: "broken \\ud83d emoji"\n---\nTabs, not spaces.\n', "utf-8")
    report = machine.run()
    assert (report.added, report.skipped) == (1, [])
    (name,) = machine.names()
    assert name.encode("utf-8").startswith(b"broken")


@pytest.mark.skipif(sys.platform != "linux", reason="other systems make no such names")
def test_a_file_name_that_is_no_unicode_is_skipped(machine: Machine) -> None:
    machine.write("good.md", "Tabs, not spaces.")
    (Path(os.fsdecode(os.fsencode(machine.notes) + b"/caf\xe9.md"))).write_text("# Coffee\n\nblack", "utf-8")
    report = machine.run()
    assert (report.added, len(report.skipped)) == (1, 1)
    assert machine.names() == ["good"]


class FailsOn:
    """The real model, but for texts that hold a word, on which it fails the way onnxruntime does."""

    def __init__(self, embedder: Embedder, word: str, error: Exception) -> None:
        self.identity, self.dimension = embedder.identity, embedder.dimension
        self._embedder, self._word, self._error = embedder, word, error

    def embed_batches(
        self, texts: Sequence[str], pause: Callable[[], None]
    ) -> Iterator[tuple[Sequence[int], Sequence[Heads]]]:
        if any(self._word in text for text in texts):
            raise self._error
        return self._embedder.embed_batches(texts, pause)


def test_a_note_that_the_model_fails_on_is_skipped_without_its_text_and_tried_again(machine: Machine) -> None:
    machine.write("a.md", "Tabs, not spaces.")
    machine.write("b.md", "A canary in the mine.")
    failing = FailsOn(machine.embedder, "canary", RuntimeError("failed on: canary"))
    report = run(machine.paths, [machine.source], failing, bundled_late())
    assert counts(report) == (1, 0, 0, 0, 3)
    assert [item.reason for item in report.skipped] == ["could not be embedded (RuntimeError)"]
    assert counts(machine.run()) == (1, 0, 0, 1, 2)


def test_a_missing_model_ends_the_run_instead_of_skipping_every_note(machine: Machine) -> None:
    machine.write("a.md", "Tabs, not spaces.")
    with pytest.raises(ModelError, match="gone"):
        run(machine.paths, [machine.source], FailsOn(machine.embedder, "Tabs", ModelError("gone")), bundled_late())


def test_a_folder_that_cannot_be_listed_keeps_its_records(machine: Machine) -> None:
    machine.write("a.md", "Tabs, not spaces.")
    machine.write("deep/b.md", "Never force-push.")
    machine.run()
    # Root may list any folder, so the refusal is written into the scan instead of made by the system.
    deep = str(machine.notes / "deep")
    scan = memory.scan([machine.claude])
    refused = replace(
        scan,
        files=[file for file in scan.files if not file.path.startswith(deep)],
        skipped=[Skipped(deep, "cannot be read (Permission denied)")],
    )
    report = run(machine.paths, [Source("memory", lambda: refused, memory.read)], machine.embedder, bundled_late())
    assert (report.removed, report.skipped) == (0, refused.skipped)
    assert machine.names() == ["a", "b"]


def test_pause_comes_before_each_chunk_and_progress_tells_the_chunks(machine: Machine) -> None:
    machine.write("a.md", LONG)
    machine.write("b.md", "Tabs, not spaces.")
    machine.write("c.md", LONG)
    pauses: list[int] = []
    seen: list[Progress] = []
    machine.run(pause=lambda: pauses.append(len(seen)), progress=seen.append)
    # "a" and "c" differ in the first chunk and the name on top of the others, so nothing is shared: 4 + 1 + 4, and 3
    # headlines.
    assert len(pauses) == 12
    assert [step.chunks_done for step in seen] == sorted(step.chunks_done for step in seen)
    assert {step.chunks_total for step in seen} == {12}
    assert (seen[0].done, seen[0].chunks_done, seen[0].seconds_left) == (0, 0, None)
    assert (seen[-1].done, seen[-1].total, seen[-1].chunks_done, seen[-1].seconds_left) == (3, 3, 12, 0)


def test_a_stopped_run_keeps_what_it_did_and_the_next_one_goes_on(machine: Machine) -> None:
    for number in range(5):
        machine.write(f"{number}.md", f"Rule number {number} of the house.")
    pauses: list[None] = []
    report = machine.run(pause=lambda: pauses.append(None), stop=lambda: len(pauses) > 4)
    assert (report.complete, counts(report)) == (False, (2, 0, 0, 0, 4))
    reader = Reader(machine.index)
    assert reader.summary(machine.embedder.identity).pending == 3
    reader.close()
    report = machine.run()
    assert (report.complete, counts(report)) == (True, (3, 0, 0, 2, 6))


def test_the_latest_notes_are_embedded_first(machine: Machine) -> None:
    machine.write("old.md", "Tabs, not spaces.")
    machine.write("new.md", "Never force-push.")
    pauses: list[None] = []
    machine.run(pause=lambda: pauses.append(None), stop=lambda: len(pauses) > 2)
    assert machine.names() == ["new"]


def test_a_run_is_refused_while_another_holds_the_lock(machine: Machine) -> None:
    machine.write("a.md", "Tabs, not spaces.")
    with HeldLock.acquire(machine.paths.index_lock) or pytest.fail("the lock of a new folder is held"):
        with pytest.raises(StoreBusy):
            machine.run()
        assert not machine.index.exists()
    assert machine.run().added == 1


def test_a_damaged_index_is_set_aside_and_built_anew(machine: Machine) -> None:
    machine.write("a.md", "Tabs, not spaces.")
    machine.run()
    machine.index.write_bytes(b"no database at all" * 1000)
    assert counts(machine.run()) == (1, 0, 0, 0, 2)
    (aside,) = damaged_files(machine.index)
    assert aside.read_bytes().startswith(b"no database")
    reader = Reader(machine.index)
    assert reader.summary(machine.embedder.identity).damaged == aside
    reader.close()


def test_damage_in_a_page_that_a_run_has_no_need_of_is_found(machine: Machine) -> None:
    machine.write("a.md", LONG)
    machine.run()
    connection = open_writer(machine.index)
    (page,) = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'embedding'").fetchone()
    connection.close()
    data = bytearray(machine.index.read_bytes())
    data[(page - 1) * 4096 : page * 4096] = b"\xa5" * 4096
    machine.index.write_bytes(data)
    assert counts(machine.run()) == (1, 0, 0, 0, 5)
    assert len(damaged_files(machine.index)) == 1


def test_the_index_of_a_newer_program_is_refused_and_left_as_it_is(machine: Machine) -> None:
    machine.write("a.md", "Tabs, not spaces.")
    machine.run()
    connection = open_writer(machine.index)
    connection.execute("PRAGMA user_version = 1000")
    connection.close()
    before = machine.index.read_bytes()
    with pytest.raises(StoreTooNew):
        machine.run()
    assert machine.index.read_bytes() == before
    assert damaged_files(machine.index) == []


def test_a_state_folder_that_is_missing_is_said_in_words(machine: Machine) -> None:
    paths = StatePaths(str(machine.index.parent / "missing"))
    with pytest.raises(StoreError, match="check that it exists"):
        run(paths, [machine.source], machine.embedder, bundled_late())
