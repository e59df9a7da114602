"""The embedder with the bundled model: unit vectors, prefixes, order, threads, meaning across languages."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from recall.embed.catalog import find_model
from recall.embed.embedder import Embedder

NOTES = [
    "データベースの移行は必ず戻せるように書く。戻せない移行で半日止まったことがある。",
    "Releases are signed before the tests run.",
    "昼休みは十二時から一時まで。",
    "회의는 매주 화요일에 한다.",
]


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return Embedder(find_model("multilingual-e5-small", None))


def test_vectors_have_length_one_and_the_dimension_of_the_manifest(embedder: Embedder) -> None:
    vectors = embedder.embed_passages(NOTES)
    assert vectors.shape == (4, 384)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    assert embedder.embed_query("hello").shape == (embedder.dimension,)


def test_no_texts_give_no_rows(embedder: Embedder) -> None:
    assert embedder.embed_passages([]).shape == (0, 384)


def test_a_vector_depends_on_nothing_but_its_text(embedder: Embedder) -> None:
    together = embedder.embed_passages([*NOTES, "x" * 3000])
    for row, text in enumerate(NOTES):
        assert np.array_equal(together[row], embedder.embed_passages([text])[0])


def test_questions_and_passages_get_different_prefixes(embedder: Embedder) -> None:
    question, passage = embedder.embed_query("移行を戻す"), embedder.embed_passages(["移行を戻す"])[0]
    assert not np.array_equal(question, passage)
    assert np.array_equal(question, embedder.embed_query("移行を戻す"))


@pytest.mark.parametrize(
    ("question", "best"),
    [
        ("how do we undo a database migration?", 0),
        ("リリースの署名とテストの順番は？", 1),
        ("when is the lunch break", 2),
        ("会議は何曜日？", 3),
    ],
)
def test_a_question_finds_the_note_in_another_language(question: str, best: int, embedder: Embedder) -> None:
    scores = embedder.embed_passages(NOTES) @ embedder.embed_query(question)
    assert int(scores.argmax()) == best


@pytest.mark.parametrize("text", ["", " ", "\0", "a\ud800b", "\U0001f469\u200d\U0001f467", "\u202e\ufeff"])
def test_odd_texts_give_finite_vectors(text: str, embedder: Embedder) -> None:
    assert np.isfinite(embedder.embed_query(text)).all()


def test_threads_that_ask_at_once_get_the_same_vectors(embedder: Embedder) -> None:
    expected = embedder.embed_passages(NOTES)
    with ThreadPoolExecutor(4) as pool:
        for vectors in pool.map(embedder.embed_passages, [NOTES] * 8):
            assert np.array_equal(vectors, expected)


def test_loading_and_embedding_print_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    Embedder(find_model("multilingual-e5-small", None), threads=1).embed_query("a question")
    assert capfd.readouterr() == ("", "")


def test_the_device_names_the_threads() -> None:
    assert Embedder(find_model("multilingual-e5-small", None), threads=1).device == "CPU, 1 thread"
