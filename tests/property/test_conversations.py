"""No line makes the reader of a transcript fail or miss later lines, and it does not matter how often it is read."""

import json
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from recall.core.types import Document, FoundFile
from recall.sources.conversations import Ending, follow

TEXTS = st.text(max_size=30) | st.sampled_from(
    [
        "Why?",
        "/clear",
        "Caveat: x",
        "<tick>",
        "<command-name>/a</command-name>",
        "<system-reminder>",
        "\ud800",
        "https://x.y",
    ]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
BLOCKS = st.fixed_dictionaries({"type": st.just("text"), "text": TEXTS})
FIELDS = {
    "type": st.sampled_from(
        ["user", "assistant", "attachment", "system", "summary", "ai-title", "custom-title", "last-prompt", "new"]
    ),
    "message": st.fixed_dictionaries({"content": TEXTS | st.lists(BLOCKS, max_size=2)}),
    "attachment": st.fixed_dictionaries({"type": st.just("queued_command"), "prompt": TEXTS}),
    "uuid": st.sampled_from(["a", "b", "c"]),
    "sessionId": st.sampled_from(["s", "t"]),
    "timestamp": st.sampled_from(["2026-11-01T10:00:00Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "soon"]),
    "cwd": st.sampled_from(["/srv/a", "/srv/b", "relative", "/nul\0"]),
    "entrypoint": st.sampled_from(["cli", "sdk-cli"]),
    "isSidechain": st.booleans(),
    "isMeta": st.booleans(),
    "origin": st.sampled_from([{"kind": "human"}, {"kind": "loop"}]),
    "aiTitle": TEXTS,
    "customTitle": TEXTS,
    "lastPrompt": TEXTS,
    "summary": TEXTS,
    "subtype": st.just("compact_boundary"),
}
#: Records of the known fields, each as it should be or of any other type.
RECORDS = st.fixed_dictionaries({}, optional={name: values | JSON for name, values in FIELDS.items()})
LINES = st.one_of(
    RECORDS.map(lambda record: json.dumps(record).encode()),
    JSON.map(lambda value: json.dumps(value).encode()),
    st.binary(max_size=40).map(lambda data: data.replace(b"\n", b"")),
    st.sampled_from([b'{"type":"user","message":{"content":"half', b"[" * 20_000, b"1" * 5000, b"\xff\xfe", b"{}"]),
)
LAST = json.dumps({"type": "user", "uuid": "last", "entrypoint": "cli", "message": {"content": "The last message."}})


def read(path: Path, state: str | None = None) -> tuple[dict[str, Document], Ending, str | None]:
    documents: dict[str, Document] = {}
    ending, last = Ending(), None
    for step in follow(FoundFile("conversation", str(path), "/folder", 1, 1), state):
        if step.document:
            documents[step.document.key] = step.document
        ending, last = step.ending or ending, step.state()
    return documents, ending, last


@given(st.lists(LINES, max_size=12))
def test_no_line_hides_those_behind_it(lines: list[bytes]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "s.jsonl")
        path.write_bytes(b"\n".join([*lines, LAST.encode(), b'{"type": "us']))
        documents, ending, state = read(path)
    assert documents["last"].body == "The last message."
    assert ending.title
    for text in (str(state), ending.title, *(document.body for document in documents.values())):
        text.encode()
    assert all(document.body.strip() and document.project for document in documents.values())


@given(st.lists(LINES, max_size=12), st.data())
def test_read_in_any_pieces_it_comes_to_the_same(lines: list[bytes], data: st.DataObject) -> None:
    whole = b"".join(line + b"\n" for line in lines)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=4)))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "s.jsonl")
        path.write_bytes(whole)
        expected, expected_ending, _ = read(path)
        documents: dict[str, Document] = {}
        state: str | None = None
        for cut in [*cuts, len(whole)]:
            path.write_bytes(whole[:cut])
            new, ending, state = read(path, state)
            documents |= new
    assert {key: bare(document) for key, document in documents.items()} == {
        key: bare(document) for key, document in expected.items()
    }
    assert (ending.title, ending.left_out, ending.damaged_lines) == (
        expected_ending.title,
        expected_ending.left_out,
        expected_ending.damaged_lines,
    )


def bare(document: Document) -> dict[str, Any]:
    """A document without its title, which is given to all when the file was read."""
    return {"body": document.body, "date": document.date, "project": document.project, "session": document.session}
