"""Scores of documents for one question: the plain cosine of all, late interaction on the token vectors of the best.

A document's score adds, each without what the document scores on everyday messages:

passage    the mean over the question's tokens of the closest token in its best chunk
whole      the same over all of its chunks: each of the question's tokens finds its own (counts twice)
headline   the same over name and description alone
dense      the cosine of the best chunk, as far as the model's manifest asks for it
sparse     tokens in common by the weights of the model's sparse head, where it has one
words      what `recall.search.lexical` finds by letters, squared

Found on 192 reworded questions over five collections of notes; tools/evaluate.py prints what it brings beside the plain
cosine.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from recall.embed.manifest import Weights
from recall.late.everyday import everyday_terms, group_of
from recall.late.late import Late
from recall.late.sketch import closest, evenly
from recall.search.lexical import coverage
from recall.search.snapshot import Bools, Floats, Snapshot

Ints = npt.NDArray[np.int64]
#: Gives the sketches of rows by their ids (`Reader.sketches`).
Fetch = Callable[[Sequence[int]], Mapping[int, bytes]]

#: Below every score.
_NEVER = np.float32(-9)
#: The most token vectors of a question that are compared, spread over it: more would take as much longer.
MAX_ASKED = 48
#: Rows times tokens that are compared, headlines that come along not counted: 20 to 30 ms on two cores. Rows come in
#: the order of their cosines; half as many lowered hit@3 on the shared questions from 0.57 to 0.54.
_COMPARISONS = 12_000
#: Rows at least and at most.
_LEAST_ROWS, _MOST_ROWS = 150, 600
#: Documents that are compared because of their words, wherever their cosines stand.
_MOST_BY_WORDS = 20


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """A question: `dense` float32 [dimension] of length 1, `tokens` float32 [at most MAX_ASKED, width] projected,
    `language` as its letters tell it, `length` in tokens, `everyday` how close it is to everyday messages
    (`Nearness.of`), `words` its terms by their fingerprints with how much each counts, `sparse` the
    weights of the model's sparse head by token id, empty where it has none."""

    dense: Floats
    tokens: Floats
    language: str | None
    length: int
    everyday: float = 0.0
    words: Mapping[int, float] = field(default_factory=dict)
    sparse: Mapping[int, float] = field(default_factory=dict)

    @property
    def group(self) -> int:
        """The place of its language in `GROUPS`."""
        return group_of(self.language)


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """Documents with their scores, arrays of one length: `documents` ascending, `scores` in deviations, `dense`,
    `late` and `words` what they were made of (`late` not a number where it was not computed), `cosines` the plain
    ones."""

    documents: Ints
    scores: Floats
    dense: Floats
    late: Floats
    words: Floats
    cosines: Floats

    def best(self, limit: int) -> Ints:
        """Places of the `limit` best, best first; equals in order of document."""
        return np.lexsort((self.documents, -self.scores))[:limit]


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """What is searched: the snapshot, the model's late interaction, and where the sketches of rows come from."""

    snapshot: Snapshot
    late: Late
    fetch: Fetch


def score(source: Source, asked: Asked, allowed: Bools, weights: Weights, effort: float = 1.0) -> Scored:
    """Score the documents that are `allowed`, bool [documents]; `effort` scales how many rows are compared closely."""
    snapshot = source.snapshot
    rows = np.flatnonzero(allowed[snapshot.rows.row_documents])
    if not len(rows):
        none = np.empty(0, np.float32)
        return Scored(np.empty(0, np.int64), none, none, none, none, none)
    is_first = np.diff(snapshot.rows.row_documents[rows], prepend=-1) != 0
    starts, owners = np.flatnonzero(is_first), np.cumsum(is_first) - 1
    documents = snapshot.rows.row_documents[rows[starts]].astype(np.int64)
    cosines = (snapshot.rows.vectors @ asked.dense)[rows]  # all of them: to pick vectors out first would copy them
    raised = cosines - snapshot.cosines[rows, asked.group]
    body = ~snapshot.rows.is_headline[rows]
    dense = _best(raised, body, starts) / snapshot.cosine_deviation
    words = coverage(snapshot.rows.postings, asked.words, everyday_terms(), allowed)[documents] ** 2
    chosen = np.empty(0, np.int64)
    if len(asked.tokens):
        chosen = _choose(raised, starts, owners, _how_many(asked, effort), _by_words(words))
    interaction = np.full(len(starts), np.nan, np.float32)
    compared, late = _late(source, asked, rows[chosen], owners[chosen], weights)
    interaction[compared] = late / snapshot.late_deviation
    scores = np.where(np.isnan(interaction), 0, interaction) + weights.dense * dense + weights.words * words
    if (behind := np.isnan(interaction)).any():
        # What was not compared stands behind what was, in the order of its cosines.
        cheap = np.maximum.reduceat(raised, starts) / snapshot.cosine_deviation
        floor = 0.0 if behind.all() else scores[~behind].min() - cheap[behind].max() - 1e-3
        scores[behind] = floor + cheap[behind]
    return Scored(documents, scores.astype(np.float32), dense, interaction, words, _best(cosines, body, starts))


def thin(tokens: Floats) -> Floats:
    """At most MAX_ASKED of a question's token vectors, evenly spread over it."""
    return tokens[evenly(len(tokens), MAX_ASKED)]


def _best(values: Floats, within: Bools, starts: Ints) -> Floats:
    """The largest of each document's values at the places `within`."""
    best: Floats = np.maximum.reduceat(np.where(within, values, _NEVER), starts)
    return best


def _how_many(asked: Asked, effort: float) -> int:
    wanted = int(effort * _COMPARISONS / max(len(asked.tokens), 1))
    return int(min(max(wanted, effort * _LEAST_ROWS), effort * _MOST_ROWS))


def _by_words(words: Floats) -> Ints:
    """Places of the documents to compare because of their words."""
    found = np.flatnonzero(words)
    return found[np.argsort(-words[found], kind="stable")[:_MOST_BY_WORDS]]


def _choose(raised: Floats, starts: Ints, owners: Ints, count: int, documents: Ints) -> Ints:
    """Places of the rows to compare, ascending: the `count` best by their cosines, the first row of each of their
    documents (its headline), and all of these `documents`. `owners` numbers each row's document, `starts` gives its
    first row."""
    if count >= len(raised):
        return np.arange(len(raised))
    chosen = np.argpartition(raised, -count)[-count:]
    chosen = np.union1d(chosen, starts[owners[chosen]])
    return np.union1d(chosen, np.flatnonzero(np.isin(owners, documents))) if len(documents) else chosen


def _late(source: Source, asked: Asked, rows: Ints, owners: Ints, weights: Weights) -> tuple[Ints, Floats]:
    """The late interaction of the documents that own these rows, without what everyday messages score, and what they
    match by the sparse head of a model that has one.

    `owners` gives each row's, ascending. Returns the owners of which a sketch was there, and float32 [owners].
    """
    snapshot, late = source.snapshot, source.late
    ids = snapshot.rows.row_ids[rows].tolist()
    sketches = source.fetch(ids)
    there = np.array([id_ in sketches for id_ in ids], np.bool_)
    rows, owners = rows[there], owners[there]
    if not len(rows):
        return owners, np.empty(0, np.float32)
    unpacked, sparse = late.unpack([sketches[id_] for id_ in ids if id_ in sketches])
    closeness = closest(asked.tokens, unpacked)
    firsts = np.append(0, np.flatnonzero(np.diff(owners)) + 1)
    is_headline, background = snapshot.rows.is_headline[rows], snapshot.rows.backgrounds[rows, asked.group]

    whole = np.maximum.reduceat(np.where(is_headline[:, None], _NEVER, closeness), firsts, axis=0)
    shares = _weights(whole, weights.rarity)
    raised = closeness @ shares - background
    headline = np.maximum.reduceat(np.where(is_headline, raised, _NEVER), firsts)
    passage = np.maximum.reduceat(np.where(is_headline, _NEVER, raised), firsts)
    total = whole @ shares - np.maximum.reduceat(np.where(is_headline, _NEVER, background), firsts)
    # What has no headline of its own, or nothing but a headline, counts by what it has.
    headline = np.where(np.logical_or.reduceat(is_headline, firsts), headline, passage)
    has_body = np.logical_or.reduceat(~is_headline, firsts)
    passage, total = np.where(has_body, passage, headline), np.where(has_body, total, headline)
    matched = np.maximum.reduceat(sparse.match(asked.sparse), firsts)
    combined: Floats = ((passage + 2 * total + headline) / 4 + weights.sparse * matched).astype(np.float32)
    return owners[firsts], combined


def _weights(whole: Floats, rarity: float) -> Floats:
    """float32 [asked], summing to 1: how much each of the question's tokens counts.

    A token that all documents come equally close to tells nothing: it counts by how far the closest document stands
    out, to the power of `rarity`.
    """
    usable = whole[whole[:, 0] > _NEVER]
    if not rarity or len(usable) < 2:
        return np.full(whole.shape[1], 1 / max(whole.shape[1], 1), np.float32)
    apart = np.maximum(usable.max(axis=0) - usable.mean(axis=0), 1e-3) ** rarity
    weights: Floats = (apart / apart.sum()).astype(np.float32)
    return weights
