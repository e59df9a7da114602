"""A device that fails later: the text in hand is answered by the CPU, and so is everything after it."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from recall.core.errors import ModelError
from recall.embed.embedder import Embedder
from recall.embed.manifest import Device, Outputs
from recall.embed.session import Graph, OnnxRuntime, Output
from tiny_model import WORDS, tiny_model

TEXTS = [" ".join(WORDS[:count]) for count in range(1, 11)]


class Failing:
    """A real session of the CPU as CoreML, which runs as long as nobody breaks it. The CPU's waits, so it is slower."""

    def __init__(self) -> None:
        self.version = "1.99"
        self.broken = threading.Event()
        self.numbers = False  # whether it then gives no numbers, instead of raising
        self.cpus = 0
        self._real = OnnxRuntime()

    def devices(self) -> list[Device]:
        return ["coreml"]

    def load(self, weights: Path, outputs: Outputs, device: Device, threads: int) -> Graph:
        graph = self._real.load(weights, outputs, "cpu", threads)
        self.cpus += device == "cpu"
        return _Graph(graph, self, device)


class _Graph:
    def __init__(self, graph: Graph, machine: Failing, device: Device) -> None:
        self._graph = graph
        self._machine = machine
        self._device = device
        self.masked = graph.masked

    def run(self, *inputs: object, **options: object) -> Output:
        if self._device == "cpu":
            threading.Event().wait(0.002)
        output: Output = self._graph.run(*inputs, **options)  # type: ignore[arg-type]
        if self._device == "cpu" or not self._machine.broken.is_set():
            return output
        if self._machine.numbers:
            return output._replace(dense=output.dense * np.nan)
        raise RuntimeError("device removed")


@pytest.fixture
def machine() -> Failing:
    return Failing()


@pytest.fixture
def embedder(machine: Failing, tmp_path: Path) -> Embedder:
    embedder = Embedder(tiny_model(tmp_path), threads=1, runtime=machine)
    assert embedder.device == "CoreML"
    return embedder


@pytest.mark.parametrize("numbers", [False, True])
def test_the_question_in_hand_is_answered_by_the_cpu(numbers: bool, machine: Failing, embedder: Embedder) -> None:
    expected = embedder.embed_query("one two")
    machine.numbers = numbers
    machine.broken.set()
    assert np.allclose(embedder.embed_query("one two"), expected, atol=1e-6)
    assert embedder.device == "CPU, 1 thread"
    error = "ArithmeticError" if numbers else "RuntimeError"
    assert embedder.device_reason == f"CoreML failed ({error}) and the CPU took over; a restart tries CoreML again"


def test_passages_under_way_are_finished_by_the_cpu_in_its_own_batches(machine: Failing, embedder: Embedder) -> None:
    expected = embedder.embed_passages(TEXTS)
    pauses = 0

    def pause() -> None:
        nonlocal pauses
        pauses += 1
        machine.broken.set()

    assert np.allclose(embedder.embed_passages(TEXTS, pause), expected, atol=1e-6)
    assert pauses == 1
    assert [len(heads.tokens) for heads in embedder.heads(TEXTS)] == list(range(1, 11))


def test_threads_that_see_it_fail_at_once_load_the_cpu_once(machine: Failing, embedder: Embedder) -> None:
    expected = embedder.embed_queries(TEXTS)
    before = machine.cpus
    machine.broken.set()
    with ThreadPoolExecutor(8) as pool:
        for vector, text in zip(pool.map(embedder.embed_query, TEXTS), TEXTS, strict=True):
            assert np.allclose(vector, expected[TEXTS.index(text)], atol=1e-6)
    assert machine.cpus == before + 1


def test_a_failure_of_the_cpu_is_not_hidden(tmp_path: Path) -> None:
    manifest = tiny_model(tmp_path)
    text = manifest.tokenizer.read_text("utf-8").replace('"ten": 13', '"ten": 99')
    manifest.tokenizer.write_text(text, "utf-8")
    embedder = Embedder(manifest, device="cpu", threads=1)
    with pytest.raises(Exception, match="out of data bounds"):
        embedder.embed_query("ten")
    assert np.isfinite(embedder.embed_query("one")).all()


def test_a_closed_model_says_so(embedder: Embedder) -> None:
    embedder.close()
    embedder.close()
    with pytest.raises(ModelError, match="was closed"):
        embedder.embed_query("one")
    assert embedder.dimension == 8
