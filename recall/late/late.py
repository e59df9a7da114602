"""What is kept of a text, and what a question is compared with it by, from one run of the model each."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from recall.core.types import BACKGROUND
from recall.embed.encoder import Heads
from recall.late.everyday import Model, load_everyday
from recall.late.sketch import TOKENS, Floats, Sketcher, Sketches
from recall.late.sparse import HEAVIEST, Sparse, attach, detach
from recall.store.entries import STORED_FLOAT, Embedded

#: A stored vector has length 1, up to rounding.
_LENGTH_ERROR = 1e-3
#: The longest that the parts of an unpacked token vector get, whose true length is 1: a rotation that drops dimensions
#: and two bits a number lengthen some.
_LONGEST = 4.0


class Late:
    """Makes what is stored of texts under one model, and a question's tokens comparable to it. For several threads."""

    def __init__(self, model: Model, folder: Path | None = None) -> None:
        """`folder` keeps the bank under the model, so that it is embedded once (None: not kept)."""
        (sample,) = model.heads(["warm up"], "query")
        self.sketcher = Sketcher(sample.tokens.shape[1])
        self.bank, self.nearness = load_everyday(model, self.sketcher, folder)

    def embedded(self, heads: Heads) -> Embedded:
        """What is stored of a text."""
        sketch = self.sketcher.pack(heads.tokens)
        if not sketch:
            return Embedded(heads.dense, b"", np.zeros(BACKGROUND, np.float32))
        background = self.bank.background(self.sketcher.unpack([sketch]))[0]
        return Embedded(heads.dense, attach(sketch, heads.sparse), background)

    def restored(self, stored: Mapping[bytes, tuple[bytes, bytes]], dimension: int) -> dict[bytes, Embedded]:
        """What another machine stored of texts under this model, by their digests: vector and sketch as bytes.

        Nothing of it is believed: what is not of the model's shape, not finite or not of length 1 is left out.
        """
        found: dict[bytes, tuple[Floats, bytes]] = {}
        for digest, (data, sketch) in stored.items():
            if len(data) == dimension * STORED_FLOAT.itemsize and sketch:
                vector = np.frombuffer(data, STORED_FLOAT).astype(np.float32)
                if abs(float(np.linalg.norm(vector)) - 1) <= _LENGTH_ERROR and self._is_sound(sketch):
                    found[digest] = vector, sketch
        if not found:
            return {}
        backgrounds = self.bank.background(self.unpack([sketch for _, sketch in found.values()])[0])
        return {
            digest: Embedded(vector, sketch, background)
            for (digest, (vector, sketch)), background in zip(found.items(), backgrounds, strict=True)
        }

    def _is_sound(self, sketch: bytes) -> bool:
        """Whether packed token vectors are of this width and no longer than vectors of length 1 can be."""
        try:
            sketches, sparse = self.unpack([sketch])
        except ValueError:
            return False
        means = np.linalg.norm(sketches.means, axis=1)
        sizes = np.abs(sketches.factors) * 1.5 * np.sqrt(self.sketcher.width)
        return bool(
            len(sketches.codes) <= TOKENS
            and np.isfinite(sparse.weights).all()
            and (np.abs(sparse.weights) <= HEAVIEST).all()
            and (means <= _LONGEST).all()
            and (sizes <= _LONGEST).all()
        )

    def project(self, tokens: Floats) -> Floats:
        """A question's token vectors, float32 [tokens, width], as `closest` takes them."""
        return self.sketcher.project(tokens)

    def unpack(self, stored: Sequence[bytes]) -> tuple[Sketches, Sparse]:
        """What `embedded` stored, none of it empty, ready to be scored. Raises ValueError for another model's."""
        sketches, sparse = detach(stored)
        return self.sketcher.unpack(sketches), sparse
