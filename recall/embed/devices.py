"""Which device runs the encoder: the first that is there, agrees with the CPU in a self-test, and is faster."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from recall.core.errors import ModelError
from recall.embed.encoder import Encoder
from recall.embed.manifest import Device, Manifest
from recall.embed.session import Runtime
from recall.embed.tokenizer import Tokenizer
from recall.embed.verdicts import WEEK, Trial, Verdicts

Wanted = Literal["auto", "cpu", "cuda", "coreml"]

LABELS: dict[Device, str] = {"cpu": "CPU", "cuda": "CUDA", "coreml": "CoreML"}

#: Texts of about the same length: they share calls where the model takes several, which shows whether it mixes them up.
SHORT = (
    "昼休みは何時から？",
    "who signs the releases?",
    "ValueError: expected 3, got 4",
    "회의는 매주 화요일에 한다.",
)

#: The texts of the self-test: short and long, Japanese and English.
SAMPLES = (
    "昼休みは何時から？",
    "how do we undo a database migration?",
    "データベースの移行は必ず戻せるように書く。戻せない移行で半日止まったことがある。" * 4,
    "Releases are signed before the tests run, because a signature made later once covered the wrong files. " * 12,
)

_ROUNDS = 3  # timed, after one that warms up
_UNFINISHED = "its last self-test did not come to an end"
_UNFINISHED_SECONDS = 3600.0  # such a device is left alone; the process may also have been ended for another reason


class Placement(NamedTuple):
    """The encoder on its device, and in one line why it is there."""

    encoder: Encoder
    reason: str


@dataclass(frozen=True)
class Loader:
    """Loads one model's encoder on any device."""

    manifest: Manifest
    tokenizer: Tokenizer
    threads: int
    runtime: Runtime

    def load(self, device: Device) -> Encoder:
        """The variant that suits the device, on it. Raises ModelError."""
        weights = self.manifest.variant_for(device).weights
        graph = self.runtime.load(weights, self.manifest.outputs, device, self.threads)
        encoder = Encoder(graph, self.manifest, device)
        if device == "cpu":
            encoder.check_batches(self.ids(SHORT))
        return encoder

    def ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Token ids of questions."""
        return [self.tokenizer.encode(self.manifest.query_prefix + text) for text in texts]


class Refused(Exception):
    """A device is not taken; the message says why."""


class Chooser:
    """Finds the device for one model."""

    def __init__(self, loader: Loader, verdicts: Verdicts) -> None:
        self._loader = loader
        self._samples = loader.ids(SAMPLES)
        self._runtime = loader.runtime
        self._verdicts = verdicts
        self._on_cpu: Encoder | None = None  # loaded at most once

    def choose(self, wanted: Wanted) -> Placement:
        """The device that was asked for, or with `auto` the best. Raises ModelError where that one cannot be used."""
        if wanted == "cpu":
            return Placement(self._cpu(), "the CPU was asked for")
        listed = self._runtime.devices()
        if wanted == "auto":
            return self._first(listed)
        if wanted not in listed:
            known = ", ".join(LABELS[device] for device in ("cpu", *listed))
            raise ModelError(
                f"The device {wanted} was asked for, but onnxruntime {self._runtime.version} only knows {known}; "
                f'set device = "auto" in config.toml, or install an onnxruntime with {LABELS[wanted]}.'
            )
        try:
            encoder, trial = self._try(wanted, timed=False)
        except Refused as refused:
            raise ModelError(
                f"The device {wanted} was asked for, but cannot be used: {refused}; "
                'mend that, or set device = "auto" or "cpu" in config.toml.'
            ) from None
        return Placement(encoder, f"{LABELS[wanted]} was asked for ({_figures(trial)})")

    def _first(self, listed: Sequence[Device]) -> Placement:
        refusals: list[str] = []
        for device in listed:
            try:
                encoder, trial = self._try(device, timed=True)
            except Refused as refused:
                refusals.append(f"{LABELS[device]} was refused: {refused}")
            else:
                return Placement(encoder, "; ".join([f"{LABELS[device]} is faster ({_figures(trial)})", *refusals]))
        return Placement(self._cpu(), "; ".join(refusals) or "this onnxruntime knows no other device")

    def _try(self, device: Device, *, timed: bool) -> tuple[Encoder, Trial]:
        """The encoder on the device with what the self-test found, now or earlier. Raises Refused."""
        key = self._key(device)
        trial = self._verdicts.get(key, timed)
        if trial is not None and trial.objection(timed) and not timed and trial.error != _UNFINISHED:
            trial = None  # the person asks for this device, and may have mended it
        if trial is not None:
            _refuse(trial, timed)
            return self._start(device), trial
        cpu = self._cpu()
        expected = [cpu.embed([sample]) for sample in self._samples]
        # A driver may end the process, or never answer: then this verdict stands for a while.
        self._verdicts.put(key, Trial(0.0, 0.0, _UNFINISHED, self._verdicts.now() + _UNFINISHED_SECONDS))
        try:
            encoder = self._start(device)
            trial = self._measure(encoder, cpu, expected)
        except BaseException:  # also when the person has had enough
            self._verdicts.forget(key)
            raise
        self._verdicts.put(key, trial)
        _refuse(trial, timed)
        return encoder, trial

    def _start(self, device: Device) -> Encoder:
        """Raises Refused, which is not remembered: to find it out again costs little."""
        try:
            return self._loader.load(device)
        except ModelError as error:
            raise Refused(str(error).rstrip(".")) from None

    def _measure(self, encoder: Encoder, cpu: Encoder, expected: Sequence[NDArray[np.float32]]) -> Trial:
        """The self-test. `expected`: the CPU's vector float32[1, dimension] of each sample."""
        until = self._verdicts.now() + WEEK
        try:
            vectors = [encoder.embed([sample]) for sample in self._samples]
            speed = self._speed(encoder, cpu)
        except Exception as error:  # each provider raises classes of its own
            return Trial(0.0, 0.0, f"it failed in the self-test ({type(error).__name__})", until)
        cosine = min(float((one * other).sum()) for one, other in zip(vectors, expected, strict=True))
        return Trial(cosine, speed, "", until)

    def _speed(self, encoder: Encoder, cpu: Encoder) -> float:
        """How many times as fast as the CPU, for the samples one after the other, in turns.

        The quickest round counts: whatever else the machine does only ever adds to the others.
        """
        times: dict[Encoder, list[float]] = {encoder: [], cpu: []}
        for _ in range(_ROUNDS):
            for which, taken in times.items():
                began = time.perf_counter()
                for sample in self._samples:
                    which.embed([sample])
                taken.append(time.perf_counter() - began)
        return min(times[cpu]) / min(times[encoder])

    def _key(self, device: Device) -> str:
        """All that a verdict depends on."""
        variants = [self._loader.manifest.variant_for(which).name for which in (device, "cpu")]
        listed = ",".join(self._runtime.devices())
        return " ".join([self._loader.manifest.identity, device, *variants, self._runtime.version, listed])

    def _cpu(self) -> Encoder:
        if self._on_cpu is None:
            self._on_cpu = self._loader.load("cpu")
        return self._on_cpu


def describe(device: Device, threads: int) -> str:
    """The device in words for the person."""
    if device == "cpu":
        return f"CPU, {threads} thread{'s' if threads > 1 else ''}"
    card = _nvidia_card() if device == "cuda" else ""
    return f"{LABELS[device]} ({card})" if card else LABELS[device]


def _refuse(trial: Trial, timed: bool) -> None:
    objection = trial.objection(timed)
    if objection:
        raise Refused(objection)


def _figures(trial: Trial) -> str:
    return f"{trial.speed:.1f} times as fast as the CPU in the self-test, cosine {trial.cosine:.4f}"


def _nvidia_card() -> str:
    """The first card's name as Linux' driver tells it, "" where it does not."""
    for file in sorted(Path("/proc/driver/nvidia/gpus").glob("*/information")):
        try:
            lines = file.read_text("utf-8", "replace").splitlines()
        except OSError:
            continue
        for line in lines:
            name, _, value = line.partition(":")
            if name.strip() == "Model":
                return value.strip()
    return ""
