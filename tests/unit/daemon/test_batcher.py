"""Questions that wait are embedded together, each by its own model, and nobody's absence delays the others."""

import asyncio
import threading
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest

from recall.daemon.batcher import Batcher
from recall.embed.catalog import find_model
from recall.embed.embedder import Embedder


@pytest.fixture(scope="module")
def bundled() -> Embedder:
    return Embedder(find_model("multilingual-e5-small", None))


class Recording:
    """The real model, with the calls it got; `gate` holds the first of them back until the test lets it go."""

    def __init__(self, embedder: Embedder, together: int) -> None:
        self.together = together
        self.calls: list[list[str]] = []
        self.gate = threading.Event()
        self._embedder = embedder

    def embed_queries(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        self.calls.append(list(texts))
        assert self.gate.wait(30)
        if "fail" in texts:
            raise RuntimeError("failed")
        return self._embedder.embed_queries(texts)


def never() -> bool:
    return False


def test_what_comes_while_a_call_is_in_work_goes_into_the_next_one_together(bundled: Embedder) -> None:
    async def ask() -> list[npt.NDArray[np.float32] | None]:
        batcher, model = Batcher(), Recording(bundled, 3)
        tasks = [asyncio.create_task(batcher.embed(model, "q0", never))]  # type: ignore[arg-type]
        while not model.calls:
            await asyncio.sleep(0.001)
        tasks += [asyncio.create_task(batcher.embed(model, f"q{n}", never)) for n in range(1, 6)]  # type: ignore[arg-type]
        await asyncio.sleep(0.01)
        model.gate.set()
        vectors = await asyncio.gather(*tasks)
        batcher.close()
        assert model.calls == [["q0"], ["q1", "q2", "q3"], ["q4", "q5"]]
        return vectors

    vectors = asyncio.run(ask())
    for number, vector in enumerate(vectors):
        assert vector is not None
        assert np.array_equal(vector, bundled.embed_query(f"q{number}"))


def test_a_late_question_gets_nothing_and_is_not_embedded(bundled: Embedder) -> None:
    async def ask() -> None:
        batcher, model, late = Batcher(), Recording(bundled, 8), False
        first = asyncio.create_task(batcher.embed(model, "q0", never))  # type: ignore[arg-type]
        while not model.calls:
            await asyncio.sleep(0.001)
        second = asyncio.create_task(batcher.embed(model, "q1", lambda: late))  # type: ignore[arg-type]
        third = asyncio.create_task(batcher.embed(model, "q2", never))  # type: ignore[arg-type]
        await asyncio.sleep(0.01)
        late = True
        model.gate.set()
        assert await second is None
        assert await third is not None
        await first
        assert model.calls == [["q0"], ["q2"]]
        batcher.close()

    asyncio.run(ask())


def test_a_failure_reaches_those_who_shared_the_call_and_nobody_else(bundled: Embedder) -> None:
    async def ask() -> None:
        batcher, model = Batcher(), Recording(bundled, 2)
        model.gate.set()
        asked = [batcher.embed(model, text, never) for text in ("fail", "with it", "after it")]  # type: ignore[arg-type]
        results = await asyncio.gather(*asked, return_exceptions=True)
        batcher.close()
        assert [type(result) for result in results] == [RuntimeError, RuntimeError, np.ndarray]

    asyncio.run(ask())


def test_questions_of_two_models_never_share_a_call(bundled: Embedder) -> None:
    async def ask() -> None:
        batcher, old, new = Batcher(), Recording(bundled, 8), Recording(bundled, 8)
        old.gate.set()
        new.gate.set()
        asked = [(old, "a"), (old, "b"), (new, "c"), (new, "d"), (old, "e")]
        await asyncio.gather(*(batcher.embed(model, text, never) for model, text in asked))  # type: ignore[arg-type]
        batcher.close()
        assert (old.calls, new.calls) == ([["a", "b"], ["e"]], [["c", "d"]])

    asyncio.run(ask())


def test_an_asker_who_is_gone_does_not_stop_the_others(bundled: Embedder) -> None:
    async def ask() -> None:
        batcher, model = Batcher(), Recording(bundled, 8)
        first = asyncio.create_task(batcher.embed(model, "q0", never))  # type: ignore[arg-type]
        while not model.calls:
            await asyncio.sleep(0.001)
        first.cancel()
        second = asyncio.create_task(batcher.embed(model, "q1", never))  # type: ignore[arg-type]
        model.gate.set()
        assert await second is not None
        batcher.close()

    asyncio.run(ask())
