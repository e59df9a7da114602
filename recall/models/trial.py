"""Loading a model once before it counts: what its files promise is only known when it has embedded a text."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from recall.core.errors import ModelError
from recall.embed.devices import Wanted
from recall.embed.embedder import Embedder
from recall.embed.manifest import Manifest, Variant
from recall.models.variants import devices_here
from recall.text.clean import one_line

TEXT = "テストのデータベースはどのポート？ Which port does the test database use?"

#: How far a vector's length may be from 1.
_ROUNDING = 0.01


def loaded(manifest: Manifest, device: Wanted, state: Path | None) -> Embedder:
    """The model, loaded, after it has embedded a question and a passage. Raises ModelError, whatever goes wrong."""
    try:
        embedder = Embedder(manifest, device=device, state=state)
        vectors = (embedder.embed_query(TEXT), *embedder.embed_passages([TEXT]))
    except Exception as error:  # the graph, the tokenizer and each device raise classes of their own
        reason = str(error) if isinstance(error, ModelError) else f"{type(error).__name__}: {error}"
        reason = one_line(reason).rstrip(".: ")
        raise ModelError(f"The model {manifest.name} does not work on this machine: {reason}.") from None
    for vector in vectors:
        if not (vector.shape == (manifest.dimension,) and abs(float(np.linalg.norm(vector)) - 1) < _ROUNDING):
            raise ModelError(
                f"The model {manifest.name} does not work on this machine: it should give {manifest.dimension} finite "
                "numbers for a text, but gives others."
            )
    return embedder


def try_out(manifest: Manifest, fresh: tuple[Variant, ...], state: Path | None) -> None:
    """Load an installed model as the daemon would, and each `fresh` variant that this leaves out. Raises ModelError.

    A variant for a device that is not here is loaded on the CPU.
    """
    loaded(manifest, "auto", state).close()
    seen = {manifest.variant_for(device).name for device in devices_here()}
    for variant in fresh:
        if variant.name not in seen:
            loaded(replace(manifest, variants=(variant,)), "cpu", None).close()
