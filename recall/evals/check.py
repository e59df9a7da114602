"""Looking over a question file that somebody wrote: everything that is wrong with it, not only the first mistake."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from recall.core.errors import UsageError
from recall.evals.instruction import Order, note_language
from recall.evals.questions import Question, parse_question, read_lines
from recall.evals.records import Records, Text
from recall.evals.words import keywords, normal, tokens
from recall.text.clean import one_line
from recall.text.language import language_of

#: A word that stands in more of the records than this share (and in more than so many) does not give a note away; one
#: that stands in the note's headline may be in more of them.
_COMMON_SHARE, _COMMON_IN_HEADLINE, _COMMON_NUMBER = 0.05, 0.25, 2
#: The shortest run of characters that counts as a shared word where words have no spaces; katakana needs more.
_SHORTEST_RUN, _SHORTEST_KATAKANA = 2, 3
#: Endings of one word: letters that a form may have more, and those that it may have less.
_LONGEST_ENDING, _ENDINGS = 3, ("s", "es", "d", "ed", "ing")
_KATAKANA = re.compile("[\u30a1-\u30ff]")
#: Languages that `language_of` tells apart by their script; all others it calls `en`.
_SCRIPTS = ("ja", "zh", "ko", "ru")
#: A fair set asks at least this share of its questions in another language than the note's; the instruction says half.
_LEAST_ACROSS = 0.3


@dataclass(frozen=True, slots=True)
class Line:
    """A question and the line that it stands on."""

    number: int
    question: Question


@dataclass(frozen=True, slots=True)
class File:
    """A question file: what could be read, with `relevant` and `also_ok` as the absolute paths of records, and what is
    wrong, a sentence each. A question that names no record that is there is left out."""

    lines: Sequence[Line]
    problems: Sequence[str]

    @property
    def questions(self) -> list[Question]:
        return [line.question for line in self.lines]


def read_file(path: Path, records: Records) -> File:
    """Read a question file as far as it can be read. Raises UsageError for a file that cannot be read at all."""
    lines: list[Line] = []
    problems: list[str] = []
    ids: dict[str, int] = {}
    for number, text in read_lines(path):
        where = f"{path}, line {number}"
        try:
            question = parse_question(text, where)
        except UsageError as error:
            problems.append(one_line(str(error)))
            continue
        if question.id in ids:
            problems.append(f"{where}: the id {one_line(question.id)!r} stands on line {ids[question.id]} already")
        ids.setdefault(question.id, number)
        named, wrong = _located(question, records)
        problems += [f"{where}: {sentence}" for sentence in wrong]
        if named.relevant or not question.relevant:
            lines.append(Line(number, named))
    return File(lines, problems)


def check_file(path: Path, records: Records, order: Order) -> list[str]:
    """Everything that makes a question file unfit for a fair test, a sentence each; empty for a good one.

    Raises UsageError for a file that cannot be read at all.
    """
    file = read_file(path, records)
    problems = [*file.problems, *(f"{path}, line {sentence}" for sentence in _same_messages(file.lines))]
    counting = _Commonness(records)
    for line in file.lines:
        where = f"{path}, line {line.number}"
        problems += [f"{where}: {sentence}" for sentence in _line_problems(line.question, records, counting)]
    return [*problems, *(f"{path}: {sentence}" for sentence in _set_problems(file.questions, records, order))]


def shared_words(question: str, text: Text, common: "_Commonness") -> list[str]:
    """Words of a question that give its note away, since both have them and few other records do.

    In scripts without spaces the longest runs of characters that both have.
    """
    headline, whole = normal(text.headline), normal(text.whole)
    pieces = set(tokens(text.whole))
    found: list[str] = []
    for word in keywords(question):
        for piece in _pieces_in(word, whole, pieces):
            if common.share(piece) <= (_COMMON_IN_HEADLINE if piece in headline else _COMMON_SHARE):
                found.append(piece)
    return list(dict.fromkeys(found))


class _Commonness:
    """In how many records a word stands."""

    def __init__(self, records: Records) -> None:
        self._wholes = [normal(text.whole) for text in records.texts]

    def share(self, word: str) -> float:
        """The share of the records that hold a word, 0 where so few do that it means nothing."""
        number = sum(word in whole for whole in self._wholes)
        return number / len(self._wholes) if number > _COMMON_NUMBER else 0.0


def _located(question: Question, records: Records) -> tuple[Question, list[str]]:
    """The question with its records by their absolute paths, and what is wrong with those that it names."""
    problems: list[str] = []

    def paths(names: frozenset[str]) -> frozenset[str]:
        found = {name: records.find(name) for name in sorted(names)}
        problems.extend(wrong for wrong in found.values() if isinstance(wrong, str))
        return frozenset(text.path for text in found.values() if not isinstance(text, str))

    return replace(question, relevant=paths(question.relevant), also_ok=paths(question.also_ok)), problems


def _same_messages(lines: Sequence[Line]) -> Iterator[str]:
    seen: dict[str, int] = {}
    for line in lines:
        message = " ".join(normal(line.question.query).split())
        if message in seen:
            yield f"{line.number}: says the same as line {seen[message]}; write another message"
        seen.setdefault(message, line.number)


def _line_problems(question: Question, records: Records, common: _Commonness) -> Iterator[str]:
    if question.hard and question.relevant:
        yield '"hard" marks a near miss, which no note answers; empty its "relevant" or delete "hard"'
    written = language_of(question.query)
    expected = question.lang if question.lang in _SCRIPTS else "en"
    # A short Japanese message may be all kanji, and every language writes `git rebase --abort?` in Latin letters.
    if written and written != expected and {written, expected} != {"ja", "zh"}:
        yield f"the message is in {written} by its letters, but its lang is {one_line(question.lang)}; mend one of them"
    for path in sorted(question.relevant):
        text = records.find(path)
        if not isinstance(text, str) and (shared := shared_words(question.query, text, common)):
            words = ", ".join(f"“{one_line(word)}”" for word in shared)
            yield f"shares words with {Path(path).name}: {words}; say it in others"


def _set_problems(questions: Sequence[Question], records: Records, order: Order) -> Iterator[str]:
    asked = [question for question in questions if question.relevant]
    unrelated = [question for question in questions if not question.relevant]
    near = [question for question in unrelated if question.hard]
    for found, wanted, what in (
        (asked, order.questions, "questions with a note that is there"),
        (unrelated, order.unrelated, "messages that no note answers"),
        (near, order.near_misses, 'near misses ("hard": true)'),
    ):
        if len(found) < wanted:
            yield f"expected {wanted} {what}, found {len(found)}; ask for the rest"
    notes = Counter(path for question in asked for path in question.relevant)
    for path, number in sorted(notes.items()):
        if number > max(2, len(asked) // 5):
            yield f"{number} questions are about {Path(path).name}; spread them over the notes"
    across = sum(_is_across(question, records) for question in asked)
    if asked and across < _LEAST_ACROSS * len(asked):
        yield (
            f"{across} of {len(asked)} questions are in another language than their note; the instruction asks for half"
        )


def _is_across(question: Question, records: Records) -> bool:
    """Whether a version of the right record is in another language than the question."""
    texts = [text for path in question.relevant if not isinstance(text := records.find(path), str)]
    return any(note_language(text) != question.lang for text in texts)


def _pieces_in(word: str, whole: str, pieces: Collection[str]) -> Iterator[str]:
    """What of a word stands in a text: the word itself, or the longest parts where its script has no spaces."""
    if word.isascii() or not _without_spaces(word):
        if _has_form(word, pieces):
            yield word
        return
    start = 0
    while start < len(word):
        end = start
        while end < len(word) and word[start : end + 1] in whole:
            end += 1
        if end - start >= (_SHORTEST_KATAKANA if _KATAKANA.match(word) else _SHORTEST_RUN):
            yield word[start:end]
        start = max(end, start + 1)


def _without_spaces(word: str) -> bool:
    return language_of(word) in ("ja", "zh", "ko")


def _has_form(word: str, pieces: Collection[str]) -> bool:
    """Whether a word or a form of it is among these: `port` and `ports`, but not `data` and `database`."""
    return any(
        (piece.startswith(word) and len(piece) - len(word) <= _LONGEST_ENDING)
        or (word.startswith(piece) and word[len(piece) :] in _ENDINGS)
        for piece in pieces
    )
