"""Masking: every secret in a text is replaced by its kind, `[masked: github-pat]`, and what stands around it stays."""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

from recall.core.errors import MaskingError
from recall.text.masking.commands import find_arguments
from recall.text.masking.engine import find_known
from recall.text.masking.named import find_named
from recall.text.masking.numbers import find_numbers
from recall.text.masking.recovery import find_recovery_codes
from recall.text.masking.sentences import find_short
from recall.text.masking.shapes import find_shapes
from recall.text.masking.spans import Span, merged, occurrences
from recall.text.masking.tables import find_cells

#: A replaced secret. Kinds are small letters and digits in words of hyphens.
_MASK = re.compile(r"(\[masked: [a-z0-9]{1,24}(?:-[a-z0-9]{1,24}){0,8}\])")
#: What is left of a text is searched again until nothing is found. Two rounds do for what people write.
_MAX_ROUNDS = 20
#: Who searches a text beside the engine, each for what its own module says.
FINDERS = (find_shapes, find_arguments, find_named, find_short, find_cells, find_numbers, find_recovery_codes)
#: A secret shorter than this, or of letters only, is masked where it was told and not elsewhere: it may be a word.
_MIN_REPEATED = 8


class Masked(NamedTuple):
    """A text without its secrets, and how many of each kind were replaced."""

    text: str
    found: dict[str, int]


def mask(text: str) -> Masked:
    """The text with every secret replaced. A masked text comes back as it is: nothing is masked twice.

    Safe in several threads. A process that forks after its first call must not call it in the child, which has none of
    the engine's threads.

    Raises:
        MaskingError: the engine failed, or the text is made so that masking never ends. The text must not be used.
    """
    found: Counter[str] = Counter()
    for _ in range(_MAX_ROUNDS):
        parts = _MASK.split(text)
        masked = "".join(part if at % 2 else _replace(part, found) for at, part in enumerate(parts))
        if masked == text:
            return Masked(text, dict(found))
        text = masked
    raise MaskingError(
        f"A text was expected to be free of secrets after {_MAX_ROUNDS} rounds of masking but each found more, "
        "so it was left out; take out of it what looks like secrets"
    )


def _replace(part: str, found: Counter[str]) -> str:
    """A part between masks with its secrets replaced, which are counted in `found`."""
    if not part.strip():
        return part
    pieces: list[str] = []
    end = 0
    for span in merged(_spans(part)):
        pieces += (part[end : span.start], f"[masked: {span.kind}]")
        found[span.kind] += 1
        end = span.end
    return "".join([*pieces, part[end:]])


def _spans(part: str) -> Iterator[Span]:
    """All secrets of a part, the engine's first, for their kinds tell most. What was told once is found everywhere."""
    yield from find_known(part)
    told: dict[str, str] = {}
    for span in chain.from_iterable(find(part) for find in FINDERS):
        yield span
        secret = part[span.start : span.end]
        if len(secret) >= _MIN_REPEATED and not secret.isalpha():
            told.setdefault(secret, span.kind)
    for secret, kind in told.items():
        for start, end in occurrences(secret, part):
            yield Span(start, end, kind)
