"""The choice of a device: real sessions, some of them behind a wrapper that waits, breaks, or has other weights."""

import dataclasses
import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from recall.core.errors import ModelError
from recall.embed.devices import describe
from recall.embed.embedder import Embedder
from recall.embed.manifest import Device, Manifest, Outputs, Variant
from recall.embed.session import Graph, OnnxRuntime, Output, Stop
from tiny_model import Weights, tiny_model


class Wrapped:
    """A graph that does something before each run."""

    def __init__(self, graph: Graph, before: Callable[[], object]) -> None:
        self._graph = graph
        self._before = before

    @property
    def masked(self) -> bool:
        return self._graph.masked

    def run(
        self, ids: NDArray[np.int64], mask: NDArray[np.int64], *, heads: bool = False, stop: Stop | None = None
    ) -> Output:
        self._before()
        return self._graph.run(ids, mask, heads=heads, stop=stop)


class Machine:
    """onnxruntime with further devices, each made from a session on the CPU; `loads` tells what was loaded."""

    def __init__(self, **devices: Callable[[Graph], Graph]) -> None:
        self.version = "1.99"
        self.loads: list[tuple[str, str]] = []
        self._devices = devices
        self._real = OnnxRuntime()

    def devices(self) -> Sequence[Device]:
        return [device for device in ("cuda", "coreml") if device in self._devices]

    def load(self, weights: Path, outputs: Outputs, device: Device, threads: int) -> Graph:
        self.loads.append((device, weights.name))
        graph = self._real.load(weights, outputs, "cpu", threads)
        # The CPU takes its time, or else no device could be faster than it.
        return self._devices[device](graph) if device in self._devices else slow(graph, 0.002)


class Broken(OnnxRuntime):
    """Lists CUDA, which onnxruntime as installed for the CPU cannot start."""

    def devices(self) -> Sequence[Device]:
        return ["cuda"]


def slow(graph: Graph, seconds: float) -> Graph:
    return Wrapped(graph, lambda: time.sleep(seconds))


def good(graph: Graph) -> Graph:
    return graph


def slower(graph: Graph) -> Graph:
    return slow(graph, 0.02)


def failing(graph: Graph) -> Graph:
    def fail() -> None:
        raise RuntimeError("out of memory")

    return Wrapped(graph, fail)


def other_weights(folder: Path) -> Callable[[Graph], Graph]:
    manifest = tiny_model(folder, weights=Weights(2))
    return lambda _: OnnxRuntime().load(manifest.variants[0].weights, manifest.outputs, "cpu", 1)


@pytest.fixture
def manifest(tmp_path: Path) -> Manifest:
    return tiny_model(tmp_path / "tiny")


@pytest.fixture
def state(tmp_path: Path) -> Path:
    folder = tmp_path / "state"
    folder.mkdir()
    return folder


def test_with_nothing_but_a_cpu_auto_takes_it_and_tests_nothing(manifest: Manifest) -> None:
    machine = Machine()
    embedder = Embedder(manifest, threads=2, runtime=machine)
    assert (embedder.device, embedder.device_reason) == ("CPU, 2 threads", "this onnxruntime knows no other device")
    assert machine.loads == [("cpu", "model.onnx")]


def test_a_device_that_agrees_and_is_faster_is_taken(manifest: Manifest) -> None:
    embedder = Embedder(manifest, threads=1, runtime=Machine(coreml=good))
    assert embedder.device == "CoreML"
    assert embedder.device_reason.startswith("CoreML is faster (")
    assert embedder.device_reason.endswith("times as fast as the CPU in the self-test, cosine 1.0000)")
    cpu = Embedder(manifest, threads=1)
    texts = ["one two", "three", "ten nine eight seven six"]
    assert np.allclose(embedder.embed_passages(texts), cpu.embed_passages(texts), atol=1e-6)


def test_one_that_is_listed_but_cannot_start_leaves_the_cpu(
    manifest: Manifest, capfd: pytest.CaptureFixture[str]
) -> None:
    embedder = Embedder(manifest, threads=1, runtime=Broken())
    assert embedder.device == "CPU, 1 thread"
    assert embedder.device_reason.startswith("CUDA was refused: onnxruntime ")
    assert "was built without CUDAExecutionProvider" in embedder.device_reason
    assert np.isfinite(embedder.embed_query("one")).all()
    assert capfd.readouterr() == ("", "")


def test_one_with_wrong_numbers_leaves_the_cpu(manifest: Manifest, tmp_path: Path) -> None:
    embedder = Embedder(manifest, threads=1, runtime=Machine(cuda=other_weights(tmp_path / "other")))
    assert embedder.device == "CPU, 1 thread"
    assert embedder.device_reason.startswith(
        "CUDA was refused: its vectors should have a cosine of at least 0.99 to the CPU's, but have "
    )
    assert np.array_equal(embedder.embed_query("one two"), Embedder(manifest, threads=1).embed_query("one two"))


def test_one_that_is_slower_leaves_the_cpu(manifest: Manifest) -> None:
    embedder = Embedder(manifest, threads=1, runtime=Machine(cuda=slower))
    assert embedder.device == "CPU, 1 thread"
    assert "CUDA was refused: it should be at least 1.2 times as fast as the CPU, but is 0." in embedder.device_reason


def test_one_that_fails_in_the_self_test_leaves_the_cpu(manifest: Manifest) -> None:
    embedder = Embedder(manifest, threads=1, runtime=Machine(cuda=failing))
    assert embedder.device_reason == "CUDA was refused: it failed in the self-test (RuntimeError)"


def test_the_next_device_is_tried_and_the_reason_names_both(manifest: Manifest) -> None:
    embedder = Embedder(manifest, threads=1, runtime=Machine(cuda=failing, coreml=good))
    assert embedder.device == "CoreML"
    assert embedder.device_reason.startswith("CoreML is faster (")
    assert embedder.device_reason.endswith("; CUDA was refused: it failed in the self-test (RuntimeError)")


def test_the_cpu_when_asked_for_is_not_compared(manifest: Manifest) -> None:
    machine = Machine(cuda=good)
    embedder = Embedder(manifest, device="cpu", threads=1, runtime=machine)
    assert (embedder.device, embedder.device_reason) == ("CPU, 1 thread", "the CPU was asked for")
    assert machine.loads == [("cpu", "model.onnx")]


def test_a_device_that_is_asked_for_may_be_slower(manifest: Manifest) -> None:
    embedder = Embedder(manifest, device="coreml", threads=1, runtime=Machine(coreml=slower))
    assert embedder.device == "CoreML"
    assert embedder.device_reason.startswith("CoreML was asked for (0.")


@pytest.mark.parametrize(
    ("runtime", "said"),
    [
        (Machine(coreml=good), "onnxruntime 1.99 only knows CPU, CoreML; set device"),
        (Machine(cuda=failing), "cannot be used: it failed in the self-test (RuntimeError); mend that, or set device"),
        (Broken(), "was built without CUDAExecutionProvider; mend that"),
    ],
)
def test_a_device_that_is_asked_for_and_fails_is_an_error(runtime: Any, said: str, manifest: Manifest) -> None:
    with pytest.raises(ModelError) as caught:
        Embedder(manifest, device="cuda", threads=1, runtime=runtime)
    assert str(caught.value).startswith("The device cuda was asked for, ")
    assert said in str(caught.value)
    assert "config.toml" in str(caught.value)


def test_the_variant_for_the_device_is_loaded_and_compared_with_the_one_for_the_cpu(
    manifest: Manifest, tmp_path: Path
) -> None:
    half = tiny_model(tmp_path / "half").variants[0].weights.rename(tmp_path / "half" / "model.fp16.onnx")
    two = (Variant("int8", ("cpu",), manifest.variants[0].files), Variant("fp16", ("cuda",), (half,)))
    machine = Machine(cuda=good)
    embedder = Embedder(dataclasses.replace(manifest, variants=two), threads=1, runtime=machine)
    assert embedder.device.startswith("CUDA")
    assert machine.loads == [("cpu", "model.onnx"), ("cuda", "model.fp16.onnx")]


def test_a_verdict_is_remembered_so_that_the_next_start_loads_one_session(manifest: Manifest, state: Path) -> None:
    for device, loads in (("cuda", good), ("coreml", failing)):
        first, second = Machine(**{device: loads}), Machine(**{device: loads})
        one = Embedder(manifest, threads=1, state=state, runtime=first)
        two = Embedder(manifest, threads=1, state=state, runtime=second)
        assert len(first.loads) == 2
        assert len(second.loads) == 1
        assert two.device == one.device
        assert two.device_reason == one.device_reason
    assert (state / "devices.json").stat().st_mode & 0o777 == 0o600


def test_another_onnxruntime_is_tested_anew(manifest: Manifest, state: Path) -> None:
    Embedder(manifest, threads=1, state=state, runtime=Machine(cuda=failing))
    newer = Machine(cuda=good)
    newer.version = "2.0"
    assert Embedder(manifest, threads=1, state=state, runtime=newer).device.startswith("CUDA")


def test_a_device_that_cannot_start_is_tried_at_every_start(manifest: Manifest, state: Path) -> None:
    assert "was built without" in Embedder(manifest, threads=1, state=state, runtime=Broken()).device_reason
    mended = Machine(cuda=good)
    mended.version = OnnxRuntime().version
    assert Embedder(manifest, threads=1, state=state, runtime=mended).device.startswith("CUDA")


def test_a_device_that_ended_the_process_is_left_alone_for_an_hour(manifest: Manifest, state: Path) -> None:
    folder = manifest.tokenizer.parent
    crash = (
        "import os, sys; from pathlib import Path; sys.path[:0] = sys.argv[1:3]\n"
        "from recall.embed.embedder import Embedder; from recall.embed.session import OnnxRuntime\n"
        "from tiny_model import tiny_model\n"
        "class Crashing(OnnxRuntime):\n"
        "    version = '1.99'\n"
        "    def devices(self): return ['cuda']\n"
        "    def load(self, weights, outputs, device, threads):\n"
        "        if device == 'cuda': os._exit(77)\n"
        "        return super().load(weights, outputs, device, threads)\n"
        "Embedder(tiny_model(Path(sys.argv[3])), threads=1, state=Path(sys.argv[4]), runtime=Crashing())\n"
    )
    tests = Path(__file__).resolve().parents[2]
    ended = subprocess.run([sys.executable, "-c", crash, tests.parent, tests, folder, state], timeout=60)
    assert ended.returncode == 77
    embedder = Embedder(manifest, threads=1, state=state, runtime=Machine(cuda=good))
    assert embedder.device_reason == "CUDA was refused: its last self-test did not come to an end"
    with pytest.raises(ModelError, match="did not come to an end; mend that"):
        Embedder(manifest, device="cuda", threads=1, state=state, runtime=Machine(cuda=good))
    (only,) = json.loads((state / "devices.json").read_bytes()).values()
    assert 3500 < only["until"] - time.time() <= 3600


def test_a_self_test_that_the_person_breaks_off_leaves_no_verdict(manifest: Manifest, state: Path) -> None:
    def impatient(graph: Graph) -> Graph:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Embedder(manifest, threads=1, state=state, runtime=Machine(cuda=impatient))
    assert Embedder(manifest, threads=1, state=state, runtime=Machine(cuda=good)).device.startswith("CUDA")


def test_a_device_that_is_asked_for_is_tested_again_after_a_refusal(manifest: Manifest, state: Path) -> None:
    Embedder(manifest, threads=1, state=state, runtime=Machine(cuda=failing))
    remembered = Embedder(manifest, threads=1, state=state, runtime=Machine(cuda=good))
    assert remembered.device_reason == "CUDA was refused: it failed in the self-test (RuntimeError)"
    mended = Embedder(manifest, device="cuda", threads=1, state=state, runtime=Machine(cuda=good))
    assert mended.device.startswith("CUDA")
    assert Embedder(manifest, threads=1, state=state, runtime=Machine(cuda=good)).device.startswith("CUDA")


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"[]", b"{", b'{"a": 1}', b'{"a": {"cosine": "x"}}', b"\xff", b"[" * 100_000),
        b'{"a": {"cosine": 1' + b"0" * 400 + b', "speed": 1, "error": "", "until": 0}}',
    ],
)
def test_a_damaged_file_of_verdicts_is_replaced(content: bytes, manifest: Manifest, state: Path) -> None:
    (state / "devices.json").write_bytes(content)
    assert Embedder(manifest, threads=1, state=state, runtime=Machine(cuda=good)).device.startswith("CUDA")
    assert len(json.loads((state / "devices.json").read_bytes())) == 1


def test_a_state_folder_that_cannot_be_written_does_not_matter(manifest: Manifest, tmp_path: Path) -> None:
    runtime = Machine(cuda=good)
    assert Embedder(manifest, threads=1, state=tmp_path / "missing", runtime=runtime).device.startswith("CUDA")


def test_devices_in_words() -> None:
    assert describe("cpu", 1) == "CPU, 1 thread"
    assert describe("cpu", 4) == "CPU, 4 threads"
    assert describe("cuda", 4).startswith("CUDA")
    assert describe("coreml", 4) == "CoreML"
