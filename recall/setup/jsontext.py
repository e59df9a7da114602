"""JSON as text: where each value stands, and edits that leave every other character alone.

    text    {"a": 1, "b": [2]}
    Node    the object      .children   Child "a" -> Node 1,  Child "b" -> Node [2]  -> Child None -> Node 2

`parse` takes strict JSON only (RFC 8259). The edits return a new text; they add or take away one child, or put
another value in a node's place, in the manner of the surroundings.
"""

import json
import re
from dataclasses import dataclass
from typing import Any, NoReturn

#: Deeper nesting is no settings file, and would end in Python's recursion limit.
MAX_DEPTH = 100

_SPACE = re.compile(r"[ \t\n\r]*+")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4}))*+"')
_SCALAR = re.compile(_STRING.pattern + r"|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null")
_LINE_END = re.compile(r"\r\n|\n|\r")


class JsonTextError(ValueError):
    """The text is not strict JSON; `str(error)` names line, column (both from 1), what was expected and found."""


@dataclass(frozen=True, slots=True)
class Child:
    """A member of an object (`key` decoded) or an item of an array (`key` None), from its first character on."""

    key: str | None
    start: int
    key_end: int
    node: "Node"

    @property
    def end(self) -> int:
        return self.node.end


@dataclass(frozen=True, slots=True)
class Node:
    """One value, at text[start:end]. Only strings are decoded; numbers stay as they are written."""

    start: int
    end: int
    bracket: str  # "{", "[" or "" for a scalar
    children: tuple[Child, ...] = ()
    string: str | None = None


@dataclass(frozen=True, slots=True)
class Style:
    """How a document is written. `inline`: all of it on one line. `comma`: what follows a comma on one line."""

    line_end: str
    indent: str
    colon: str
    comma: str
    inline: bool


def place(text: str, position: int) -> str:
    """`line 3, column 5` for a position in the text."""
    ends = [match.end() for match in _LINE_END.finditer(text, 0, position)]
    return f"line {len(ends) + 1}, column {position - (ends[-1] if ends else 0) + 1}"


def parse(text: str) -> Node:
    """The one value of a document. Raises JsonTextError."""
    node = _parse_value(text, _skip(text, 0), 0)
    rest = _skip(text, node.end)
    if rest != len(text):
        _fail(text, rest, "the end of the file")
    return node


def style_of(text: str, root: Node) -> Style:
    """The habits of a document, told by its first member; two spaces and `": "` where nothing tells."""
    line_end = _LINE_END.search(text)
    first = root.children[0] if root.children else None
    colon = text[first.key_end : first.node.start] if first and first.key is not None else ": "
    if _LINE_END.search(colon):
        colon = ": "
    indent = _indent_before(text, first.start) if first else None
    return Style(
        line_end=line_end[0] if line_end else "\n",
        indent="  " if indent is None else indent.removeprefix(_line_indent(text, root.start)),
        colon=colon,
        comma=" " if colon.endswith(" ") else "",
        inline=bool(root.children) and not _LINE_END.search(text, root.start, root.end),
    )


def render(value: Any, style: Style, indent: str | None) -> str:
    """A value made of dict, list and scalars. `indent` is that of the line it begins on, None keeps it on one line."""
    if not isinstance(value, dict | list) or not value:
        return json.dumps(value, ensure_ascii=False)
    inner = None if indent is None else indent + style.indent
    if isinstance(value, dict):
        parts = [json.dumps(k, ensure_ascii=False) + style.colon + render(v, style, inner) for k, v in value.items()]
    else:
        parts = [render(item, style, inner) for item in value]
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    if inner is None:
        return opening + ("," + style.comma).join(parts) + closing
    before = style.line_end + inner
    return opening + before + ("," + before).join(parts) + style.line_end + f"{indent}" + closing


def append_child(text: str, parent: Node, key: str | None, value: Any, style: Style) -> str:
    """`value` as the last child of `parent`, laid out as the child before it is."""
    name = "" if key is None else json.dumps(key, ensure_ascii=False) + style.colon
    if parent.children:
        last = parent.children[-1]
        indent = _indent_before(text, last.start)
        between = style.comma if indent is None else style.line_end + indent
        return _replace(text, last.end, last.end, "," + between + name + render(value, style, indent))
    if style.inline:
        return _replace(text, parent.start + 1, parent.end - 1, name + render(value, style, None))
    outer = _line_indent(text, parent.start)
    inner = outer + style.indent
    body = style.line_end + inner + name + render(value, style, inner) + style.line_end + outer
    return _replace(text, parent.start + 1, parent.end - 1, body)


def remove_child(text: str, parent: Node, index: int) -> str:
    """`parent` without that child and its comma. Taking away what `append_child` added gives its text back, unless
    the container was empty before and held white space."""
    children = parent.children
    if len(children) == 1:
        return _replace(text, parent.start + 1, parent.end - 1, "")
    if index == len(children) - 1:
        return _replace(text, children[index - 1].end, children[index].end, "")
    return _replace(text, children[index].start, children[index + 1].start, "")


def replace_value(text: str, node: Node, value: Any, style: Style) -> str:
    """Another value in the node's place; a list or object that filled several lines does so again."""
    several_lines = bool(node.children) and _indent_before(text, node.children[0].start) is not None
    indent = _line_indent(text, node.start) if several_lines else None
    return _replace(text, node.start, node.end, render(value, style, indent))


def _replace(text: str, start: int, end: int, new: str) -> str:
    return text[:start] + new + text[end:]


def _indent_before(text: str, position: int) -> str | None:
    """The white space between the start of the line and `position`; None when something else stands there too."""
    start = position
    while start and text[start - 1] in " \t":
        start -= 1
    return text[start:position] if start and text[start - 1] in "\r\n" else None


def _line_indent(text: str, position: int) -> str:
    """The white space at the start of the line that `position` is on."""
    start = max(text.rfind("\n", 0, position), text.rfind("\r", 0, position)) + 1
    end = start
    while end < position and text[end] in " \t":
        end += 1
    return text[start:end]


def _skip(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return match.end() if match else position


def _parse_value(text: str, position: int, depth: int) -> Node:
    if depth > MAX_DEPTH:
        _fail(text, position, f"at most {MAX_DEPTH} levels of nesting")
    bracket = text[position : position + 1]
    if bracket in ("{", "["):
        return _parse_container(text, position, depth)
    match = _SCALAR.match(text, position)
    if match is None:
        _fail(text, position, "a value")
    return Node(position, match.end(), "", string=json.loads(match[0]) if match[0].startswith('"') else None)


def _parse_container(text: str, start: int, depth: int) -> Node:
    bracket = text[start]
    closing = "}" if bracket == "{" else "]"
    children: list[Child] = []
    position = _skip(text, start + 1)
    if text.startswith(closing, position):
        return Node(start, position + 1, bracket)
    while True:
        child = _parse_child(text, position, bracket, depth + 1)
        children.append(child)
        position = _skip(text, child.end)
        if text.startswith(closing, position):
            return Node(start, position + 1, bracket, tuple(children))
        if not text.startswith(",", position):
            _fail(text, position, f"a comma or {closing}")
        position = _skip(text, position + 1)


def _parse_child(text: str, position: int, bracket: str, depth: int) -> Child:
    if bracket == "[":
        return Child(None, position, position, _parse_value(text, position, depth))
    key = _STRING.match(text, position)
    if key is None:
        _fail(text, position, "a name in double quotes")
    colon = _skip(text, key.end())
    if not text.startswith(":", colon):
        _fail(text, colon, "a colon")
    node = _parse_value(text, _skip(text, colon + 1), depth)
    return Child(json.loads(key[0]), position, key.end(), node)


def _fail(text: str, position: int, expected: str) -> NoReturn:
    found = repr(text[position : position + 1])
    if position == len(text):
        found = "the end of the file"
    elif text.startswith(("//", "/*", "#"), position):
        found = "a comment"
    elif text[position] in "}]" and text[:position].rstrip(" \t\r\n").endswith(","):
        found = f"{text[position]} after a comma"
    raise JsonTextError(f"{place(text, position)}: expected {expected}, found {found}")
