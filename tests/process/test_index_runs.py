"""Index runs in processes of their own: killed, run at once, read meanwhile, on a full disk, in a read-only folder."""

import json
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from recall.embed.catalog import find_model
from recall.store.migrations import MIGRATIONS, migrate
from recall.store.reader import Reader
from recall.store.views import Rows

MODEL = find_model("multilingual-e5-small", None).identity
NOTES = 4
CHUNKS = 3 * NOTES  # a headline and two chunks each

#: Runs the pipeline and tells each step in a line. A line on stdin lets it take the next step where `step` is given.
RUNNER = """
import dataclasses, json, os, sys
from pathlib import Path
from recall.core.errors import RecallError
from recall.embed.embedder import Embedder
from recall.embed.catalog import find_model
from recall.index.pipeline import run
from recall.index.sources import Source
from recall.late.late import Late
from recall.sources import memory
from recall.wire.paths import StatePaths

state, claude, mode = sys.argv[1:]

def say(**values):
    print(json.dumps(values), flush=True)

def before_each_chunk():
    if mode == "step":
        say(waits=True)
        sys.stdin.readline()

embedder = Embedder(find_model("multilingual-e5-small", None), threads=1)
late = Late(embedder)
if mode == "small-files":
    import resource
    resource.setrlimit(resource.RLIMIT_FSIZE, (600 * 1024, 600 * 1024))
if mode == "as-nobody" and os.geteuid() == 0:
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
try:
    report = run(
        StatePaths(state),
        [Source("memory", lambda: memory.scan([Path(claude)]), memory.read)],
        embedder,
        late,
        progress=lambda p: say(done=p.done, chunks=p.chunks_done),
        pause=before_each_chunk,
    )
    say(report=dataclasses.asdict(report))
except RecallError as error:
    say(error=type(error).__name__, sentence=str(error))
"""


class Folders:
    def __init__(self, root: Path, notes: int = NOTES) -> None:
        self.state = root / "state"
        self.claude = root / "claude"
        self.index = self.state / "index.sqlite3"
        folder = self.claude / "projects" / "-home-me-app" / "memory"
        folder.mkdir(parents=True)
        self.state.mkdir()
        for number in range(notes):
            body = f"Rule {number} of the house. " * 40  # 2 chunks
            (folder / f"{number}.md").write_text(f"# Note {number}\n\n{body}\n", "utf-8")

    def rows(self) -> Rows:
        reader = Reader(self.index)
        rows = reader.load(MODEL)
        reader.close()
        return rows


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    return Folders(tmp_path)


@contextmanager
def runner(folders: Folders, mode: str = "") -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", RUNNER, str(folders.state), str(folders.claude), mode]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def said(process: subprocess.Popen[str]) -> dict[str, Any]:
    assert process.stdout
    line = process.stdout.readline()
    assert line, "the run ended without a word"
    words: dict[str, Any] = json.loads(line)
    return words


def until(process: subprocess.Popen[str], *keys: str) -> dict[str, Any]:
    """The next line with one of these keys."""
    while True:
        words = said(process)
        if any(key in words for key in keys):
            return words


def step(process: subprocess.Popen[str]) -> None:
    """Let a run that waits before a chunk embed it, and wait until it waits again."""
    assert process.stdin
    process.stdin.write("\n")
    process.stdin.flush()
    until(process, "waits")


def whole_run(folders: Folders, mode: str = "") -> dict[str, Any]:
    with runner(folders, mode) as process:
        return until(process, "report", "error")


def assert_whole(rows: Rows) -> None:
    """Every document stands with all its chunks and vectors of length 1."""
    assert np.array_equal(np.bincount(rows.row_documents, minlength=len(rows.documents)), [3] * len(rows.documents))
    assert np.allclose(np.linalg.norm(rows.vectors, axis=1), 1, atol=1e-5)


@pytest.mark.parametrize("chunks", [0, 1, 3, 8])
def test_a_run_that_was_killed_is_gone_on_with(folders: Folders, chunks: int) -> None:
    with runner(folders, "step") as process:
        until(process, "waits")
        for _ in range(chunks):
            step(process)
        process.kill()
    kept = folders.rows()
    assert_whole(kept)
    assert len(kept.documents) == chunks // 3
    reader = Reader(folders.index)
    assert reader.summary(MODEL).pending == NOTES - chunks // 3
    reader.close()
    report = whole_run(folders)["report"]
    assert report["added"] == NOTES - chunks // 3
    assert report["chunks_embedded"] == CHUNKS - chunks
    assert len(folders.rows().documents) == NOTES
    assert_whole(folders.rows())
    assert whole_run(folders)["report"]["chunks_embedded"] == 0


def test_an_index_of_an_older_format_is_kept_until_the_new_one_is_complete(folders: Folders) -> None:
    connection = sqlite3.connect(folders.index, isolation_level=None)
    migrate(connection, MIGRATIONS[:1])
    connection.close()
    kept = folders.index.with_name(f"{folders.index.name}.format1")
    with runner(folders, "step") as process:
        until(process, "waits")
        step(process)
        process.kill()
    assert kept.exists()
    assert whole_run(folders)["report"]["complete"]
    assert not kept.exists()
    assert_whole(folders.rows())


def test_a_second_run_is_refused_while_the_first_goes_on_undisturbed(folders: Folders) -> None:
    with runner(folders, "step") as first:
        until(first, "waits")
        for _ in range(3):
            step(first)
        assert whole_run(folders)["error"] == "StoreBusy"
        assert first.stdin
        first.stdin.close()
        assert until(first, "report")["report"]["added"] == NOTES
    assert_whole(folders.rows())
    assert whole_run(folders)["report"]["unchanged"] == NOTES


def test_runs_that_begin_at_the_same_time_leave_one_whole_index(folders: Folders) -> None:
    with runner(folders) as one, runner(folders) as two, runner(folders) as three:
        words = [until(process, "report", "error") for process in (one, two, three)]
    assert sum(answer.get("report", {}).get("chunks_embedded", 0) for answer in words) == CHUNKS
    assert all(answer.get("error") in (None, "StoreBusy") for answer in words)
    assert_whole(folders.rows())


def test_a_reader_sees_whole_documents_only_while_a_run_writes(folders: Folders) -> None:
    reader = Reader(folders.index)
    generations = []
    with runner(folders, "step") as process:
        until(process, "waits")
        for chunks in range(1, 6):
            step(process)
            rows = reader.load(MODEL)
            assert_whole(rows)
            assert len(rows.documents) == chunks // 3
            generations.append(rows.generation)
    reader.close()
    assert generations == sorted(set(generations))


@pytest.mark.skipif(sys.platform == "win32", reason="there are no limits on the size of a file there")
def test_a_disk_that_fills_up_ends_the_run_in_words_and_leaves_a_good_index(tmp_path: Path) -> None:
    folders = Folders(tmp_path, notes=40)
    words = whole_run(folders, "small-files")
    assert words["error"] == "StoreError"
    assert str(folders.index) in words["sentence"]
    assert "free space" in words["sentence"] or "full" in words["sentence"]
    kept = folders.rows()
    assert_whole(kept)
    assert 0 < len(kept.documents) < 40
    assert whole_run(folders)["report"]["added"] == 40 - len(kept.documents)


@pytest.mark.skipif(sys.platform == "win32", reason="permissions are access lists there")
def test_a_folder_that_may_only_be_read_is_an_error_in_words() -> None:
    # Not in pytest's folder, which a user without rights, as whom this runs when the tests are root's, cannot enter.
    with tempfile.TemporaryDirectory() as root:
        folders = Folders(Path(root), notes=1)
        Path(root).chmod(0o755)
        folders.state.chmod(0o555)
        words = whole_run(folders, "as-nobody")
        left = list(folders.state.iterdir())
        folders.state.chmod(0o755)
    assert words["error"] == "StoreError"
    assert "cannot be written (Permission denied)" in words["sentence"]
    assert not left
