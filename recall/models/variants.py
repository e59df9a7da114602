"""Which variants of a model this machine is for."""

from collections.abc import Sequence

from recall.core.errors import ModelError
from recall.embed.manifest import Device, Manifest, Variant


def devices_here() -> tuple[Device, ...]:
    """The CPU, and what else the installed onnxruntime was built for. Takes the 0.1 s of its import."""
    from recall.embed.session import OnnxRuntime  # noqa: PLC0415

    return ("cpu", *OnnxRuntime().devices())


def choose(
    manifest: Manifest, names: Sequence[str], devices: Sequence[Device], offered: Sequence[Variant]
) -> tuple[Variant, ...]:
    """The variants called `names`; without names the best one of those offered for each device. Raises ModelError.

    For the CPU, which every machine falls back to, that is the first offered one where none is made for it.
    """
    known = {variant.name: variant for variant in manifest.variants}
    if unknown := [name for name in names if name not in known]:
        raise ModelError(
            f"The model {manifest.name} has no variant called {', '.join(unknown)}; it has {', '.join(known)}."
        )
    if names:
        return tuple(known[name] for name in dict.fromkeys(names))
    best = [next((variant for variant in offered if device in variant.devices), None) for device in devices]
    if best and best[0] is None and offered:
        best[0] = offered[0]
    return tuple(dict.fromkeys(variant for variant in best if variant))
