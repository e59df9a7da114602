"""The bank of everyday messages: what scores a text reaches when nobody asks about it.

Some notes are close to every question, and messages of one language are closer to texts of that language. What a text
scores on average over the bank is taken off its score, so that neither decides the ranking; and how high unrelated
messages reach in the person's own index tells the gate what chance looks like there.
"""

import hashlib
import io
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from recall.core.atomic import replace_bytes
from recall.core.errors import RecallError
from recall.core.types import BACKGROUND
from recall.embed.encoder import Heads
from recall.late.nearness import Nearness
from recall.late.sketch import Floats, Sketcher, Sketches, closest
from recall.text.words import fingerprint, terms
from recall.wire.files import read_file

#: Groups of the bank over which scores are averaged: all messages, and those of each language that has enough of them.
GROUPS = ("", "en", "ja", "zh", "ko")
#: Messages that are embedded in one call.
_TOGETHER = 16


class Model(Protocol):
    """What is needed of an embedder."""

    @property
    def identity(self) -> str: ...
    def heads(self, texts: Sequence[str], kind: Literal["query", "passage"] = ...) -> list[Heads]: ...


@cache
def _tables() -> dict[str, dict[str, list[str]]]:
    with Path(__file__).with_name("everyday.toml").open("rb") as file:
        return tomllib.load(file)


def everyday() -> dict[str, list[str]]:
    """The messages of the bank by language."""
    return _tables()["messages"]


def steering() -> dict[str, list[str]]:
    """Longer messages that steer a session, by language."""
    return _tables()["steering"]


@cache
def everyday_terms() -> frozenset[int]:
    """Fingerprints of the words that all of these are made of."""
    return frozenset(fingerprint(term) for text in _texts() for term in terms(text))


def _texts() -> list[str]:
    return [text for table in (everyday(), steering()) for texts in table.values() for text in texts]


def group_of(language: str | None) -> int:
    """The place in `GROUPS` of a message's language."""
    return GROUPS.index(language) if language in GROUPS else 0


@dataclass(frozen=True, slots=True, eq=False)
class Bank:
    """The messages under one model.

    `dense` float32 [messages, dimension] and `tokens` float32 [tokens, width] as a question's are, the tokens of
    message n from `starts[n]` on (int64 [messages]); `counts` int64 [messages] how many it has. `members` float32
    [groups, messages] averages over the groups: each row sums to 1.
    """

    dense: Floats
    tokens: Floats
    starts: NDArray[np.int64]
    counts: NDArray[np.int64]
    members: Floats

    def background(self, sketches: Sketches) -> Floats:
        """float32 [texts, BACKGROUND] for texts: the mean score of each group, and the deviation over all messages."""
        best = closest(self.tokens, sketches)
        if not len(self.tokens):
            return np.zeros((len(best), BACKGROUND), np.float32)
        scores = np.add.reduceat(best, self.starts, axis=1) / self.counts
        return np.concatenate([scores @ self.members.T, scores.std(axis=1, keepdims=True)], axis=1, dtype=np.float32)


def load_everyday(model: Model, sketcher: Sketcher, folder: Path | None) -> tuple[Bank, Nearness]:
    """The bank under a model, and what tells how close a message is to everyday ones: from `folder` where they were
    kept, else embedded (352 messages, a second or two with the bundled model) and kept there. A file that is damaged is
    made anew."""
    digest = hashlib.sha256(repr(_tables()).encode()).hexdigest()[:12]
    path = folder and folder / f"{model.identity}-{digest}.npz"
    arrays = _read(path, sketcher.width) if path else None
    if arrays is None:
        arrays = _embed(model, sketcher)
        if path:
            _keep(path, arrays)
    languages = [language for language, messages in everyday().items() for _ in messages]
    members = np.array([[group in ("", language) for language in languages] for group in GROUPS], np.float32)
    dense, tokens, starts, counts = arrays
    count = len(languages)
    bank = Bank(
        dense[:count],
        np.asfortranarray(tokens[: counts[:count].sum()]),  # as `closest` turns them, for each text anew
        starts[:count],
        counts[:count],
        members / members.sum(axis=1, keepdims=True),
    )
    return bank, Nearness(dense, tokens, starts, count)


Arrays = tuple[Floats, Floats, NDArray[np.int64], NDArray[np.int64]]


def _embed(model: Model, sketcher: Sketcher) -> Arrays:
    texts = _texts()
    heads = [
        h for start in range(0, len(texts), _TOGETHER) for h in model.heads(texts[start : start + _TOGETHER], "query")
    ]
    tokens = [sketcher.project(h.tokens) for h in heads]
    # A model without token vectors has none here either; a message has one at least in the others.
    counts = np.array([len(t) for t in tokens], np.int64)
    starts = np.cumsum(counts) - counts
    return np.stack([h.dense for h in heads]), np.concatenate(tokens), starts, counts


def _read(path: Path, width: int) -> Arrays | None:
    """What was kept; None where there is nothing, or something else."""
    try:
        # By way of its bytes: of a damaged archive numpy leaves the file open.
        with np.load(io.BytesIO(read_file(path)), allow_pickle=False) as kept:
            dense, tokens, counts = kept["dense"], kept["tokens"].astype(np.float32), kept["counts"]
    except Exception:  # a damaged archive raises whatever the bytes lead to
        return None
    number = len(_texts())
    if len(dense) != number or len(counts) != number or tokens.shape != (counts.sum(), width):
        return None
    return dense, tokens, np.cumsum(counts) - counts, counts


def _keep(path: Path, arrays: Arrays) -> None:
    dense, tokens, _, counts = arrays
    buffer = io.BytesIO()
    np.savez(buffer, dense=dense, tokens=tokens.astype(np.float16), counts=counts)
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        replace_bytes(path, buffer.getvalue(), 0o600)
    except (OSError, RecallError):
        pass  # a full disk costs a second at the next start
