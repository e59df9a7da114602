"""The variants of a model: each built, proven, and kept when it comes close enough to the published model."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import numpy as np
from numpy.typing import NDArray

from export.calibrate import activation_maxima, loud_channels
from export.manifest import VariantFiles
from export.proof import Expected, Ids, Worst, measure
from export.writer import Precision

Say = Callable[[str], None]
#: For each product what calibration found for it, in the form that the graph's builder takes.
Fitted = Mapping[str, Any]
Fit = Callable[[Mapping[str, NDArray[np.float32]]], Fitted]


@dataclass(frozen=True)
class Kind:
    """A kind of variant, with the lowest cosine and the lowest correlation to the published model that are accepted.

    fp32 may differ by the order of its sums only. fp16 has 11 bits a number: 0.9999 and better where nothing
    overflows. int8 at 0.99 moves a score by less than what two ranks are apart. int4 is for machines that have no room
    for int8: its vectors are to be compared with each other only, and may cost some of the ranking. Weights of the
    tokens of one short text correlate less than vectors of a thousand numbers do; the limit of the correlation is that
    of averaged cosines of tokens too.
    """

    precision: Precision
    devices: tuple[str, ...]
    cosine: float
    correlation: float

    def accepts(self, worst: Sequence[Worst]) -> bool:
        """Whether every output comes close enough; what is no number does not."""
        return all(
            found.figure >= (self.correlation if found.weights or found.averaged else self.cosine) for found in worst
        )


#: By name, in the order of the manifest: the first one written shapes the model's identity.
KINDS = {
    "int8": Kind("int8", ("cpu",), 0.99, 0.95),
    "fp16": Kind("float16", ("cuda", "coreml"), 0.999, 0.999),
    "fp32": Kind("float32", (), 0.99999, 0.99999),
    "int4": Kind("int4", (), 0.95, 0.9),
}

_YARDSTICK = "fp32"
_FITTED = ("int8", "int4")


class Built(Protocol):
    """A graph file, and the inputs of its products for calibration."""

    @property
    def file(self) -> bytes: ...

    @property
    def products(self) -> Mapping[str, str]: ...


class Build(Protocol):
    """Makes the graph in one precision and writes its tensors to `data`."""

    def __call__(self, precision: Precision, data: BinaryIO, data_name: str, fitted: Fitted) -> Built: ...


@dataclass(frozen=True)
class Export:
    """What was made: the variants that are in the folder, and the names of those that fell short."""

    variants: tuple[VariantFiles, ...]
    short: tuple[str, ...]


def export_variants(
    folder: Path,
    names: Sequence[str],
    build: Build,
    calibration: Sequence[Ids],
    expected: Sequence[Expected],
    *,
    force: bool,
    say: Say,
    fit: Fit = loud_channels,
) -> Export:
    """Write the variants `names` of KINDS into `folder`, and leave those there that reach their limit.

    `calibration`: the ids of texts that int8 and int4 are fitted to, `fit` what the builder needs of the largest
    activations in them; `expected`: other texts, with what the published model makes of them. `force` keeps what falls
    short as well. `say` is told each step.
    """
    fitted: Fitted = {}
    if not set(names).isdisjoint(_FITTED):
        fitted = _calibrate(folder, build, calibration, fit, say)
    variants, short = [], []
    for name, kind in KINDS.items():
        if name not in names:
            continue
        files = _write(folder, name, build, fitted if name in _FITTED else {})
        size = sum((folder / file).stat().st_size for file in files)
        began = time.perf_counter()
        worst = measure(folder / files[0], expected)
        say(f"{name}: {size / 1e6:.0f} MB, proven in {time.perf_counter() - began:.0f} s")
        for found in worst:
            say(f"    {found}")
        if not kind.accepts(worst):
            short.append(name)
            limits = f"cosine {kind.cosine}, correlation {kind.correlation}"
            say(f"    falls short of {limits}: {'kept all the same' if force else 'left out'}")
            if not force:
                _remove(folder, files)
                continue
        variants.append(VariantFiles(name, kind.devices, files))
    if _YARDSTICK not in names:
        _remove(folder, _files(_YARDSTICK))
    return Export(tuple(variants), tuple(short))


def _calibrate(folder: Path, build: Build, calibration: Sequence[Ids], fit: Fit, say: Say) -> Fitted:
    """What the builder needs of the activations in the calibration texts."""
    began = time.perf_counter()
    files = _files(_YARDSTICK)
    with (folder / files[1]).open("wb") as data:
        built = build("float32", data, files[1], {})
    (folder / files[0]).write_bytes(built.file)
    feeds = (
        {"input_ids": np.array([ids], np.int64), "attention_mask": np.ones((1, len(ids)), np.int64)}
        for ids in calibration
    )
    fitted = fit(activation_maxima(folder / files[0], built.products, feeds))
    seconds = time.perf_counter() - began
    products = f"{len(fitted)} of {len(built.products)} products"
    say(f"calibration: {products} fitted to {len(calibration)} texts ({seconds:.0f} s)")
    return fitted


def _write(folder: Path, name: str, build: Build, fitted: Fitted) -> tuple[str, str]:
    files = _files(name)
    if not (folder / files[0]).is_file():  # calibration has written fp32 already
        with (folder / files[1]).open("wb") as data:
            built = build(KINDS[name].precision, data, files[1], fitted)
        (folder / files[0]).write_bytes(built.file)
    return files


def _files(name: str) -> tuple[str, str]:
    return f"model-{name}.onnx", f"model-{name}.onnx.data"


def _remove(folder: Path, files: Sequence[str]) -> None:
    for file in files:
        (folder / file).unlink(missing_ok=True)
