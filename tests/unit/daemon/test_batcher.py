"""Questions that wait are embedded together, each by its own model, and nobody's absence delays the others."""

import asyncio
import math
import threading
import time
from collections.abc import Sequence

import numpy as np
import pytest

from recall.daemon.batcher import Batcher, how_many
from recall.embed.catalog import find_model
from recall.embed.embedder import Embedder
from recall.embed.encoder import Heads


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

    def heads(self, texts: Sequence[str]) -> list[Heads]:
        self.calls.append(list(texts))
        assert self.gate.wait(30)
        if "fail" in texts:
            raise RuntimeError("failed")
        return self._embedder.heads(texts)


def never() -> float:
    """Seconds left of one who waits as long as it takes."""
    return math.inf


def test_what_comes_while_a_call_is_in_work_goes_into_the_next_one_together(bundled: Embedder) -> None:
    async def ask() -> list[Heads | None]:
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

    for number, heads in enumerate(asyncio.run(ask())):
        assert heads is not None
        assert np.array_equal(heads.dense, bundled.embed_query(f"q{number}"))


def test_a_late_question_gets_nothing_and_is_not_embedded(bundled: Embedder) -> None:
    async def ask() -> None:
        batcher, model, late = Batcher(), Recording(bundled, 8), False
        first = asyncio.create_task(batcher.embed(model, "q0", never))  # type: ignore[arg-type]
        while not model.calls:
            await asyncio.sleep(0.001)
        second = asyncio.create_task(batcher.embed(model, "q1", lambda: 0.0 if late else 1.0))  # type: ignore[arg-type]
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
        assert [type(result) for result in results] == [RuntimeError, RuntimeError, Heads]

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


def test_no_more_go_into_a_call_than_are_done_before_the_first_gives_up() -> None:
    assert how_many(16, math.inf, 0.1) == 16
    assert how_many(16, 0.2, 0.0) == 16  # nothing is known yet
    assert how_many(16, 0.2, 0.05) == 4
    assert how_many(16, 0.01, 0.05) == 1
    assert how_many(1, 10.0, 0.05) == 1


def test_where_not_all_can_be_done_in_time_the_first_ones_are(bundled: Embedder) -> None:
    class Slow(Recording):
        """Takes a tenth of a second for each question."""

        def heads(self, texts: Sequence[str]) -> list[Heads]:
            time.sleep(0.1 * len(texts))
            return super().heads(texts)

    async def ask() -> list[Heads | None]:
        batcher, model = Batcher(), Slow(bundled, 16)
        model.gate.set()
        await batcher.embed(model, "warm", never)  # type: ignore[arg-type]
        deadline = time.monotonic() + 0.45
        asked = [batcher.embed(model, f"q{n}", lambda: deadline - time.monotonic()) for n in range(8)]  # type: ignore[arg-type]
        vectors = await asyncio.gather(*asked)
        batcher.close()
        assert 1 <= len(model.calls[1]) < 8
        return vectors

    vectors = asyncio.run(ask())
    answered = [vector is not None for vector in vectors]
    assert answered == sorted(answered, reverse=True)
    assert answered[0]
    assert not answered[-1]
