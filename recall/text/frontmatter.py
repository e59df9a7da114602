"""Frontmatter: a note's name, description, type and body, from YAML where it is YAML, else line by line.

Notes are written by a model and by hand. Some are no valid YAML (`description: why: "because"`), some are valid but
mean less than they say (a `#` starts a comment). What stands in the line then counts.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import yaml

from recall.text.clean import one_line, visible, whole

#: More than this between the two `---` is no frontmatter. The largest of 355 public notes has about 1,000 characters.
MAX_FRONTMATTER_CHARACTERS = 16_384
#: Names are cut here: they stand on top of every chunk, where a paragraph would push out the text itself.
MAX_NAME_CHARACTERS = 200

#: Every scalar stays the text that was typed (no dates, numbers, booleans), and aliases are shared, never copied.
_LOADER: type = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
_FIELD = re.compile(r"""["']?([^\W\d_][\w-]*)["']?\s*:(?:\s+(.*)|)$""")
_BLOCK_SCALAR = re.compile(r"[|>][+-]?\d?[+-]?\s*(#.*)?$")
_QUOTED = re.compile(r"""'((?:[^']|'')*)'$|"((?:[^"\\]|\\.)*)"$""")
#: Values that begin so mean something else in YAML than the text they show.
_STRUCTURED = ('"', "'", "[", "{", "- ")
_NULL = {"", "~", "null"}
_HEADING = re.compile(r" {0,3}#{1,6}\s+(.*)")
_FENCE = re.compile(r" {0,3}(```|~~~)")
#: What Markdown puts before the words of a line: heading, quote, list item, check box.
_LINE_MARKS = re.compile(r"\s*(?:(?:#+|>|[-*+]|\d+[.)]|\[[ xX]\])\s+)*")
_WORD = re.compile(r"\w")


@dataclass(frozen=True, slots=True)
class Note:
    """A note's parts. `name`, `description` and `type` are one line each and may be empty; `body` is visible text.

    `fields` is the text of every field of the frontmatter, by its name in small letters, as it was typed.
    """

    name: str
    description: str
    type: str
    body: str
    fields: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)


def parse(text: str) -> Note:
    """The parts of a note, from text with `\\n` line ends. Never fails: what is no frontmatter is body.

    A note without a name is named by its first heading, else by its first line with words in it. Never by its file,
    so that renaming the file leaves the text (and with it the embeddings) as it is.
    """
    block, body = _split(text)
    fields = _fields(block)
    body = visible(body).strip()
    name = one_line(fields.get("name", "")) or one_line(_title(body))
    return Note(
        name=whole(name, MAX_NAME_CHARACTERS),
        description=one_line(fields.get("description", "")),
        type=one_line(fields.get("type", "")),
        body=body,
        fields=fields,
    )


def _split(text: str) -> tuple[str, str]:
    """Frontmatter and body, the frontmatter empty where there is none.

    Prose between two rules is body. Frontmatter that is never closed, or only by a rule further down in the body,
    ends at its first blank line.
    """
    lines = text.lstrip("\n").split("\n")
    if lines[0].rstrip() != "---":
        return "", text
    blank = next((at for at, line in enumerate(lines) if at and not line.strip()), len(lines))
    end = next((at for at, line in enumerate(lines) if at and line.rstrip() in {"---", "..."}), None)
    if end is None or not all(map(_may_be_yaml, lines[blank:end])):
        end = blank
    block = "\n".join(lines[1:end])
    if len(block) > MAX_FRONTMATTER_CHARACTERS or not _begins_with_a_field(lines[1:end]):
        return "", "\n".join(lines[1:])
    return block, "\n".join(lines[end + 1 :])


def _may_be_yaml(line: str) -> bool:
    return not line.strip() or line[0] in " \t#-" or _FIELD.match(line) is not None


def _begins_with_a_field(lines: Sequence[str]) -> bool:
    """Whether the first line that is no comment is a field; nothing at all is empty frontmatter."""
    written = [line for line in lines if line.strip()]
    first = next((line for line in written if not line.startswith("#")), "")
    return not written or _FIELD.match(first) is not None


def _fields(block: str) -> dict[str, str]:
    """The text of each field, lower-case keys, those of `metadata` behind those of the note itself."""
    typed = _read_lines(block)
    fields = {key: _unquoted(value) for key, value in typed.items()}
    try:
        loaded = yaml.load(block, Loader=_LOADER)  # noqa: S506 - BaseLoader makes nothing but str, list and dict
    except (yaml.YAMLError, RecursionError):
        return fields
    for key, value in _values(loaded).items():
        if key not in typed or _says_all(key, value, typed[key]):
            fields[key] = value
    return fields


def _values(loaded: object) -> dict[str, str]:
    """Texts and lists of texts; anything deeper is left as it was typed."""
    own = loaded if isinstance(loaded, Mapping) else {}
    nested = own.get("metadata")
    values: dict[str, str] = {}
    for key, value in [*(nested.items() if isinstance(nested, Mapping) else ()), *own.items()]:
        is_list = isinstance(value, list) and all(isinstance(item, str) for item in value)
        text = ", ".join(value) if is_list else value
        if isinstance(key, str) and isinstance(text, str):
            values[key.lower()] = text
    return values


def _says_all(key: str, value: str, typed: str) -> bool:
    """Whether YAML's value holds all that stands in the line, or rightly less.

    It loses what looks like a comment, an anchor or a tag. People mean a comment only behind a type or a quoted text.
    """
    if typed.lower() in _NULL:
        return False
    return key == "type" or typed.startswith(_STRUCTURED) or len(one_line(value)) >= len(typed)


def _read_lines(block: str) -> dict[str, str]:
    """Fields by line: `key: text` as typed, joined with the lines below it that are no field of the same level."""
    found: dict[str, list[str]] = {}
    key = ""
    for line in block.split("\n"):
        indented = line[:1] in {" ", "\t"}
        field = _FIELD.match(line.strip()) if not indented or key == "metadata" else None
        if field is not None:
            name, value = field[1].lower(), field[2] or ""
            if indented:
                found.setdefault(name, [value])
            else:
                key = name
                found[key] = ["" if _BLOCK_SCALAR.match(value) else value]
        elif key and not line.startswith("#"):
            found[key].append(line)
    return {key: one_line("\n".join(lines)) for key, lines in found.items()}


def _unquoted(typed: str) -> str:
    """A typed value as text: without the quotes around all of it, nothing for null."""
    if typed.lower() in _NULL:
        return ""
    quoted = _QUOTED.match(typed)
    if quoted is None:
        return typed
    single, double = quoted.groups()
    return re.sub(r"\\(.)", r"\1", double) if single is None else single.replace("''", "'")


def _title(body: str) -> str:
    """The first heading outside of code, else the first line with words in it, without its Markdown marks."""
    first, fenced = "", False
    for line in body.split("\n"):
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced and (heading := _HEADING.match(line)) and (words := _without_closing_marks(heading[1])):
            return words
        elif not first and _WORD.search(line):
            first = _LINE_MARKS.sub("", line, count=1)
    return first


def _without_closing_marks(heading: str) -> str:
    """The words of `# words ##`; the mark in `# About C#` is one of its words."""
    words = heading.rstrip().rstrip("#")
    return words.strip() if words != words.rstrip() or not words else heading.strip()
