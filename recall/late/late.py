"""What is kept of a text, and what a question is compared with it by, from one run of the model each."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from recall.core.types import BACKGROUND
from recall.embed.encoder import Heads
from recall.late.everyday import Model, load_everyday
from recall.late.sketch import Floats, Sketcher, Sketches
from recall.late.sparse import Sparse, attach, detach
from recall.store.entries import Embedded


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

    def project(self, tokens: Floats) -> Floats:
        """A question's token vectors, float32 [tokens, width], as `closest` takes them."""
        return self.sketcher.project(tokens)

    def unpack(self, stored: Sequence[bytes]) -> tuple[Sketches, Sparse]:
        """What `embedded` stored, none of it empty, ready to be scored. Raises ValueError for another model's."""
        sketches, sparse = detach(stored)
        return self.sketcher.unpack(sketches), sparse
