"""Text to token ids, exactly as the `tokenizers` library would, in an eighth of its memory.

The library keeps the 250,002 pieces of XLM-RoBERTa's vocabulary in a trie of hash maps that takes 295 MB. Here it only
normalizes a text and splits it into words; the best way to cut a word into pieces is found with one plain dictionary
(40 MB). Nothing of a text is kept: the library's own cache of words is not in use. Tokenizers of any other kind are
left to the library as they are.
"""

import json
import re
from array import array
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple, Protocol

import tokenizers

from recall.core.errors import ModelError
from recall.embed.memory import release_free_memory
from recall.wire.files import read_file

#: Characters that are looked at for each token that the model takes: far more than the longest piece has.
_CHARACTERS_PER_TOKEN = 64

#: How far an unknown character scores below the rarest piece, in natural logarithms (sentencepiece's constant).
_UNKNOWN_PENALTY = 10.0

_SURROGATE = re.compile("[\ud800-\udfff]")


class Tokenizer(Protocol):
    """What the embedder needs of a tokenizer."""

    def encode(self, text: str) -> list[int]:
        """Ids with the special tokens around them, at most as many as the model takes. Safe in several threads."""


def load_tokenizer(path: Path, max_tokens: int) -> Tokenizer:
    """The tokenizer of the `tokenizer.json` at `path`, cutting texts to `max_tokens`. Raises ModelError."""
    try:
        unigram = _read_unigram(path)
        if unigram is None:
            return LibraryTokenizer(path, max_tokens)
        # Before the dictionary is built, so that it fills what the parsed JSON leaves behind.
        release_free_memory()
        return UnigramTokenizer(unigram, max_tokens)
    except Exception as error:  # the library raises plain Exception
        raise ModelError(
            f"{path} should be a tokenizer of the `tokenizers` library, but cannot be read as one "
            f"({type(error).__name__}); install the model again."
        ) from None


class Unigram(NamedTuple):
    """A Unigram model in few large objects: the pieces by id, each ended by a NUL, and their scores by id."""

    pieces: str
    scores: "array[float]"
    unknown: int
    control: frozenset[str]  # pieces that no text may produce, like <s>
    shell: tokenizers.Tokenizer  # normalizer, words and special tokens, without the vocabulary


def _read_unigram(path: Path) -> Unigram | None:
    """None for a tokenizer of another kind. The parsed JSON (90 MB for a moment) is gone on return."""
    content = json.loads(read_file(path), parse_float=_number_of_the_library)
    model = content["model"]
    if model["type"] != "Unigram" or model.get("byte_fallback"):
        return None
    if content["normalizer"] is None or content["pre_tokenizer"] is None:
        return None
    vocabulary = model["vocab"]
    control = frozenset(token["content"] for token in content["added_tokens"] if token["special"])
    unknown = model["unk_id"]
    pieces = "".join(f"{piece}\0" for piece, _ in vocabulary)
    scores = array("d", (score for _, score in vocabulary))
    shell = content | {
        "added_tokens": [],
        "padding": None,
        "truncation": None,
        "model": {"type": "Unigram", "unk_id": 0, "vocab": [["?", 0.0]]},
    }
    return Unigram(pieces, scores, unknown, control, tokenizers.Tokenizer.from_str(json.dumps(shell)))


class UnigramTokenizer:
    """Cuts words into the pieces whose scores add up to the most (Viterbi), as sentencepiece and `tokenizers` do."""

    def __init__(self, unigram: Unigram, max_tokens: int) -> None:
        """Raises ValueError when the vocabulary does not fit its scores."""
        pieces = unigram.pieces.split("\0")[:-1]
        if len(pieces) != len(unigram.scores):
            raise ValueError("a piece holds a NUL")
        self._ids: Mapping[str, int] = {
            piece: number for number, piece in enumerate(pieces) if piece not in unigram.control
        }
        self._scores = unigram.scores
        self._unknown = unigram.unknown
        self._unknown_score = min(unigram.scores) - _UNKNOWN_PENALTY
        self._longest: dict[str, int] = {}  # of the pieces that start with a character
        for piece in self._ids:
            self._longest[piece[0]] = max(self._longest.get(piece[0], 0), len(piece))
        self._normalize = unigram.shell.normalizer.normalize_str
        self._words = unigram.shell.pre_tokenizer.pre_tokenize_str
        self._before, self._after = _special_tokens(unigram.shell)
        self._room = max_tokens - len(self._before) - len(self._after)

    def encode(self, text: str) -> list[int]:
        """Ids of `text` between the special tokens; what does not fit at the end is left out."""
        ids: list[int] = []
        for word, _ in self._words(self._normalize(_readable(text, self._room))):
            ids += self.cut(word)
            if len(ids) >= self._room:
                break
        return [*self._before, *ids[: self._room], *self._after]

    def cut(self, word: str) -> list[int]:
        """Ids of the pieces of one word. Characters that are in no piece become one unknown token together."""
        size = len(word)
        best = [0.0] * (size + 1)  # the score of the best way to each place in the word
        came_from = [-1] * (size + 1)  # where its last piece starts, -1 before any way is known
        last = [self._unknown] * (size + 1)  # the id of that piece
        ids, scores, longest = self._ids, self._scores, self._longest
        for start in range(size):
            so_far = best[start]
            for end in range(start + 1, min(size, start + longest.get(word[start], 0)) + 1):
                piece = ids.get(word[start:end])
                if piece is None:
                    continue
                score = so_far + scores[piece]
                if came_from[end] < 0 or score > best[end]:
                    best[end], came_from[end], last[end] = score, start, piece
            if word[start] not in ids:
                end, score = start + 1, so_far + self._unknown_score
                if came_from[end] < 0 or score > best[end]:
                    best[end], came_from[end], last[end] = score, start, self._unknown
        found: list[int] = []
        place = size
        while place > 0:
            if not (last[place] == self._unknown and found and found[-1] == self._unknown):
                found.append(last[place])
            place = came_from[place]
        return found[::-1]


class LibraryTokenizer:
    """A tokenizer of another kind than Unigram, run by the library itself."""

    def __init__(self, path: Path, max_tokens: int) -> None:
        """Raises what the library raises for a damaged file."""
        self._tokenizer = tokenizers.Tokenizer.from_file(str(path))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(max_tokens)
        self._max_tokens = max_tokens

    def encode(self, text: str) -> list[int]:
        """Ids of `text` between the special tokens; what does not fit at the end is left out."""
        ids: list[int] = self._tokenizer.encode(_readable(text, self._max_tokens)).ids
        return ids


def _number_of_the_library(text: str) -> float:
    """A decimal number as the library reads it: all digits as one float, then divided, which rounds twice.

    Two ways to cut a word into the same pieces in another order differ by the last bit only, and it decides.
    """
    mantissa, _, exponent = text.lower().partition("e")
    whole, _, fraction = mantissa.partition(".")
    power = int(exponent or 0) - len(fraction)
    digits = int(whole + fraction)
    return digits * 10.0**power if power >= 0 else digits / 10.0**-power


def _readable(text: str, tokens: int) -> str:
    """As much of `text` as `tokens` tokens can hold; a lone surrogate, which is no character, is replaced."""
    return _SURROGATE.sub("�", text[: tokens * _CHARACTERS_PER_TOKEN])


def _special_tokens(shell: tokenizers.Tokenizer) -> tuple[list[int], list[int]]:
    """Ids that the post-processor puts before and after a text."""
    encoding = shell.encode("?")
    text = [place for place, special in enumerate(encoding.special_tokens_mask) if not special]
    return encoding.ids[: text[0]], encoding.ids[text[-1] + 1 :]
