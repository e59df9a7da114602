"""Measuring the product on a corpus: its own reader, chunks, embeddings, search, gate and rendering, in memory."""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from recall.core.config import Config
from recall.core.errors import SourceError
from recall.core.types import BACKGROUND, Document, FoundFile, Hit, Kind, Project, Skipped
from recall.embed.embedder import Embedder
from recall.embed.encoder import Heads
from recall.evals.metrics import rank_of
from recall.evals.questions import Question
from recall.index.reading import prepare
from recall.late.late import Late
from recall.search import answer
from recall.search.score import Source
from recall.search.select import Asker
from recall.search.snapshot import take_snapshot
from recall.sources import knowledge, memory
from recall.store.entries import Embedded
from recall.store.views import Postings, Record, Rows

#: Beginnings of the names of files that list notes and are none.
INDEXES = ("MEMORY.", "README.")
#: The hook does not search messages that are shorter than this (characters).
MIN_CHARACTERS: int = Config()["hook.min_characters"]


@dataclass(frozen=True, slots=True, eq=False)
class Corpus:
    """The notes under one folder as an index of one project. Paths in question files are relative to `folder`."""

    folder: Path
    source: Source

    @property
    def name(self) -> str:
        """The folder's name, under which reports list it."""
        return self.folder.name


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one message got in one corpus.

    `result` holds every document as a hit. `rank` is that of the first relevant document, `lenient_rank` that of the
    first relevant or also accepted one, `plain_rank` that by the cosine of the best chunk alone. `seconds` is what the
    search took. `searched` is false for messages that the hook does not look at. `line` is
    what the hook prints, None for silence; `handed` says whether a relevant document is in it.
    """

    corpus: str
    question: Question
    result: answer.Result
    rank: int | None
    lenient_rank: int | None
    plain_rank: int | None
    searched: bool
    line: str | None
    handed: bool
    seconds: float

    @property
    def unrelated(self) -> bool:
        """Whether silence is the right answer."""
        return not self.question.relevant


def read_corpus(folder: Path) -> tuple[list[Document], list[Skipped]]:
    """All notes and decision records under a folder, in order of path, as documents of one project, and the files that
    cannot be read."""
    documents: list[Document] = []
    skipped: list[Skipped] = []
    for path in sorted(folder.rglob("*.md")):
        if path.name.startswith(INDEXES):
            continue
        status = path.stat()
        is_rule = path.relative_to(folder).as_posix().startswith(tuple(f"{place}/" for place in knowledge.PLACES))
        kind: Kind = "knowledge" if is_rule else "memory"
        found = FoundFile(kind, str(path), str(folder), status.st_size, status.st_mtime_ns)
        try:
            documents.append((knowledge.read if is_rule else memory.read)(found))
        except SourceError as error:
            skipped.append(Skipped(found.path, str(error)))
    return documents, skipped


def index_corpus(folder: Path, documents: Sequence[Document], embedder: Embedder, late: Late) -> Corpus:
    """Mask, cut and embed the documents of one corpus. The model needs a second for some 20 chunks."""
    readings = [prepare(document) for document in documents]
    texts = [reading.texts[digest] for reading in readings for digest in reading.needed]
    made: dict[int, Embedded] = {}
    for places, batch in embedder.embed_batches(texts):
        made.update((place, late.embedded(heads)) for place, heads in zip(places, batch, strict=True))
    pieces = [made[place] for place in range(len(texts))]
    rows = Rows(
        vectors=np.array([piece.vector for piece in pieces], np.float32).reshape(len(pieces), embedder.dimension),
        row_documents=np.repeat(np.arange(len(readings), dtype=np.int32), [len(r.needed) for r in readings]),
        row_ids=np.arange(len(pieces)),
        is_headline=np.array(
            [digest == r.headline and not place for r in readings for place, digest in enumerate(r.needed)]
        ),
        backgrounds=np.array([piece.background for piece in pieces], np.float32).reshape(len(pieces), BACKGROUND),
        postings=Postings.of([reading.terms for reading in readings]),
        documents=[as_record(reading.document) for reading in readings],
        projects=[Project(str(folder), folder.name)],
        generation=0,
    )
    sketches = {place: piece.sketch for place, piece in enumerate(pieces) if piece.sketch}

    def fetch(ids: Sequence[int]) -> dict[int, bytes]:
        return {id_: sketches[id_] for id_ in ids if id_ in sketches}

    return Corpus(folder, Source(take_snapshot(rows, late.bank), late, fetch))


def as_record(document: Document) -> Record:
    """A document as the index would give it back."""
    values: dict[str, Any] = {name: getattr(document, name) for name in Record.__slots__}
    return Record(**values | {"sessions": frozenset(document.sessions)})


def ask(corpus: Corpus, questions: Iterable[Question], embedder: Embedder, rules: answer.Rules) -> list[Outcome]:
    """What each message gets in this corpus."""
    return [judge(corpus, question, embedder.heads([question.query])[0], rules) for question in questions]


def judge(corpus: Corpus, question: Question, heads: Heads, rules: answer.Rules) -> Outcome:
    """What a message gets, from what the model made of it; one that the hook does not search is handed nothing."""
    snapshot, project = corpus.source.snapshot, {str(corpus.folder)}
    asked = answer.ask(heads, corpus.source.late, question.query)
    started = time.perf_counter()
    result = answer.search(corpus.source, asked, rules, projects=project, limit=len(snapshot.documents))
    seconds = time.perf_counter() - started
    searched = len(question.query.strip()) >= MIN_CHARACTERS
    chosen = answer.choose(result, rules, Asker(project)) if searched else []
    printed = answer.hand_over(chosen, result.tier, snapshot.language)
    ranked = _relative(corpus, result.hits)
    plain = _relative(corpus, sorted(result.hits, key=lambda hit: -hit.signs["cosine"]))
    shown = {hit.path for hit in printed.hits} if printed else set()
    return Outcome(
        corpus=corpus.name,
        question=question,
        result=result,
        rank=rank_of(question.relevant, ranked),
        lenient_rank=rank_of(question.relevant | question.also_ok, ranked),
        plain_rank=rank_of(question.relevant, plain),
        searched=searched,
        line=printed.line if printed else None,
        handed=any(str(corpus.folder / path) in shown for path in question.relevant),
        seconds=seconds,
    )


def _relative(corpus: Corpus, hits: Iterable[Hit]) -> list[str]:
    return [Path(hit.path).relative_to(corpus.folder).as_posix() for hit in hits]
