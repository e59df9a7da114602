"""Nearness: how close a message is to everyday ones. What resembles them asks for no note, whichever note it resembles.

Of 42 longer everyday messages that are not in the bank, 44 % brought something before the gate knew this, and 2 % after
(multilingual-e5-small, two collections of notes), while about as many questions got their note.
"""

import numpy as np
from numpy.typing import NDArray

from recall.late.sketch import Floats

#: By the mean vector a message is compared with so many of the nearest.
_NEAREST = 5
#: How much being close by the mean vector counts beside being close by its tokens.
_BY_MEAN = 0.7
_TINY = 1e-6


class Nearness:
    """Everyday messages to compare with: `dense` float32 [messages, dimension], `tokens` float32 [tokens, width] as a
    question's are, those of message n from `starts[n]` on. The first `judged` of them say what is usual: how close
    each of them is to the others."""

    def __init__(self, dense: Floats, tokens: Floats, starts: NDArray[np.int64], judged: int) -> None:
        self._dense, self._tokens, self._starts = dense, tokens, starts
        ends = [*starts[1:].tolist(), len(tokens)]
        usual = np.array(
            [
                self._close(dense[n], tokens[starts[n] : ends[n]], leave_out=n)
                for n in range(judged if len(tokens) else 0)
            ]
        ).reshape(-1, 2)
        self._mean = usual.mean(axis=0) if len(usual) else np.zeros(2)
        self._deviation = np.maximum(usual.std(axis=0), _TINY) if len(usual) else np.ones(2)

    def of(self, dense: Floats, tokens: Floats) -> float:
        """How much closer than usual a message is to one of them, in deviations, 0 where it is not; by its `dense`
        vector of length 1 and its `tokens`, float32 [any, width] projected."""
        if not len(tokens) or not len(self._tokens):
            return 0.0
        by_tokens, by_mean = np.maximum((self._close(dense, tokens) - self._mean) / self._deviation, 0.0).tolist()
        return float(by_tokens + _BY_MEAN * by_mean)

    def _close(self, dense: Floats, tokens: Floats, leave_out: int | None = None) -> NDArray[np.float64]:
        """Closeness to the nearest by tokens, and to the nearest few by the mean vector."""
        cosines = self._dense @ dense
        scores = np.maximum.reduceat(tokens @ self._tokens.T, self._starts, axis=1).mean(axis=0)
        if leave_out is not None:
            cosines[leave_out] = scores[leave_out] = -1.0
        return np.array([scores.max(), np.sort(cosines)[-_NEAREST:].mean()], np.float64)
