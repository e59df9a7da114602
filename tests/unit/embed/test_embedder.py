"""The embedder with the bundled model: unit vectors, prefixes, order, threads, meaning across languages."""

import dataclasses
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from recall.embed.catalog import find_model
from recall.embed.embedder import Embedder
from recall.embed.manifest import Outputs
from tiny_model import NARROW, WIDTH, Shape, encode, tiny_model

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
    assert embedder.embed_passages([]).shape == embedder.embed_queries([]).shape == (0, 384)
    assert embedder.heads([]) == []


def test_questions_asked_together_get_the_vectors_that_they_get_alone(embedder: Embedder) -> None:
    assert embedder.together == 1  # the bundled graph takes no mask
    assert np.array_equal(embedder.embed_queries(NOTES), [embedder.embed_query(note) for note in NOTES])


def test_texts_that_share_no_call_come_one_by_one_in_their_order_with_a_pause_before_each(embedder: Embedder) -> None:
    happened: list[object] = []

    def pause() -> None:
        happened.append("pause")

    for places, batch in embedder.embed_batches(NOTES, pause):
        assert np.array_equal([heads.dense for heads in batch], embedder.embed_passages(NOTES)[places])
        happened += places
    assert happened == ["pause", 0, "pause", 1, "pause", 2, "pause", 3]


def test_a_graph_with_a_mask_gets_batches_whose_vectors_come_back_in_order(tmp_path: Path) -> None:
    embedder = Embedder(tiny_model(tmp_path), threads=1)
    assert embedder.together > 1
    texts = [" ".join(["one", "two", "three"][: 1 + number % 3] * (1 + number % 7)) for number in range(300)]
    pauses: list[None] = []
    vectors = embedder.embed_passages(texts, lambda: pauses.append(None))
    assert 300 / 16 <= len(pauses) < 100
    assert np.allclose(vectors, [embedder.embed_query(text) for text in texts], atol=1e-6)


def test_a_model_that_mixes_up_the_texts_of_a_call_is_found_out_when_it_is_loaded(tmp_path: Path) -> None:
    embedder = Embedder(tiny_model(tmp_path, shape=Shape(mixing=True)), threads=1)
    assert embedder.together == 1
    texts = ["one two three", "nine ten", "four five six seven"]
    assert np.array_equal(embedder.embed_passages(texts), [embedder.embed_query(text) for text in texts])


def test_heads_of_the_bundled_model_are_its_token_vectors(embedder: Embedder) -> None:
    for note, heads in zip(NOTES, embedder.heads(NOTES, "passage"), strict=True):
        assert np.array_equal(heads.dense, embedder.embed_passages([note])[0])
        assert heads.tokens.shape[1] == 384
        assert np.allclose(np.linalg.norm(heads.tokens, axis=1), 1, atol=1e-6)
        assert heads.sparse is None
        assert not np.array_equal(heads.dense, embedder.heads([note], "query")[0].dense)


def test_all_heads_come_from_one_run_with_the_prefix_of_their_kind_whose_own_tokens_are_left_out(
    tmp_path: Path,
) -> None:
    manifest = tiny_model(tmp_path, "cls", Outputs("last_hidden_state", "sparse_weights", "token_vectors"))
    manifest = dataclasses.replace(manifest, query_prefix="nine ", passage_prefix="ten ")
    embedder = Embedder(manifest, threads=1)
    (question,), (passage,) = embedder.heads(["one two"], "query"), embedder.heads(["one two"], "passage")
    assert question.tokens.shape == passage.tokens.shape == (2, NARROW)
    assert np.allclose(question.dense, embedder.embed_query("one two"), atol=1e-6)
    assert question.dense.shape == (WIDTH,)
    for heads in (question, passage):
        assert heads.sparse is not None
        assert heads.sparse.keys() <= set(encode("one two")[1:-1])
    assert not np.allclose(question.tokens, passage.tokens)  # the prefix is read, though


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
