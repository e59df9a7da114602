"""Whole runs over transcripts, with the real model and real files."""

import json
import os
import sqlite3
import time
from pathlib import Path
from typing import Any

import pytest

from bundled import bundled_late
from recall.core.errors import MaskingError
from recall.core.types import FoundFile
from recall.embed.catalog import find_model
from recall.embed.embedder import Embedder
from recall.index.pipeline import run
from recall.index.sources import sources_of
from recall.index.work import Report
from recall.sources.projects import discover
from recall.store.reader import Reader
from recall.store.views import Rows, Share, Summary
from recall.text.masking import Masked, mask
from recall.wire.paths import StatePaths

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return Embedder(find_model("multilingual-e5-small", None))


def ask(uuid: str, text: str, **more: object) -> dict[str, Any]:
    stamp = "2026-11-01T10:00:00Z"
    record = {"type": "user", "uuid": uuid, "cwd": "/srv/app", "entrypoint": "cli", "timestamp": stamp}
    return record | {"message": {"content": text}} | more


def say(text: str) -> dict[str, Any]:
    return {"type": "assistant", "message": {"content": [{"type": "text", "text": text}]}}


class Machine:
    """A Claude folder with transcripts of one project, and a state folder."""

    def __init__(self, root: Path, embedder: Embedder) -> None:
        self.claude = root / "claude"
        self.folder = self.claude / "projects" / "-srv-app"
        self.folder.mkdir(parents=True)
        (root / "state").mkdir()
        self.paths = StatePaths(str(root / "state"))
        self.index = Path(self.paths.index)
        self.embedder = embedder
        self._clock = 1_700_000_000

    def write(self, session: str, *records: dict[str, Any]) -> Path:
        """Append records to a session's transcript, at a time of its own in the past."""
        path = self.folder / f"{session}.jsonl"
        with path.open("ab") as file:
            file.writelines(json.dumps(record).encode() + b"\n" for record in records)
        self._clock += 1
        os.utime(path, (self._clock, self._clock))
        return path

    def run(self, *, keep_days: int = 365, with_conversations: bool = True) -> Report:
        sources = sources_of(
            [self.claude], discover([self.claude]), with_conversations=with_conversations, keep_days=keep_days
        )
        return run(self.paths, sources, self.embedder, bundled_late())

    def rows(self) -> Rows:
        reader = Reader(self.index)
        rows = reader.load(self.embedder.identity)
        reader.close()
        return rows

    def summary(self) -> Summary:
        reader = Reader(self.index)
        summary = reader.summary(self.embedder.identity)
        reader.close()
        return summary

    def titles(self) -> list[str]:
        return sorted(record.name for record in self.rows().documents)


@pytest.fixture
def machine(tmp_path: Path, embedder: Embedder) -> Machine:
    return Machine(tmp_path, embedder)


def counts(report: Report) -> tuple[int, int, int, int, int]:
    return (report.added, report.changed, report.removed, report.unchanged, report.chunks_embedded)


def test_each_exchange_is_a_document_and_a_second_run_reads_and_writes_nothing(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.write("s-1", ask("u-1", "Why do uploads fail?"), say("The token expires."), ask("u-2", "And retries?"))
    assert counts(machine.run()) == (1, 0, 0, 0, 2)
    first, second = machine.rows().documents
    assert (first.kind, first.name, first.description) == ("conversation", "Why do uploads fail?", "")
    assert (first.date, first.session, first.project) == ("2026-11-01", "s-1", "/srv/app")
    assert second.name == first.name
    reader = Reader(machine.index)
    version = reader.version()
    opened: list[FoundFile] = []
    monkeypatch.setattr("recall.sources.conversations.follow", lambda found, _: opened.append(found))
    assert counts(machine.run()) == (0, 0, 0, 1, 0)
    assert (opened, reader.version()) == ([], version)
    reader.close()


def test_a_session_that_goes_on_costs_its_new_exchange_only(machine: Machine) -> None:
    machine.write("s-1", ask("u-1", "Why do uploads fail?"), say("The token expires."))
    machine.run()
    machine.write("s-1", ask("u-2", "And retries?"), say("They use the old one."))
    assert counts(machine.run()) == (0, 1, 0, 0, 1)
    machine.write("s-1", say("All of them."))
    assert counts(machine.run()) == (0, 1, 0, 0, 1)
    assert len(machine.rows().documents) == 2


def test_a_title_that_comes_late_is_given_to_all_exchanges_without_embedding(machine: Machine) -> None:
    machine.write("s-1", ask("u-1", "Why do uploads fail?"), ask("u-2", "And retries?"))
    machine.run()
    machine.write("s-1", {"type": "ai-title", "aiTitle": "Failing uploads"})
    assert counts(machine.run()) == (0, 1, 0, 0, 0)
    assert machine.titles() == ["Failing uploads"] * 2


def test_an_exchange_is_shown_when_its_session_gets_a_title_and_not_before(machine: Machine) -> None:
    machine.write("s-1", ask("u-1", "https://example.com/1"), say("I read it."))
    machine.run()
    assert (machine.titles(), dict(machine.summary().left_out)) == ([], {"empty": 1})
    machine.write("s-1", {"type": "custom-title", "customTitle": "Reading an issue"})
    assert counts(machine.run()) == (0, 1, 0, 0, 0)
    assert (machine.titles(), dict(machine.summary().left_out)) == (["Reading an issue"], {})


def test_a_copied_exchange_counts_once_and_belongs_to_both_sessions(machine: Machine) -> None:
    machine.write("s-1", ask("u-1", "Why do uploads fail?", sessionId="s-1"))
    fork = machine.write("s-2", ask("u-1", "Why do uploads fail?", sessionId="s-1"), ask("u-2", "And in a fork?"))
    assert machine.run().chunks_embedded == 2
    assert sorted((record.path == str(fork), record.sessions) for record in machine.rows().documents) == sorted(
        [(True, frozenset({"s-1", "s-2"})), (True, frozenset({"s-2"}))]
    )
    assert machine.summary().documents == {"conversation": 2}
    fork.unlink()
    machine.run(keep_days=0)
    assert [record.path for record in machine.rows().documents] == [str(machine.folder / "s-1.jsonl")]


def test_a_rewritten_transcript_is_read_anew_and_only_its_new_text_is_embedded(machine: Machine) -> None:
    path = machine.write("s-1", ask("u-1", "Why do uploads fail?"), ask("u-2", "And retries?"))
    machine.run()
    path.unlink()
    machine.write("s-1", ask("u-0", "What is this?"), ask("u-2", "And retries?"))
    assert machine.run().chunks_embedded == 1
    assert machine.titles() == ["What is this?"] * 2
    assert len(machine.rows().documents) == 2


def test_exchanges_outlive_their_transcript_for_the_days_they_are_kept(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = machine.write("s-1", ask("u-1", "Why do uploads fail?"))
    machine.run()
    data = path.read_bytes()
    path.unlink()
    assert counts(machine.run(keep_days=30)) == (0, 0, 1, 0, 0)
    reader = Reader(machine.index)
    version = reader.version()
    assert counts(machine.run(keep_days=30)) == (0, 0, 0, 0, 0)
    assert (machine.titles(), reader.version()) == (["Why do uploads fail?"], version)
    assert (machine.summary().pending, machine.summary().documents) == (0, {"conversation": 1})
    reader.close()

    now = time.time_ns()
    monkeypatch.setattr(time, "time_ns", lambda: now + 29 * 86_400 * 1_000_000_000)
    machine.run(keep_days=30)
    assert len(machine.titles()) == 1
    path.write_bytes(data)
    machine.run(keep_days=30)
    path.unlink()
    machine.run(keep_days=30)
    monkeypatch.setattr(time, "time_ns", lambda: now + 58 * 86_400 * 1_000_000_000)
    machine.run(keep_days=30)
    assert len(machine.titles()) == 1
    monkeypatch.setattr(time, "time_ns", lambda: now + 60 * 86_400 * 1_000_000_000)
    machine.run(keep_days=30)
    assert machine.titles() == []
    assert b"uploads" not in b"".join(entry.read_bytes() for entry in machine.index.parent.iterdir())


def test_exchanges_go_with_their_transcript_where_nothing_is_kept_and_where_they_are_not_wanted(
    machine: Machine,
) -> None:
    path = machine.write("s-1", ask("u-1", "Why do uploads fail?"))
    machine.write("s-2", ask("u-2", "What do we deploy?"))
    machine.run()
    path.unlink()
    machine.run(keep_days=0)
    assert machine.titles() == ["What do we deploy?"]
    machine.run(with_conversations=False)
    assert machine.titles() == []


def test_sessions_that_are_left_out_are_counted_by_their_reason(machine: Machine) -> None:
    machine.write("s-1", ask("u-1", "Why do uploads fail?"), {"type": 7})
    machine.write("s-2", ask("u-2", "Run the checks.", entrypoint="sdk-cli"))
    machine.write("s-3", ask("u-3", "Look for it.", isSidechain=True))
    machine.write("agent-7", ask("u-4", "Look for that."))
    path = machine.write("s-5", {"type": "mode"})
    with path.open("ab") as file:
        file.write(b"damaged\n{}\nalso\n")
    machine.run()
    summary = machine.summary()
    assert dict(summary.left_out) == {"automated": 1, "sidechain": 2, "empty": 1}
    assert (summary.damaged_lines, summary.pending) == (2, 0)
    assert [(share.project.key, share.kind, share.documents, share.rows) for share in summary.shares] == [
        ("/srv/app", "conversation", 1, 1)
    ]
    assert isinstance(summary.shares[0], Share)
    path.unlink()
    machine.run()
    assert dict(machine.summary().left_out) == {"automated": 1, "sidechain": 2}


def test_no_secret_of_an_exchange_reaches_the_index(machine: Machine) -> None:
    machine.write(
        "s-1",
        ask("u-1", f"Why is {TOKEN} refused?"),
        say(f"Because {TOKEN} has expired."),
        {"type": "ai-title", "aiTitle": f"About {TOKEN}"},
    )
    machine.run()
    assert TOKEN.encode() not in b"".join(entry.read_bytes() for entry in machine.index.parent.iterdir())
    assert machine.titles() == ["About [masked: github-pat]"]
    assert machine.summary().masked == {"github-pat": 3}
    expected = machine.embedder.embed_passages(
        ["Why is [masked: github-pat] refused?\n\nBecause [masked: github-pat] has expired."]
    )
    assert float(abs(machine.rows().vectors - expected).max()) < 1e-5


def test_an_exchange_that_cannot_be_masked_is_left_out_and_tried_again(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.write("s-1", ask("u-1", "What do we deploy?"), ask("u-2", "Why the canary?"), ask("u-3", "And then?"))

    def failing(text: str) -> Masked:
        if "canary" in text:
            raise MaskingError("the masker failed")
        return mask(text)

    with monkeypatch.context() as patch:
        patch.setattr("recall.index.reading.mask", failing)
        report = machine.run()
        assert [item.reason for item in report.skipped] == ["the masker failed"]
        assert len(machine.rows().documents) == 2
        assert machine.run().skipped == report.skipped
    assert counts(machine.run()) == (0, 1, 0, 0, 1)
    assert len(machine.rows().documents) == 3


class Renamed:
    """The real model under another name."""

    identity = "another-model@1"

    def __init__(self, embedder: Embedder) -> None:
        self.dimension = embedder.dimension
        self.embed_batches = embedder.embed_batches


def test_another_model_embeds_every_exchange_and_the_vectors_of_the_first_stay(machine: Machine) -> None:
    machine.write("s-1", ask("u-1", "Why do uploads fail?"), ask("u-2", "And retries?"), ask("u-3", "And then?"))
    machine.run()
    before = machine.rows()
    projects = discover([machine.claude])
    other = Renamed(machine.embedder)
    assert run(machine.paths, sources_of([machine.claude], projects), other, bundled_late()).chunks_embedded == 3
    reader = Reader(machine.index)
    for identity in (machine.embedder.identity, other.identity):
        rows = reader.load(identity)
        assert (rows.documents, rows.vectors.tolist()) == (before.documents, before.vectors.tolist())
    reader.close()
    assert run(machine.paths, sources_of([machine.claude], projects), other, bundled_late()).unchanged == 1


def test_only_the_beginning_of_a_long_exchange_is_embedded(machine: Machine) -> None:
    machine.write("s-1", ask("u-1", "Why do uploads fail?"), say("The token expires. " * 100))
    assert machine.run().chunks_embedded == 1
    machine.write("s-1", say("And the clock is wrong."))
    assert counts(machine.run()) == (0, 0, 0, 1, 0)


def test_an_index_from_before_masking_is_read_again_and_only_what_held_a_secret_embedded(machine: Machine) -> None:
    """Made by taking the mark of the recipe away and putting the unmasked name back, as the older program had it."""
    notes = machine.folder / "memory"
    notes.mkdir()
    (notes / "plain.md").write_text("# Tabs\n\nNot spaces.\n", "utf-8")
    (notes / "secret.md").write_text(f"# Token {TOKEN}\n\nOf the build.\n", "utf-8")
    for path in notes.iterdir():
        os.utime(path, (1_700_000_000, 1_700_000_000))
    machine.write("s-1", ask("u-1", "Why do uploads fail?"))
    machine.run()
    connection = sqlite3.connect(machine.index)
    with connection:
        connection.execute("UPDATE meta SET value = 0 WHERE key = 'recipe'")
        connection.execute(
            "UPDATE document SET name = ? WHERE name LIKE 'Token%'",
            (f"Token {TOKEN}",),
        )
        connection.execute(
            """DELETE FROM embedding WHERE digest IN (
                SELECT digest FROM chunk JOIN document ON document.id = document_id WHERE name LIKE 'Token%')"""
        )
    connection.close()
    report = machine.run()
    assert (report.chunks_embedded, report.scanned) == (2, 3)
    assert machine.titles() == ["Tabs", "Token [masked: github-pat]", "Why do uploads fail?"]
    assert TOKEN.encode() not in b"".join(entry.read_bytes() for entry in machine.index.parent.iterdir())
    assert counts(machine.run()) == (0, 0, 0, 3, 0)
