"""A generated team for the benches of sharing: records as long as people's are, and what the bundled model makes of
texts of their lengths. Nothing of it is anybody's.

The mix of a machine's records: of 20, 12 notes of its own, 4 rules that all machines have (one repository, cloned), 2
rules of its own and 2 titles of conversations. Lengths are log-normal: descriptions have 104 characters in the median,
bodies of notes 1,641 and of rules 4,000, at most 8,192.
"""

import hashlib
import math
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path
from typing import NamedTuple

from recall.cli.demo import NOTES
from recall.core.types import Document, Kind, Project
from recall.embed.catalog import find_model
from recall.embed.embedder import Embedder
from recall.embed.encoder import Heads
from recall.embed.manifest import BUNDLED
from recall.index.reading import EXCHANGE_CHARACTERS, HEADLINE_CHARACTERS, RECIPE, prepare
from recall.index.sources import GrowingSource, Source
from recall.late.late import Late
from recall.replica.pack import pack, unpack
from recall.replica.record import MAX_BODY, MAX_DESCRIPTION, TeamRecord, place_of
from recall.store.entries import STORED_FLOAT, Embedded, Entry, Finish
from recall.store.writer import Writer
from recall.text.chunks import cut
from recall.wire.paths import StatePaths

MIX = "60 % notes of its own, 20 % rules that all machines have, 10 % rules of its own, 10 % titles of conversations"
_OF = 20
_DESCRIPTION, _NOTE, _RULE = (104, 0.35), (1641, 0.45), (4000, 0.6)
#: Texts that the model is really run on, by the length up to which their vectors stand for a text's.
_SAMPLES = ((60, 20), (150, 40), (400, 20), (10_000, 60))


class Shared(NamedTuple):
    """A record and where it lies in its project."""

    record: TeamRecord
    project: str
    path: str

    @property
    def place(self) -> bytes:
        return place_of(self.record.kind, self.project, self.path)


def records_of(machine: int, records: int) -> Iterator[Shared]:
    """The records of the machine of this number; always the same."""
    for number in range(records):
        turn = number % _OF
        if turn < 12:
            yield _record("memory", f"note-{machine}-{number}", f"own-{machine}", _NOTE)
        elif turn < 16:
            yield _record("knowledge", f"rule-{number}", "cloned", _RULE)
        elif turn < 18:
            yield _record("knowledge", f"rule-{machine}-{number}", f"own-{machine}", _RULE)
        else:
            words = _prose(random.Random(f"talk-{machine}-{number}"), 45)
            record = TeamRecord("conversation", f"{words} {machine} {number}", "", "", date="2026-08-14")
            yield Shared(record, f"own-{machine}", f"talk-{number}")


def notes_of(machine: int) -> Iterator[Shared]:
    """Notes of the machine of this number, without end."""
    return (_record("memory", f"note-{machine}-{number}", f"own-{machine}", _NOTE) for number in count())


def _record(kind: Kind, name: str, project: str, lengths: tuple[int, float]) -> Shared:
    chance = random.Random(name)
    description = _prose(chance, min(_length(chance, _DESCRIPTION), MAX_DESCRIPTION))
    body = _prose(chance, min(_length(chance, lengths), MAX_BODY))
    folder = "memory" if kind == "memory" else ".claude/rules"
    return Shared(TeamRecord(kind, name, description, body), project, f"{folder}/{name}.md")


def _length(chance: random.Random, of: tuple[int, float]) -> int:
    median, spread = of
    return round(chance.lognormvariate(math.log(median), spread))


def _prose(chance: random.Random, length: int) -> str:
    """Words of the sample notes in any order, in lines; none of them looks like a secret."""
    words = chance.choices(_WORDS, k=2 + length // 3)
    lines = (" ".join(words[start : start + 14]) for start in range(0, len(words), 14))
    return ("\n" if length > 300 else " ").join(lines)[:length].strip()


_WORDS = [
    word for note in sorted(NOTES.glob("*.md")) for word in note.read_text("utf-8").split()
    if word.isascii() and word.isalpha() and len(word) < 12
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Made:
    """What the model makes of one text: as its heads give it, as the index stores it, and its vector in a pack."""

    heads: Heads
    stored: Embedded
    vector: bytes


@dataclass(frozen=True, slots=True)
class Pieces:
    """What the model made of some hundred texts of several lengths, given for others of about their length."""

    identity: str
    made: Sequence[Sequence[Made]]

    def of(self, text: str) -> Made:
        """What is taken for a text's."""
        some = self.made[next(n for n, (longest, _) in enumerate(_SAMPLES) if len(text) <= longest)]
        return some[int.from_bytes(hashlib.sha256(text.encode()).digest()[:4]) % len(some)]

    def pack(self, record: TeamRecord) -> bytes:
        """A record's pack: as many texts with the digests that the index will look for."""
        stored = {}
        for text in pieces_of(record):
            made = self.of(text)
            stored[hashlib.sha256(text.encode()).digest()] = made.vector, made.stored.sketch
        return pack(stored)


class Vectors:
    """Stands for the bundled model in the pipeline (a `PassageEmbedder`), which is really run in making it alone."""

    def __init__(self) -> None:
        self.embedder = Embedder(find_model(BUNDLED, None))
        self.late = Late(self.embedder)
        self.identity, self.dimension = self.embedder.identity, self.embedder.dimension
        chance = random.Random(1)
        lengths = [20, *(min(longest, 800) for longest, _ in _SAMPLES)]
        made = []
        for shortest, longest, (_, many) in zip(lengths, lengths[1:], _SAMPLES, strict=False):
            texts = [_prose(chance, chance.randint(shortest, longest)) for _ in range(many)]
            made.append([self._made(heads) for heads in self.embedder.heads(texts, "passage")])
        self.pieces = Pieces(self.identity, made)

    def _made(self, heads: Heads) -> Made:
        stored = self.late.embedded(heads)
        return Made(heads, stored, stored.vector.astype(STORED_FLOAT).tobytes())

    def embed_batches(
        self, texts: Sequence[str], pause: Callable[[], None] = lambda: None
    ) -> Iterator[tuple[list[int], list[Heads]]]:
        """As `Embedder.embed_batches`, in one batch."""
        pause()
        yield list(range(len(texts))), [self.pieces.of(text).heads for text in texts]


def pieces_of(record: TeamRecord) -> list[str]:
    """The pieces that `recall.index.reading.prepare` cuts a record into that holds no secret."""
    if record.kind == "conversation":
        return [record.name[:EXCHANGE_CHARACTERS]]
    headline = "\n".join(part for part in (record.name, record.description) if part)[:HEADLINE_CHARACTERS]
    return [headline, *cut(record.name, record.description, record.body)]


def check(vectors: Vectors) -> None:
    """See that packs are what the index takes over: the pieces of records are cut here as the index cuts them."""
    for shared in islice(records_of(0, _OF), _OF):
        one = shared.record
        talk = one.kind == "conversation"
        document = Document(one.kind, "/x", "p", one.name, one.description, one.name if talk else one.body)
        if set(unpack(vectors.pieces.pack(one))) != set(prepare(document).needed):
            raise SystemExit(f"the packs of this bench are not those of the index ({one.kind})")


def fill(paths: StatePaths, sources: Iterable[Source | GrowingSource], vectors: Vectors) -> None:
    """Write what is new of the sources into the index as a run of the pipeline leaves it, in a fraction of its time:
    what the model makes of texts, and how everyday messages score on it, is there already."""
    made = vectors.pieces
    with Writer(Path(paths.index), vectors.identity, vectors.dimension) as writer:
        writer.apply_recipe(RECIPE)
        for source in sources:
            scan = source.scan()
            known = writer.stored(source.kind)
            files = [file for file in scan.files if file.path not in known]
            if not isinstance(source, Source) or not files:
                continue
            projects = {**{f.project: Project(f.project, f.project) for f in files}, **scan.projects.by_key}
            writer.enlist(files, projects)
            for file in files:
                reading = prepare(source.read(file))
                writer.put_embedded({digest: made.of(text).stored for digest, text in reading.texts.items()})
                project = projects[file.project]
                entry = Entry(reading.document, project, reading.digests, {}, reading.headline, reading.terms)
                writer.put(file, entry, finish=Finish(project, file.mtime_ns))
        writer.tidy()
