"""Reading: what is made of a document before it is embedded and stored. Its secrets are masked, its text is cut."""

import hashlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

from recall.core.types import Document
from recall.text.chunks import cut
from recall.text.masking import mask
from recall.text.words import fingerprints

#: Number of the way from a file's text to what is embedded and stored (masking, chunks). With another one than the
#: index was made by, every file is read again, and embedded where that makes another text of it. 1: masked. 2:
#: headlines apart. 3: fingerprints of words.
RECIPE = 3
#: So much of an exchange is embedded, in one chunk: its message and how the answer begins. People have thousands, and
#: a chunk of 700 characters takes twice the time of this one.
EXCHANGE_CHARACTERS = 400
#: So much of name and description makes the piece with a record's headline alone (the issue's measurements used it).
HEADLINE_CHARACTERS = 400
#: So much of a body is masked: what is embedded of it lies well within.
MASKED_CHARACTERS = 8192


@dataclass(frozen=True, slots=True)
class Reading:
    """A masked document with its chunks by their digests, in order of the text; `headline` is the digest of the piece
    with its name and description alone, None for an exchange; `terms` the fingerprints of the words of all of it."""

    document: Document
    masked: Mapping[str, int]
    digests: list[bytes]
    headline: bytes | None
    texts: Mapping[bytes, str]
    terms: bytes

    @property
    def needed(self) -> list[bytes]:
        """The digests of all pieces."""
        return self.digests if self.headline is None else [self.headline, *self.digests]


def digest_of(text: str, *, of_team: bool) -> bytes:
    """What a text's vectors are kept under. Those of the team are kept apart: what another machine says a model made of
    a text must never stand for a text of one's own."""
    digest = hashlib.sha256(text.encode()).digest()
    return team_digest(digest) if of_team else digest


def team_digest(digest: bytes) -> bytes:
    """The digest of a text of the team, from what its own machine keeps it under."""
    return hashlib.sha256(b"team" + digest).digest()


def prepare(document: Document) -> Reading:
    """Mask a document and cut it. Raises MaskingError where the masker fails.

    The title of a session is no part of what is embedded of its exchanges: it often comes late and changes, and would
    make all of them alike.
    """
    masked: Counter[str] = Counter()

    def masking(text: str) -> str:
        result = mask(text)
        masked.update(result.found)
        return result.text

    document = replace(
        document,
        name=masking(document.name),
        description=masking(document.description),
        body=masking(document.body[:MASKED_CHARACTERS]),
        successor=masking(document.successor) if document.successor else document.successor,
        successor_path=document.successor_path if not mask(document.successor_path or "").found else None,
    )
    if document.kind == "conversation":
        chunks, headlines = [document.body[:EXCHANGE_CHARACTERS]], []
    else:
        chunks = cut(document.name, document.description, document.body)
        headlines = ["\n".join(part for part in (document.name, document.description) if part)[:HEADLINE_CHARACTERS]]
    digests = [digest_of(text, of_team=document.origin is not None) for text in headlines + chunks]
    return Reading(
        document=document,
        masked=masked,
        digests=digests[len(headlines) :],
        headline=digests[0] if headlines else None,
        texts=dict(zip(digests, headlines + chunks, strict=True)),
        terms=fingerprints("\n".join([*headlines, document.body if headlines else chunks[0]])),
    )
