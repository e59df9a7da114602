"""Question sets: JSON lines with a message, the documents that answer it, and their languages."""

import json
from dataclasses import dataclass
from pathlib import Path

from recall.core.errors import UsageError

#: The longest message of a question file: what the hook hands to the daemon is bounded too.
MAX_CHARACTERS = 500_000


@dataclass(frozen=True, slots=True)
class Question:
    """One message. `relevant` are its right documents (none: nothing should be handed over), by path in the corpus.

    `also_ok` are documents that a fair judge would accept too. `note_lang` is the language of the right document,
    None where it stands in several. `hard` marks a message without answer that shares words with the documents.
    """

    id: str
    query: str
    lang: str
    relevant: frozenset[str]
    also_ok: frozenset[str] = frozenset()
    note_lang: str | None = None
    hard: bool = False

    @property
    def pair(self) -> str:
        """The languages of message and document, such as `en->ja`."""
        return f"{self.lang}->{self.note_lang or 'both'}"


def read_questions(path: Path) -> list[Question]:
    """Read a question file. Raises UsageError with file and line for anything that is not a question."""
    questions: list[Question] = []
    seen: dict[str, int] = {}
    for number, line in read_lines(path):
        where = f"{path}, line {number}"
        question = parse_question(line, where)
        if question.id in seen:
            raise UsageError(f"{where}: the id {question.id!r} stands on line {seen[question.id]} already; change one")
        seen[question.id] = number
        questions.append(question)
    return questions


def read_lines(path: Path) -> list[tuple[int, str]]:
    """The lines of a question file that hold something, with their numbers from 1. Raises UsageError."""
    try:
        lines = path.read_bytes().decode("utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        found = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise UsageError(f"{path}: expected a UTF-8 file of questions, found: {found}; name the right one") from error
    return [(number, line) for number, line in enumerate(lines, start=1) if line.strip()]


def parse_question(line: str, where: str) -> Question:
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{where}: expected one JSON object, found: {error}; mend or delete the line") from error
    if not isinstance(fields, dict):
        raise UsageError(f"{where}: expected a JSON object, found {type(fields).__name__}; mend or delete the line")

    def text(key: str) -> str:
        value = fields.get(key)
        if not isinstance(value, str) or not value.strip():
            raise UsageError(f"{where}: {key!r} must be a text that is not empty; add or mend it")
        return value

    def paths(key: str, default: list[str] | None) -> frozenset[str]:
        value = fields.get(key, default)
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise UsageError(f"{where}: {key!r} must be a list of files in the corpus; add or mend it")
        return frozenset(value)

    query = text("query")
    if len(query) > MAX_CHARACTERS:
        raise UsageError(f"{where}: expected a message of at most {MAX_CHARACTERS:,} characters, found {len(query):,}")
    return Question(
        id=text("id"),
        query=query,
        lang=text("lang"),
        relevant=paths("relevant", None),
        also_ok=paths("also_ok", []),
        note_lang=text("note_lang") if "note_lang" in fields else None,
        hard=fields.get("hard") is True,
    )
