"""The sample notes of `recall demo`, with the bundled model and its gate values."""

import json
import tomllib
from pathlib import Path

import pytest

import recall.cli
from bundled import bundled_late
from recall.embed.catalog import find_model
from recall.embed.embedder import Embedder
from recall.evals.measure import Corpus, ask, index_corpus, read_corpus
from recall.evals.questions import Question
from recall.search.answer import Rules

NOTES = Path(recall.cli.__file__).parent / "demo_notes"
MESSAGES = tomllib.loads((NOTES / "messages.toml").read_text(encoding="utf-8"))["message"]


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return Embedder(find_model("multilingual-e5-small", None))


@pytest.fixture(scope="module")
def corpus(embedder: Embedder) -> Corpus:
    documents, skipped = read_corpus(NOTES)
    assert (len(documents), skipped) == (16, [])
    return index_corpus(NOTES, documents, embedder, bundled_late())


@pytest.mark.parametrize("message", MESSAGES, ids=[message["shows"] for message in MESSAGES])
def test_each_message_brings_its_note_first_or_nothing(
    corpus: Corpus, embedder: Embedder, message: dict[str, str]
) -> None:
    rules = Rules.of(find_model("multilingual-e5-small", None), "calibrated")
    relevant = frozenset({message["note"]} - {""})
    (outcome,) = ask(corpus, [Question("demo", message["text"], "en", relevant)], embedder, rules)
    if not relevant:
        assert outcome.line is None
        return
    assert outcome.rank == 1
    assert outcome.line is not None
    lines = json.loads(outcome.line)["hookSpecificOutput"]["additionalContext"].splitlines()
    assert message["note"] in lines[1]


def test_the_sample_notes_are_in_both_languages() -> None:
    names = [document.name for document in read_corpus(NOTES)[0]]
    assert sum(name.isascii() for name in names) == len(names) / 2
