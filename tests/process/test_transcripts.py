"""Transcripts in processes of their own: written while they are read, killed in the middle, larger than the memory."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from recall.core.types import Document, FoundFile
from recall.embed.catalog import find_model
from recall.sources.conversations import Step, follow
from recall.store.reader import Reader
from recall.store.views import Rows

ROOT = Path(__file__).resolve().parents[2]
MODEL = find_model("multilingual-e5-small", None).identity
EXCHANGES = 6

#: Appends a session to a file in pieces of 1 to 97 bytes, which end inside of lines and of characters. It tells how
#: much it has written each time, and goes on only when it is told to, or without a stop.
WRITER = """
import json, random, sys

path, exchanges, mode = sys.argv[1], int(sys.argv[2]), sys.argv[3]
lines = []
for number in range(exchanges):
    lines.append({"type": "user", "uuid": f"u-{number}", "entrypoint": "cli", "cwd": "/srv/app",
                  "message": {"content": f"保存期間は{number}日ですか？ 🚀"}})
    for part in "ab":
        text = f"答え{part}{number}：はい。" + "長" * random.Random(number).randint(0, 200)
        lines.append({"type": "assistant", "message": {"content": [{"type": "text", "text": text}]}})
    lines.append({"type": "user", "toolUseResult": "x" * 500, "message": {"content": [{"type": "tool_result"}]}})
lines.append({"type": "ai-title", "aiTitle": "保存期間"})
data = b"".join(json.dumps(line, ensure_ascii=False).encode() + b"\\n" for line in lines)
print(len(data), flush=True)
sizes, at = random.Random(7), 0
with open(path, "ab", buffering=0) as file:
    while at < len(data):
        at += file.write(data[at : at + sizes.randint(1, 97)])
        if mode == "step":
            print(at, flush=True)
            sys.stdin.readline()
"""

#: Runs the pipeline and tells each step in a line. A line on stdin lets it take the next step where `step` is given.
RUNNER = """
import dataclasses, json, sys
from pathlib import Path
from recall.embed.embedder import Embedder
from recall.embed.catalog import find_model
from recall.index.pipeline import run
from recall.index.sources import sources_of
from recall.late.late import Late
from recall.sources.projects import discover
from recall.wire.paths import StatePaths

state, claude, mode = sys.argv[1], Path(sys.argv[2]), sys.argv[3]

def say(**values):
    print(json.dumps(values), flush=True)

def before_each_chunk():
    if mode == "step":
        say(waits=True)
        sys.stdin.readline()

embedder = Embedder(find_model("multilingual-e5-small", None), threads=1)
late = Late(embedder)
if mode == "peak":
    import resource
    unit = 1 if sys.platform == "darwin" else 1024
    say(peak=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit)
report = run(StatePaths(state), sources_of([claude], discover([claude])), embedder, late, pause=before_each_chunk)
if mode == "peak":
    say(peak=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit)
say(report=dataclasses.asdict(report))
"""


class Folders:
    def __init__(self, root: Path) -> None:
        self.state = root / "state"
        self.claude = root / "claude"
        self.transcript = self.claude / "projects" / "-srv-app" / "s-1.jsonl"
        self.transcript.parent.mkdir(parents=True)
        self.state.mkdir()

    def rows(self) -> Rows:
        reader = Reader(self.state / "index.sqlite3")
        rows = reader.load(MODEL)
        reader.close()
        return rows

    def pending(self) -> int:
        reader = Reader(self.state / "index.sqlite3")
        pending = reader.summary(MODEL).pending
        reader.close()
        return pending


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    return Folders(tmp_path)


@contextmanager
def program(code: str, *words: object) -> Iterator["subprocess.Popen[str]"]:
    command = [sys.executable, "-c", code, *map(str, words)]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def said(process: "subprocess.Popen[str]") -> Any:
    assert process.stdout
    line = process.stdout.readline()
    assert line, "it ended without a word"
    return json.loads(line)


def go_on(process: "subprocess.Popen[str]") -> None:
    assert process.stdin
    process.stdin.write("\n")
    process.stdin.flush()


def whole_run(folders: Folders) -> dict[str, Any]:
    with program(RUNNER, folders.state, folders.claude, "") as process:
        report: dict[str, Any] = said(process)["report"]
        return report


def write_whole(folders: Folders, exchanges: int = EXCHANGES) -> None:
    with program(WRITER, folders.transcript, exchanges, "") as process:
        assert process.wait() == 0


class Following:
    """The documents that reading again and again has brought, and how often each."""

    def __init__(self, path: Path) -> None:
        self.documents: dict[str, Document] = {}
        self.title: str | None = None
        self._path = path
        self._state: str | None = None

    def read(self) -> None:
        step: Step
        for step in follow(FoundFile("conversation", str(self._path), "/srv/app", 0, 0), self._state):
            assert not step.anew
            if step.document:
                self.documents[step.document.key] = step.document
            self._state = step.state()
            if step.ending:
                assert step.ending.damaged_lines == 0
                self.title = step.ending.title


def bodies(documents: dict[str, Document]) -> dict[str, str]:
    return {key: document.body for key, document in documents.items()}


@pytest.mark.parametrize("mode", ["step", "at full speed"])
def test_a_transcript_that_grows_while_it_is_read_loses_and_repeats_nothing(folders: Folders, mode: str) -> None:
    folders.transcript.touch()
    following = Following(folders.transcript)
    exchanges = EXCHANGES if mode == "step" else 60
    with program(WRITER, folders.transcript, exchanges, mode) as writer:
        size = said(writer)
        if mode == "step":
            while said(writer) < size:
                following.read()
                go_on(writer)
        else:
            while writer.poll() is None:
                following.read()
    following.read()
    at_once = Following(folders.transcript)
    at_once.read()
    assert list(following.documents) == [f"u-{number}" for number in range(exchanges)]
    assert bodies(following.documents) == bodies(at_once.documents)
    assert all(body.count("答え") == 2 for body in bodies(at_once.documents).values())
    assert following.title == "保存期間"


def test_the_index_of_a_transcript_that_grew_between_runs_is_that_of_the_whole(folders: Folders) -> None:
    with program(WRITER, folders.transcript, 2, "step") as writer:
        size, runs = said(writer), 0
        while (at := said(writer)) < size:
            if at * 3 // size > runs:  # after one and two thirds
                whole_run(folders)
                runs += 1
            go_on(writer)
    whole_run(folders)
    grown = folders.rows()
    assert [record.name for record in grown.documents] == ["保存期間"] * 2
    (folders.state / "index.sqlite3").unlink()
    whole_run(folders)
    assert np.array_equal(grown.vectors, folders.rows().vectors)


@pytest.mark.parametrize("chunks", [0, 1, 3, 5])
def test_a_run_that_was_killed_inside_a_transcript_is_gone_on_with(folders: Folders, chunks: int) -> None:
    write_whole(folders)
    with program(RUNNER, folders.state, folders.claude, "step") as process:
        assert said(process)["waits"]
        for _ in range(chunks):
            go_on(process)
            assert said(process)["waits"]
        process.kill()
    assert len(folders.rows().documents) == chunks
    assert folders.pending() == 1
    report = whole_run(folders)
    assert report["chunks_embedded"] == EXCHANGES - chunks
    assert [record.name for record in folders.rows().documents] == ["保存期間"] * EXCHANGES
    assert folders.pending() == 0
    assert whole_run(folders)["chunks_embedded"] == 0


@pytest.mark.skipif(sys.platform == "win32", reason="the peak of memory is told by getrusage")
def test_memory_does_not_grow_with_a_transcript_or_a_line(folders: Folders) -> None:
    write_whole(folders, 1)
    noise = json.dumps({"type": "user", "message": {"content": [{"type": "tool_result", "content": "x" * 500_000}]}})
    with folders.transcript.open("ab") as file:
        for _ in range(240):
            file.write(noise.encode() + b"\n")
        file.write(b'{"type": "user", "message": {"content": [{"type": "tool_result", "content": "')
        for _ in range(120):
            file.write(b"x" * 1_000_000)
        file.write(b'"}]}}\n')
    write_whole(folders, 2)
    with program(RUNNER, folders.state, folders.claude, "peak") as process:
        before, after = said(process)["peak"], said(process)["peak"]
        assert said(process)["report"]["added"] == 1
    assert len(folders.rows().documents) == 2  # the first session's exchange is one of the second's two
    assert after - before < 60_000_000 < folders.transcript.stat().st_size / 3
