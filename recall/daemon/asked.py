"""A question or another call that was read, and what has to be done until it can be answered."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from recall.embed.embedder import Embedder
from recall.embed.encoder import Heads

#: What a call without a text to embed is answered with.
NO_HEADS = Heads(np.empty(0, np.float32), np.empty((0, 0), np.float32), None)


@dataclass(frozen=True, slots=True)
class Asked:
    """A call that was read. `text` has to be embedded by `embedder` for `answer`, which is called with what came of it;
    without a text nothing has to be searched, and it is called with NO_HEADS.

    `prepare` reads files for it first, not in the question thread; it is given what tells the seconds that are left.
    """

    answer: Callable[[Heads], bytes]
    embedder: Embedder | None = None
    text: str = ""
    prepare: Callable[[Callable[[], float]], None] | None = None
