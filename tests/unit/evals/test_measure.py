"""What one message gets in a corpus."""

from pathlib import Path

from plain_model import QUESTION, source_of
from recall.core.types import Document, Project
from recall.embed.manifest import Calibration, Gate, Weights
from recall.evals.measure import Corpus, judge, read_corpus
from recall.evals.questions import Question
from recall.search.answer import Rules

GATE = Gate(floor=0.5, weak=0.025, strong=0.11, near=0.05)


RULES = Rules("gap", GATE, Calibration(near=0.05), Weights(dense=1.0))


def _corpus(folder: Path, **scores: float) -> Corpus:
    documents = [Document("memory", str(folder / f"{name}.md"), str(folder), name, "", "") for name in scores]
    return Corpus(folder, source_of(documents, list(scores.values()), Project(str(folder), folder.name)))


def _question(query: str = "how do we round prices?", *relevant: str, also_ok: str = "") -> Question:
    return Question("q", query, "en", frozenset(relevant), frozenset({also_ok} - {""}))


def test_the_rank_is_that_of_the_relevant_document_and_handing_over_is_read_off_the_line(tmp_path: Path) -> None:
    corpus = _corpus(tmp_path, right=0.7, sibling=0.8, other=0.2)
    outcome = judge(corpus, _question("how do we round prices?", "right.md", also_ok="sibling.md"), QUESTION, RULES)
    assert (outcome.rank, outcome.lenient_rank) == (2, 1)
    assert outcome.line is not None
    assert "sibling" in outcome.line
    assert not outcome.handed
    assert judge(corpus, _question("how do we round prices?", "sibling.md"), QUESTION, RULES).handed


def test_a_message_too_short_for_the_hook_is_handed_nothing(tmp_path: Path) -> None:
    corpus = _corpus(tmp_path, right=0.9, other=0.2)
    outcome = judge(corpus, _question("はい"), QUESTION, RULES)
    assert (outcome.line, outcome.searched, outcome.unrelated) == (None, False, True)
    assert judge(corpus, _question("prices in cents?", "right.md"), QUESTION, RULES).line is not None


def test_a_document_that_is_not_there_has_no_rank(tmp_path: Path) -> None:
    outcome = judge(_corpus(tmp_path, right=0.9), _question("how do we round prices?", "gone.md"), QUESTION, RULES)
    assert (outcome.rank, outcome.handed) == (None, False)


def test_a_corpus_is_all_its_notes_without_the_indexes(tmp_path: Path) -> None:
    for name in ("MEMORY.md", "README.md", "README.ja.md", "one.md", "deep/two.md", "deep/MEMORY.md", "data.txt"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"# Title of {name}\n\nText.\n", encoding="utf-8")
    (tmp_path / "empty.md").touch()
    documents, skipped = read_corpus(tmp_path)
    assert [document.name for document in documents] == ["Title of deep/two.md", "Title of one.md"]
    assert [Path(item.path).name for item in skipped] == ["empty.md"]
