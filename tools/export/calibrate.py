"""Calibration for int8: which channels of a product's input are far louder than the others, found by running fp32.

An int8 product gives its whole input one scale. Where one or two channels of a thousand carry values ten times as
large as the rest (transformers do have such channels, the same ones for every text), they use up the 8 bits; dividing
them by a power of two, and multiplying their weights by it, changes nothing else and gives the resolution back.
"""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper

Feeds = Mapping[str, NDArray[np.generic]]

#: Channels above this percentile of all channels may be called loud.
_ORDINARY = 98


def activation_maxima(
    graph: Path, products: Mapping[str, str], feeds: Iterable[Feeds]
) -> dict[str, NDArray[np.float32]]:
    """Largest absolute value of each channel [inputs] that went into each product, over all `feeds`.

    `graph`: a float32 graph of `Writer`; `products`: its `Writer.products`. Texts should come without padding: what
    stands in padded places is nobody's. A graph with these maxima as its outputs is written beside `graph` for a
    moment, so that no activations need to be kept.
    """
    model = onnx.load(str(graph), load_external_data=False)
    del model.graph.output[:]
    sources = list(dict.fromkeys(products.values()))
    model.graph.initializer.append(onnx.TensorProto(name="loudest.axis", data_type=TensorProto.INT64, dims=[1]))
    model.graph.initializer[-1].raw_data = np.zeros(1, "<i8").tobytes()
    for source in sources:
        rows, size, loudest = (f"{source}.loudest.{part}" for part in ("rows", "size", "value"))
        model.graph.node.append(helper.make_node("Flatten", [source], [rows], axis=-1))
        model.graph.node.append(helper.make_node("Abs", [rows], [size]))
        model.graph.node.append(helper.make_node("ReduceMax", [size, "loudest.axis"], [loudest], keepdims=0))
        model.graph.output.append(helper.make_tensor_value_info(loudest, TensorProto.FLOAT, None))
    watching = graph.with_name(f"watching-{graph.name}")
    watching.write_bytes(model.SerializeToString())
    try:
        found = _largest(watching, feeds)
    finally:
        watching.unlink()
    by_source = dict(zip(sources, found, strict=True))
    return {output: by_source[source] for output, source in products.items()}


def loud_channels(maxima: Mapping[str, NDArray[np.float32]]) -> dict[str, dict[int, int]]:
    """For each product the channels that are loud, with the power of two that brings them back among the others.

    Loud is what reaches twice the 98th percentile of the channels' maxima; products without such channels are left
    out. Fits `Writer`'s `loud`.
    """
    found = {}
    for output, largest in maxima.items():
        ordinary = max(float(np.percentile(largest, _ORDINARY)), float(np.finfo(np.float32).tiny))
        ratio = largest / ordinary
        loud = {int(channel): 1 << round(float(np.log2(ratio[channel]))) for channel in np.flatnonzero(ratio >= 2)}
        if loud:
            found[output] = loud
    return found


def _largest(graph: Path, feeds: Iterable[Feeds]) -> list[NDArray[np.float32]]:
    """The element-wise maximum of every output over all `feeds`."""
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # asked at import only, see recall/embed/__init__.py
    import onnxruntime

    runtime: Any = onnxruntime  # its annotations export none of its names
    session = runtime.InferenceSession(str(graph), providers=["CPUExecutionProvider"])
    largest: list[NDArray[np.float32]] = []
    for feed in feeds:
        values = session.run(None, dict(feed))
        largest = [np.maximum(old, new) for old, new in zip(largest, values, strict=True)] if largest else values
    if not largest:
        raise ValueError("calibration needs at least one text")
    return largest
