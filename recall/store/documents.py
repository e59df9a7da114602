"""Documents: the rows that make a record in the index, of its file, its project and its pieces.

Every function works inside the caller's transaction and lets sqlite3.Error through.
"""

import json
import sqlite3

from recall.core.types import FoundFile, Project
from recall.store.entries import Entry, Finish, Outcome

#: A document's columns that make its headline, besides its project.
_HEADLINE = (
    *("name", "description", "date", "session", "language", '"group"', "successor", "successor_path"),
    *("origin", "person", "masked"),
)


def put_document(connection: sqlite3.Connection, file_id: int, entry: Entry) -> Outcome:
    """Write a document with its pieces, and say whether it is new or other than it was."""
    document = entry.document
    values = (
        put_project(connection, entry.project),
        document.name,
        document.description,
        document.date,
        document.session,
        document.language,
        document.group,
        document.successor,
        document.successor_path,
        document.origin,
        document.person,
        json.dumps(dict(entry.masked), sort_keys=True),
    )
    columns = f"project_id, {', '.join(_HEADLINE)}"
    old = connection.execute(
        f"SELECT id, terms, {columns} FROM document WHERE file_id = ? AND key = ?",  # noqa: S608  names of our own
        (file_id, document.key),
    ).fetchone()
    if old is not None:
        rows = connection.execute("SELECT ordinal, digest FROM chunk WHERE document_id = ? ORDER BY ordinal", old[:1])
        if old[1:] == (entry.terms, *values) and rows.fetchall() == entry.pieces:
            return "unchanged"
        connection.execute("DELETE FROM document WHERE id = ?", old[:1])
        if old[2:] != values:
            note_erasure(connection)
    places = ", ".join("?" * (4 + len(values)))
    document_id = connection.execute(
        f"INSERT INTO document (id, file_id, key, terms, {columns}) VALUES ({places})",  # noqa: S608
        (old[0] if old else None, file_id, document.key, entry.terms, *values),
    ).lastrowid
    connection.executemany(
        "INSERT INTO chunk VALUES (?, ?, ?)",
        [(document_id, ordinal, digest) for ordinal, digest in entry.pieces],
    )
    return "added" if old is None else "changed"


def finish_file(connection: sqlite3.Connection, file_id: int, file: FoundFile, finish: Finish) -> bool:
    """Note the end of a file; whether a document got another name by it."""
    columns = "kind, project_id, size, mtime_ns, done, left_out, damaged_lines, gone_at, masked"
    values = (
        *(file.kind, put_project(connection, finish.project), file.size, finish.mtime_ns, True),
        *(finish.left_out, finish.damaged_lines, None),
        json.dumps(dict(finish.masked), sort_keys=True),
    )
    places = ", ".join("?" * len(values))
    connection.execute(
        f"UPDATE file SET ({columns}) = ({places}) WHERE id = ? AND ({columns}) IS NOT ({places})",  # noqa: S608
        (*values, file_id, *values),
    )
    if finish.title is None:
        return False
    named = connection.execute(
        "UPDATE document SET name = ? WHERE file_id = ? AND name <> ?", (finish.title, file_id, finish.title)
    )
    return named.rowcount > 0


def put_project(connection: sqlite3.Connection, project: Project) -> int:
    """The id of the project's row, which is made, or given the project's new name, where needed."""
    connection.execute(
        """INSERT INTO project (key, name) VALUES (?, ?)
        ON CONFLICT (key) DO UPDATE SET name = excluded.name WHERE name <> excluded.name""",
        (project.key, project.name),
    )
    (number,) = connection.execute("SELECT id FROM project WHERE key = ?", (project.key,)).fetchone()
    return int(number)


def note_erasure(connection: sqlite3.Connection) -> None:
    """Note that `tidy` has text to erase, in the transaction that deletes it."""
    connection.execute("UPDATE meta SET value = 1 WHERE key = 'erased' AND value = 0")
