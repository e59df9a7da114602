"""Scores with the bundled model: what late interaction and the bank change."""

import pytest

from recall.core.types import KINDS, Document
from recall.embed.catalog import find_model
from recall.embed.embedder import Embedder
from recall.embed.manifest import Weights
from recall.evals.measure import Corpus, index_corpus
from recall.late.late import Late
from recall.search import score as scores
from recall.search.answer import Rules, ask, search
from recall.search.score import MAX_ASKED, Source, score, thin

NAMES = ("bread", "tea", "soup", "rice", "cake", "fish", "salad", "stew", "jam", "pie", "pasta", "curry")


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return Embedder(find_model("multilingual-e5-small", None))


@pytest.fixture(scope="module")
def late(embedder: Embedder) -> Late:
    return Late(embedder)


def corpus(embedder: Embedder, late: Late, notes: dict[str, str], tmp: pytest.TempPathFactory) -> Corpus:
    folder = tmp.mktemp("notes")
    documents = [
        Document("memory", str(folder / f"{name}.md"), str(folder), name, text, text * 3)
        for name, text in notes.items()
    ]
    return index_corpus(folder, documents, embedder, late)


def found(embedder: Embedder, corpus: Corpus, question: str, muted: tuple[str, ...] = ()) -> list[str]:
    manifest = find_model("multilingual-e5-small", None)
    asked = ask(embedder.heads([question])[0], corpus.source.late, question)
    rules = Rules.of(manifest, "calibrated")
    result = search(corpus.source, asked, rules, projects=None, limit=20, muted=muted)
    return [hit.name for hit in result.hits]


def test_the_right_note_of_many_on_one_template_comes_first(
    embedder: Embedder, late: Late, tmp_path_factory: pytest.TempPathFactory
) -> None:
    notes = {
        f"note {name}": f"We keep a rule for {name}: it is made on day {number} of the week, not on others."
        for number, name in enumerate(NAMES)
    }
    kitchen = corpus(embedder, late, notes, tmp_path_factory)
    for name in NAMES:
        assert found(embedder, kitchen, f"on which day of the week do we make the {name}?")[0] == f"note {name}"


def test_a_muted_note_takes_no_part(embedder: Embedder, late: Late, tmp_path_factory: pytest.TempPathFactory) -> None:
    notes = {"tabs": "Indent with tabs, never with spaces.", "release": "Releases are cut on Thursdays only."}
    work = corpus(embedder, late, notes, tmp_path_factory)
    question = "on which weekday do we ship a new version?"
    assert found(embedder, work, question) == ["release", "tabs"]
    assert found(embedder, work, question, muted=(str(work.folder / "release.md"),)) == ["tabs"]


def test_what_is_not_compared_closely_stands_behind_what_is(
    embedder: Embedder, late: Late, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = {name: f"How we cook {name} when guests come." for name in NAMES}
    kitchen = corpus(embedder, late, notes, tmp_path_factory)
    snapshot = kitchen.source.snapshot
    question = "what about the soup for guests?"
    asked = ask(embedder.heads([question])[0], late, question)
    everything = snapshot.scope(None, KINDS)
    whole = score(kitchen.source, asked, everything, Weights(0.0, 0.5))
    assert not any(whole.late != whole.late)
    monkeypatch.setattr(scores, "_LEAST_ROWS", 4)
    monkeypatch.setattr(scores, "_MOST_ROWS", 4)
    part = score(kitchen.source, asked, everything, Weights(0.0, 0.5))
    compared = part.late == part.late
    assert 1 <= compared.sum() < len(NAMES)
    assert part.scores[compared].min() > part.scores[~compared].max()
    assert snapshot.documents[part.documents[part.best(1)[0]]].name == "soup"
    blind = score(Source(snapshot, late, lambda _: {}), asked, everything, Weights(0.0, 0.5))
    assert len(set(blind.scores.tolist())) > 1  # without sketches the plain cosines still rank


def test_a_long_message_is_compared_by_tokens_from_all_over_it(embedder: Embedder) -> None:
    tokens = embedder.heads(["word " * 300])[0].tokens
    assert len(tokens) > MAX_ASKED == len(thin(tokens))
    assert (thin(tokens)[0] == tokens[0]).all()
    assert (thin(tokens)[-1] == tokens[-1]).all()
    assert thin(tokens[:5]) is not None
