"""A question goes first: passages are interrupted, begun again and give the same vectors; questions are never hit."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest

from recall.embed.catalog import find_model
from recall.embed.embedder import Embedder
from recall.embed.interruption import MOST_INTERRUPTIONS, Interruptible
from recall.embed.session import Interrupted, Stop

LONG = "Releases are signed before the tests run. " * 60  # 512 tokens, some 100 ms of work


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return Embedder(find_model("multilingual-e5-small", None))


@contextmanager
def flood(embedder: Embedder) -> Iterator[None]:
    """Another thread interrupts all the time."""
    over = threading.Event()

    def interrupt() -> None:
        while not over.wait(0.0005):
            embedder.interrupt()

    thread = threading.Thread(target=interrupt)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def test_a_passage_is_ended_early_and_then_gets_the_same_vector(embedder: Embedder) -> None:
    expected = embedder.embed_passages([LONG])
    pauses: list[None] = []
    with flood(embedder):
        vectors = embedder.embed_passages([LONG], lambda: pauses.append(None))
    assert len(pauses) == MOST_INTERRUPTIONS + 1
    assert np.array_equal(vectors, expected)


def test_each_batch_of_several_is_begun_again_by_itself(embedder: Embedder) -> None:
    texts = [LONG, "昼休みは十二時から。", LONG[:2000]]
    expected = embedder.embed_passages(texts)
    with flood(embedder):
        assert np.array_equal(embedder.embed_passages(texts), expected)


def test_questions_are_never_hit(embedder: Embedder) -> None:
    expected = embedder.embed_query(LONG)
    with flood(embedder):
        for _ in range(5):
            assert np.array_equal(embedder.embed_query(LONG), expected)
            assert np.array_equal(embedder.embed_queries([LONG, LONG]), [expected, expected])
        assert np.array_equal(embedder.heads([LONG], "query")[0].dense, expected)


def test_an_interruption_while_nothing_runs_changes_nothing(embedder: Embedder) -> None:
    embedder.interrupt()
    pauses: list[None] = []

    def pause() -> None:
        pauses.append(None)
        embedder.interrupt()

    embedder.embed_passages(["one", "two"], pause)
    assert len(pauses) == 2


def test_what_pause_raises_comes_through_and_leaves_the_model_usable(embedder: Embedder) -> None:
    class Ended(Exception):
        pass

    def pause() -> None:
        raise Ended

    with pytest.raises(Ended):
        embedder.embed_passages(["one"], pause)
    assert np.isfinite(embedder.embed_passages(["one"])).all()


def test_only_the_runs_in_hand_are_ended() -> None:
    work = Interruptible()
    seen: list[Stop] = []

    def first(stop: Stop) -> str:
        seen.append(stop)
        if len(seen) == 1:
            work.interrupt()
            assert stop.requested
            raise Interrupted
        return "done"

    assert work.run(first, lambda: None) == "done"
    work.interrupt()
    assert [stop.requested for stop in seen] == [True, False]


def test_an_error_of_the_work_itself_is_not_tried_again() -> None:
    pauses: list[None] = []

    def fail(stop: Stop) -> None:
        raise ValueError("damaged")

    with pytest.raises(ValueError, match="damaged"):
        Interruptible().run(fail, lambda: pauses.append(None))
    assert len(pauses) == 1
