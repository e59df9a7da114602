"""Reading one Markdown file, for whatever kind of record it holds."""

from pathlib import PurePath

from recall.core.errors import SourceError
from recall.sources.files import MAX_NOTE_BYTES, read_bytes
from recall.text.clean import one_line
from recall.text.decode import decode_note
from recall.text.frontmatter import Note, parse


def read_note(path: str) -> Note:
    """The note in a file. SourceError, as the reason under `skipped`, when there is none."""
    try:
        note = parse(decode_note(read_bytes(path, MAX_NOTE_BYTES)))
    except ValueError as error:
        raise SourceError(str(error)) from None
    if not (note.name or note.description or note.body):
        raise SourceError("is empty")
    return note


def name_of(note: Note, path: str) -> str:
    """The note's own name, else its file's, never empty."""
    file = PurePath(path)
    return note.name or one_line(file.stem) or one_line(file.name)
