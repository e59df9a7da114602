"""Writer and reader on a real file: what is put is what is loaded, model by model."""

import hashlib
import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from recall.core.errors import StoreDamaged, StoreTooNew
from recall.core.types import BACKGROUND, Document, FoundFile, Kind, Project, Skipped
from recall.store.connection import open_writer
from recall.store.entries import Embedded, Entry, Finish, Outcome, Stored, Vector
from recall.store.reader import Reader
from recall.store.repair import damaged_files, set_aside
from recall.store.views import Share
from recall.store.writer import Writer

PROJECT = Project("/home/me/app", "app")
MODEL, OTHER_MODEL = "e5-small@1", "bge-m3@1"
DIMENSION = 8


def digest_of(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


def vector_of(text: str, dimension: int = DIMENSION) -> Vector:
    vector = np.random.default_rng(list(text.encode())).standard_normal(dimension).astype(np.float32)
    return vector / np.linalg.norm(vector)


def embedded(text: str, dimension: int = DIMENSION) -> Embedded:
    background = np.full(BACKGROUND, len(text), np.float32)
    return Embedded(vector_of(text, dimension), f"sketch of {text}".encode(), background)


def put(
    writer: Writer,
    path: str,
    texts: list[str],
    *,
    name: str = "A note",
    kind: Kind = "memory",
    mtime_ns: int | None = 5,
) -> Outcome:
    """Put a document of these chunks, with vectors only for those that the writer lacks."""
    file = FoundFile(kind, path, PROJECT.key, 10, 5)
    writer.enlist([file], {PROJECT.key: PROJECT})
    digests = [digest_of(text) for text in texts]
    missing = set(writer.missing(digests))
    writer.put_embedded({digest_of(text): embedded(text) for text in texts if digest_of(text) in missing})
    entry = Entry(Document(kind, path, PROJECT.key, name, "what it says", "body"), PROJECT, digests)
    return writer.put(file, entry, finish=Finish(PROJECT, mtime_ns))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "index.sqlite3"


def test_rows_come_back_as_they_were_put_side_by_side_by_document(path: Path) -> None:
    with Writer(path, MODEL, DIMENSION) as writer:
        put(writer, "/a.md", ["a1", "a2", "a3"], name="A")
        put(writer, "/b.md", ["b1"], name="B")
        put(writer, "/c.md", ["a2", "c1"], name="C", kind="knowledge")
    rows = Reader(path).load(MODEL)
    assert [(record.path, record.name, record.kind) for record in rows.documents] == [
        ("/a.md", "A", "memory"),
        ("/b.md", "B", "memory"),
        ("/c.md", "C", "knowledge"),
    ]
    assert rows.documents[0].project == PROJECT.key
    assert rows.documents[0].description == "what it says"
    assert rows.projects == [PROJECT]
    assert rows.row_documents.dtype == np.int32
    assert rows.row_documents.tolist() == [0, 0, 0, 1, 2, 2]
    assert rows.vectors.dtype == np.float32
    assert rows.vectors.flags.c_contiguous
    expected = [vector_of(text) for text in ("a1", "a2", "a3", "b1", "a2", "c1")]
    assert np.array_equal(rows.vectors, np.array(expected))


def test_a_headline_is_a_row_of_its_own_and_sketches_come_by_the_ids_of_rows(path: Path) -> None:
    with Writer(path, MODEL, DIMENSION) as writer:
        file = FoundFile("memory", "/a.md", PROJECT.key, 10, 5)
        writer.enlist([file], {PROJECT.key: PROJECT})
        writer.put_embedded({digest_of(text): embedded(text) for text in ("head", "one", "two")})
        digests = [digest_of("one"), digest_of("two")]
        entry = Entry(Document("memory", "/a.md", PROJECT.key, "A", "", ""), PROJECT, digests, {}, digest_of("head"))
        assert writer.put(file, entry, finish=Finish(PROJECT, 5)) == "added"
        assert writer.put(file, entry, finish=Finish(PROJECT, 5)) == "unchanged"
        assert writer.put(file, replace(entry, headline=None), finish=Finish(PROJECT, 5)) == "changed"
        writer.put(file, entry, finish=Finish(PROJECT, 5))
    reader = Reader(path)
    rows = reader.load(MODEL)
    assert rows.is_headline.tolist() == [True, False, False]
    assert np.array_equal(rows.vectors, [vector_of(text) for text in ("head", "one", "two")])
    assert rows.backgrounds.tolist() == [[len(text)] * BACKGROUND for text in ("head", "one", "two")]
    ids = rows.row_ids.tolist()
    assert reader.sketches([ids[2], ids[0], 10**6]) == {ids[0]: b"sketch of head", ids[2]: b"sketch of two"}
    assert len(reader.sketches(ids * 1000)) == 3
    with Writer(path, MODEL, DIMENSION) as writer:
        writer.remove(["/a.md"])
        writer.tidy()
    assert reader.sketches(ids) == {}


def test_many_rows_are_loaded_across_batches_in_order(path: Path) -> None:
    texts = [f"text {number}" for number in range(5000)]
    with Writer(path, MODEL, DIMENSION) as writer:
        put(writer, "/a.md", texts[:4999])
        put(writer, "/b.md", texts[4999:])
    rows = Reader(path).load(MODEL)
    assert rows.vectors.shape == (5000, DIMENSION)
    for number in (0, 4095, 4096, 4999):
        assert np.array_equal(rows.vectors[number], vector_of(texts[number]))
    assert rows.row_documents.tolist() == [0] * 4999 + [1]


def test_a_text_that_is_known_needs_no_vector_wherever_it_stands(path: Path) -> None:
    with Writer(path, MODEL, DIMENSION) as writer:
        put(writer, "/a.md", ["same", "other"])
        assert writer.missing([digest_of("same"), digest_of("new"), digest_of("new")]) == [digest_of("new")]
        writer.remove(["/a.md"])
        assert writer.missing([digest_of("same")]) == []
        writer.tidy()
        assert writer.missing([digest_of("same")]) == [digest_of("same")]


def test_the_outcome_says_what_became_of_a_record(path: Path) -> None:
    with Writer(path, MODEL, DIMENSION) as writer:
        assert put(writer, "/a.md", ["one"]) == "added"
        assert put(writer, "/a.md", ["one"]) == "unchanged"
        assert put(writer, "/a.md", ["one", "two"]) == "changed"
        assert put(writer, "/a.md", ["one", "two"], name="Another name") == "changed"
    rows = Reader(path).load(MODEL)
    assert [record.name for record in rows.documents] == ["Another name"]
    assert len(rows.vectors) == 2


def test_stored_files_carry_what_a_scan_is_compared_with(path: Path) -> None:
    with Writer(path, MODEL, DIMENSION) as writer:
        put(writer, "/a.md", ["one"])
        put(writer, "/b.md", ["two"], mtime_ns=None)
        put(writer, "/c.md", ["three"], kind="knowledge")
        writer.enlist([FoundFile("memory", "/d.md", PROJECT.key, 7, 5)], {PROJECT.key: PROJECT})
        assert writer.stored("memory") == {
            "/a.md": Stored(PROJECT.key, 10, 5, complete=True),
            "/b.md": Stored(PROJECT.key, 10, None, complete=True),
            "/d.md": Stored(PROJECT.key, 7, None, complete=False),
        }


def test_two_models_lie_side_by_side_and_are_never_mixed(path: Path) -> None:
    with Writer(path, MODEL, DIMENSION) as writer:
        put(writer, "/a.md", ["one", "shared"])
        put(writer, "/b.md", ["shared"])
        put(writer, "/c.md", ["two"])
    with Writer(path, OTHER_MODEL, 3) as writer:
        assert not any(known.complete for known in writer.stored("memory").values())
        digests = [digest_of("shared")]
        document = Document("memory", "/b.md", PROJECT.key, "A note", "what it says", "body")
        writer.put_embedded({digests[0]: embedded("shared", 3)})
        writer.put(
            FoundFile("memory", "/b.md", PROJECT.key, 10, 5),
            Entry(document, PROJECT, digests),
            finish=Finish(PROJECT, 5),
        )
        writer.tidy()
    reader = Reader(path)
    old, new = reader.load(MODEL), reader.load(OTHER_MODEL)
    assert (old.vectors.shape, [record.path for record in old.documents]) == ((4, 8), ["/a.md", "/b.md", "/c.md"])
    # /a.md has one of its two vectors only, and so does not take part yet.
    assert (new.vectors.shape, [record.path for record in new.documents]) == ((1, 3), ["/b.md"])
    assert np.array_equal(new.vectors[0], vector_of("shared", 3))
    assert (reader.summary(MODEL).pending, reader.summary(OTHER_MODEL).pending) == (0, 2)
    assert reader.rows_by_model() == {MODEL: 4, OTHER_MODEL: 2}
    assert reader.load("a model that nobody ran").vectors.shape == (0, 0)
    reader.close()


def test_the_summary_counts_documents_rows_and_what_is_waiting(path: Path) -> None:
    with Writer(path, MODEL, DIMENSION) as writer:
        put(writer, "/a.md", ["one", "two"])
        put(writer, "/b.md", ["three"], kind="knowledge")
        found = [FoundFile("memory", f"/{name}.md", PROJECT.key, 7, 5) for name in ("waiting", "skipped")]
        writer.enlist(found, {PROJECT.key: PROJECT})
        writer.set_skipped([Skipped("/skipped.md", "is empty")])
    summary = Reader(path).summary(MODEL)
    assert summary.documents == {"memory": 1, "knowledge": 1}
    assert summary.rows == {"memory": 2, "knowledge": 1}
    assert summary.pending == 1
    assert summary.skipped == [Skipped("/skipped.md", "is empty")]
    assert summary.bytes >= path.stat().st_size > 0
    assert summary.damaged is None


def test_a_reader_sees_each_change_cheaply_and_no_change_where_nothing_was_written(path: Path) -> None:
    reader = Reader(path)
    assert reader.version() is None
    assert reader.load(MODEL).documents == []
    assert reader.summary(MODEL).pending == 0
    with Writer(path, MODEL, DIMENSION) as writer:
        put(writer, "/a.md", ["one"])
        writer.tidy()
    first, generation = reader.version(), reader.generation()
    assert first is not None
    with Writer(path, MODEL, DIMENSION) as writer:
        put(writer, "/a.md", ["one"])
        writer.remove([])
        writer.set_skipped([])
        writer.tidy()
    assert (reader.version(), reader.generation()) == (first, generation)
    with Writer(path, MODEL, DIMENSION) as writer:
        put(writer, "/a.md", ["two"])
        assert reader.version() != first
        assert reader.generation() > generation
    reader.close()


@pytest.mark.parametrize("seed", range(5))
def test_the_text_of_a_removed_note_is_nowhere_in_the_files(path: Path, seed: int) -> None:
    names = {f"/notes/canary-{number}.md": f"canary name {number} " + "x" * (number % 300) for number in range(400)}
    chosen = random.Random(seed).sample(sorted(names), 300)
    with Writer(path, MODEL, DIMENSION) as writer:
        for place, name in names.items():
            put(writer, place, [name], name=name)
        writer.set_skipped([Skipped("/notes/canary-skipped.md", "is empty")])
        for place in chosen[:100]:
            put(writer, place, ["other"], name="changed")
        writer.remove(chosen[100:])
        writer.set_skipped([])
        writer.tidy()
        data = b"".join(entry.read_bytes() for entry in path.parent.iterdir())
    for place, name in names.items():
        gone = place in chosen
        assert ((name + "what it says").encode() in data) != gone
        assert (place.encode() in data) != (place in chosen[100:])
    assert b"canary-skipped" not in data


def test_a_damaged_index_is_set_aside_with_its_companions_and_a_reader_follows_to_the_new_one(path: Path) -> None:
    writer = Writer(path, MODEL, DIMENSION)
    put(writer, "/a.md", ["one"])
    reader = Reader(path)
    assert len(reader.load(MODEL).documents) == 1
    older = path.with_name(path.name + ".damaged-20200101T000000Z")
    older.write_bytes(b"")
    place = set_aside(path)
    assert damaged_files(path) == [place]
    assert sorted(entry.name for entry in path.parent.iterdir()) == [
        place.name,
        place.name + "-shm",
        place.name + "-wal",
    ]
    writer.close()
    assert reader.version() is None
    assert reader.summary(MODEL).damaged == place
    with Writer(path, MODEL, DIMENSION) as writer:
        put(writer, "/b.md", ["two"])
        put(writer, "/c.md", ["three"])
        assert [record.path for record in reader.load(MODEL).documents] == ["/b.md", "/c.md"]
    place.unlink()
    assert reader.summary(MODEL).damaged is None
    reader.close()


def test_a_broken_page_is_found_by_the_check(path: Path) -> None:
    with Writer(path, MODEL, DIMENSION) as writer:
        put(writer, "/a.md", ["one"])
        writer.check()
    data = bytearray(path.read_bytes())
    data[4096 * 2 :] = b"\xa5" * len(data[4096 * 2 :])
    path.write_bytes(data)
    with pytest.raises(StoreDamaged), Writer(path, MODEL, DIMENSION) as writer:
        writer.check()


def test_a_vector_of_the_wrong_length_is_damage(path: Path) -> None:
    with Writer(path, MODEL, DIMENSION) as writer:
        put(writer, "/a.md", ["one"])
    connection = open_writer(path)
    connection.execute("UPDATE embedding SET vector = x'00'")
    connection.close()
    with pytest.raises(StoreDamaged):
        Reader(path).load(MODEL)


def test_a_reader_refuses_the_file_of_a_newer_program_that_came_while_it_was_open(path: Path) -> None:
    with Writer(path, MODEL, DIMENSION) as writer:
        put(writer, "/a.md", ["one"])
    reader = Reader(path)
    reader.load(MODEL)
    fresh = path.with_name("fresh")
    connection = open_writer(fresh)
    connection.execute("PRAGMA user_version = 1000")
    connection.close()
    fresh.replace(path)
    with pytest.raises(StoreTooNew):
        reader.version()


def talk(key: str, path: str = "/t/s-1.jsonl", session: str = "s-1") -> Document:
    return Document("conversation", path, PROJECT.key, "A title", "", "body", key=key, session=session)


def put_talk(writer: Writer, document: Document, *, state: str | None = None, finish: Finish | None = None) -> Outcome:
    """Put an exchange whose one chunk is its key."""
    file = FoundFile("conversation", document.path, PROJECT.key, 10, 5)
    writer.enlist([file], {PROJECT.key: PROJECT})
    digest = digest_of(document.key)
    writer.put_embedded({digest: embedded(document.key)})
    entry = Entry(document, Project("/other", "other"), [digest], {"jwt": 2})
    return writer.put(file, entry, state=state, finish=finish)


def test_every_field_of_a_document_comes_back(path: Path) -> None:
    with Writer(path, MODEL, DIMENSION) as writer:
        document = replace(
            talk("u-1"),
            date="2026-11-01",
            language="ja",
            group="0007",
            successor="0031",
            successor_path="/adr/0031.md",
        )
        put_talk(writer, document, finish=Finish(PROJECT, 5))
    (record,) = Reader(path).load(MODEL).documents
    for name in ("kind", "path", "name", "date", "session", "language", "group", "successor", "successor_path"):
        assert getattr(record, name) == getattr(document, name)
    assert (record.project, record.sessions) == ("/other", frozenset({"s-1"}))


def test_a_file_in_the_middle_of_its_documents_waits_and_its_state_is_kept(path: Path) -> None:
    with Writer(path, MODEL, DIMENSION) as writer:
        assert put_talk(writer, talk("u-1"), state="one") == "added"
        assert put_talk(writer, talk("u-1"), state="two") == "unchanged"
        assert writer.state("/t/s-1.jsonl") == "two"
        assert not writer.stored("conversation")["/t/s-1.jsonl"].complete
        assert Reader(path).summary(MODEL).pending == 1
        put_talk(writer, talk("u-2"), finish=Finish(PROJECT, 5))
        assert writer.state("/t/s-1.jsonl") == "two"
        assert writer.stored("conversation")["/t/s-1.jsonl"].complete
        writer.clear("/t/s-1.jsonl")
        assert writer.state("/t/s-1.jsonl") is None
        assert writer.stored("conversation")["/t/s-1.jsonl"].mtime_ns is None
    assert Reader(path).load(MODEL).documents == []


def test_the_first_copy_is_shown_and_the_next_takes_its_place_when_it_goes(path: Path) -> None:
    file = FoundFile("conversation", "/t/s-1.jsonl", PROJECT.key, 10, 5)
    with Writer(path, MODEL, DIMENSION) as writer:
        put_talk(writer, talk("u-1"), finish=Finish(PROJECT, 5))
        put_talk(writer, talk("u-1", "/t/s-2.jsonl", "s-1"), finish=Finish(PROJECT, 5))
        put_talk(writer, talk("u-2", "/t/s-2.jsonl", "s-2"), finish=Finish(PROJECT, 5))
        writer.put(file, None, finish=Finish(PROJECT, 5, title="Another title"))
        reader = Reader(path)
        rows = reader.load(MODEL)
        assert [(record.path, record.name, sorted(record.sessions)) for record in rows.documents] == [
            ("/t/s-1.jsonl", "Another title", ["s-1", "s-2"]),
            ("/t/s-2.jsonl", "A title", ["s-2"]),
        ]
        assert (rows.row_documents.tolist(), len(rows.vectors)) == ([0, 1], 2)
        assert (reader.summary(MODEL).rows, reader.summary(MODEL).masked) == ({"conversation": 2}, {"jwt": 4})
        writer.remove(["/t/s-1.jsonl"])
        assert {record.path for record in reader.load(MODEL).documents} == {"/t/s-2.jsonl"}
        reader.close()


def test_figures_are_told_by_project_and_kind(path: Path) -> None:
    with Writer(path, MODEL, DIMENSION) as writer:
        put(writer, "/a.md", ["one", "two"])
        put(writer, "/b.md", ["three"], kind="knowledge")
        put_talk(writer, talk("u-1"), finish=Finish(PROJECT, 5))
    assert Reader(path).summary(MODEL).shares == [
        Share(PROJECT, "knowledge", 1, 1),
        Share(PROJECT, "memory", 1, 2),
        Share(Project("/other", "other"), "conversation", 1, 1),
    ]


def test_a_new_recipe_has_every_file_read_again_once(path: Path) -> None:
    with Writer(path, MODEL, DIMENSION) as writer:
        put(writer, "/a.md", ["one"])
        put_talk(writer, talk("u-1"), state="far", finish=Finish(PROJECT, 5))
        writer.apply_recipe(3)
        assert writer.stored("memory")["/a.md"].mtime_ns is None
        assert (writer.state("/t/s-1.jsonl"), writer.state("/a.md")) == ("", None)
        put(writer, "/a.md", ["one"])
        writer.apply_recipe(3)
        assert writer.stored("memory")["/a.md"].mtime_ns == 5
    assert len(Reader(path).load(MODEL).documents) == 2
