"""A page of HTML from plain values: everything is escaped, nothing is fetched, and the file is written whole or not.

write_page(path, page("A week", [section("Messages", paragraph("..."), table(["reason", "number"], rows))]))
"""

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

from recall.core.atomic import replace_bytes
from recall.core.errors import UsageError
from recall.pages.style import STYLE
from recall.text.clean import one_line

#: A browser refuses whatever would be fetched or run, even if a mistake here let it through.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


#: How every page begins; another file is never replaced by one.
_BEGINNING = '<!doctype html>\n<html lang="en">\n<head>\n<meta name="generator" content="recall">\n'


class Markup(str):
    """Finished HTML. Whatever is a plain `str` is text still, and is escaped before it goes into a page."""

    __slots__ = ()


#: What a cell or a part of a page may be; numbers are set to the right.
Value = str | int | float | None


def text(value: Value) -> Markup:
    """One line of text as HTML: escaped, without control and bidirectional characters. Markup stays as it is."""
    if isinstance(value, Markup):
        return value
    return Markup(escape(one_line("" if value is None else str(value)), quote=True))


def page(title: str, sections: Iterable[Markup]) -> str:
    """A whole page; `sections` come from `section`."""
    heading = text(title)
    return (
        f'{_BEGINNING}<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(POLICY, quote=True)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>{heading}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>{heading}</h1>\n"
        + "\n".join(sections)
        + "\n</body>\n</html>\n"
    )


def section(title: str, *parts: str) -> Markup:
    """A part of a page under a heading. A part that is no Markup becomes a paragraph."""
    shown = (part if isinstance(part, Markup) else paragraph(part) for part in parts)
    return Markup(f"<section>\n<h2>{text(title)}</h2>\n" + "\n".join(shown) + "\n</section>")


def paragraph(value: Value) -> Markup:
    """A paragraph of one text."""
    return Markup(f"<p>{text(value)}</p>")


def table(head: Sequence[str], rows: Iterable[Sequence[Value]]) -> Markup:
    """A table; cells are text or Markup, numbers are set to the right with their column's heading."""
    listed = [list(row) for row in rows]
    numbers = [
        bool(listed) and all(isinstance(row[column], int | float) for row in listed if column < len(row))
        for column in range(len(head))
    ]
    heads = "".join(_cell("th", name, right=right) for name, right in zip(head, numbers, strict=True))
    body = "\n".join(
        "<tr>" + "".join(_cell("td", value, right=isinstance(value, int | float)) for value in row) + "</tr>"
        for row in listed
    )
    return Markup(
        f'<div class="wide"><table>\n<thead><tr>{heads}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table></div>'
    )


def write_page(path: Path, html: str) -> None:
    """Write a page for its owner alone to read, whole or not at all. Raises RecallError, and as `check_place`."""
    check_place(path)
    replace_bytes(path, html.encode("utf-8"), 0o600)


def check_place(path: Path) -> None:
    """See that a page can be written there, before long work is done for it. Raises UsageError."""
    if not path.parent.is_dir():
        raise UsageError(f"{path}: expected a path in a folder that is there, found no folder {path.parent}; make it")
    if path.is_dir():
        raise UsageError(f"{path}: expected the name of a file to write, found a folder; name a file in it")
    if path.exists() and not _begins_with(path, _BEGINNING):
        raise UsageError(f"{path}: expected a new file, or a page to replace, found something else; name another one")


def _begins_with(path: Path, beginning: str) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(beginning)) == beginning.encode()
    except OSError:
        return False


def _cell(tag: str, value: Value, *, right: bool) -> str:
    return f'<{tag} class="number">{text(value)}</{tag}>' if right else f"<{tag}>{text(value)}</{tag}>"
