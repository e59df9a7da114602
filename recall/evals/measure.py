"""Measuring the product on a corpus: its own reader, chunks, embeddings, search, gate and rendering, in memory."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from recall.core.config import Config
from recall.core.errors import SourceError
from recall.core.types import Document, FoundFile, Kind, Project, Skipped
from recall.embed.embedder import Embedder
from recall.embed.manifest import Gate
from recall.evals.metrics import rank_of
from recall.evals.questions import Question
from recall.index.reading import prepare
from recall.search import answer
from recall.search.dense import Floats
from recall.search.select import Asker
from recall.sources import knowledge, memory
from recall.text.language import language_of

#: Beginnings of the names of files that list notes and are none.
INDEXES = ("MEMORY.", "README.")
#: The hook does not search messages that are shorter than this (characters).
MIN_CHARACTERS: int = Config()["hook.min_characters"]


@dataclass(frozen=True, slots=True)
class Corpus:
    """The notes under one folder as an index of one project. Paths in question files are relative to `folder`."""

    folder: Path
    snapshot: answer.Snapshot

    @property
    def name(self) -> str:
        """The folder's name, under which reports list it."""
        return self.folder.name


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one message got in one corpus.

    `result` holds every document as a hit. `rank` is that of the first relevant document, `lenient_rank` that of the
    first relevant or also accepted one. `searched` is false for messages that the hook does not look at. `line` is
    what the hook prints, None for silence; `handed` says whether a relevant document is in it.
    """

    corpus: str
    question: Question
    result: answer.Result
    rank: int | None
    lenient_rank: int | None
    searched: bool
    line: str | None
    handed: bool

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


def index_corpus(folder: Path, documents: Sequence[Document], embedder: Embedder) -> Corpus:
    """Mask, cut and embed the documents of one corpus. The model needs a second for some 20 chunks."""
    readings = [prepare(document) for document in documents]
    vectors = embedder.embed_passages([reading.texts[digest] for reading in readings for digest in reading.digests])
    row_documents = np.repeat(np.arange(len(readings), dtype=np.int32), [len(reading.digests) for reading in readings])
    project, masked = Project(str(folder), folder.name), [reading.document for reading in readings]
    return Corpus(folder, answer.take_snapshot(vectors, row_documents, masked, [project], generation=0))


def ask(corpus: Corpus, questions: Iterable[Question], embedder: Embedder, gate: Gate) -> list[Outcome]:
    """What each message gets in this corpus."""
    return [judge(corpus, question, embedder.embed_query(question.query), gate) for question in questions]


def judge(corpus: Corpus, question: Question, query: Floats, gate: Gate) -> Outcome:
    """What a message of this embedding gets; one that the hook does not search is ranked, but handed nothing."""
    snapshot, project = corpus.snapshot, {str(corpus.folder)}
    language = language_of(question.query)
    result = answer.search(snapshot, query, gate, projects=project, limit=len(snapshot.documents), language=language)
    searched = len(question.query.strip()) >= MIN_CHARACTERS
    printed = answer.hand_over(result, gate, snapshot.language, Asker(project)) if searched else None
    ranked = [Path(hit.path).relative_to(corpus.folder).as_posix() for hit in result.hits]
    shown = {hit.path for hit in printed.hits} if printed else set()
    return Outcome(
        corpus=corpus.name,
        question=question,
        result=result,
        rank=rank_of(question.relevant, ranked),
        lenient_rank=rank_of(question.relevant | question.also_ok, ranked),
        searched=searched,
        line=printed.line if printed else None,
        handed=any(str(corpus.folder / path) in shown for path in question.relevant),
    )
