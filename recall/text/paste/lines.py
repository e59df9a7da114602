"""Kinds of lines: whether a person wrote a line, a program printed it, or the lines around it have to tell."""

from enum import Enum, auto

from recall.text.paste import shapes

#: Characters of each end of a line that are looked at: what is between them does not change what the line is.
_END_CHARACTERS = 1000
#: A longer error message would itself drown the question.
_LONGEST_TELLING = 1000


class Kind(Enum):
    """What a line is. Undecided ones are paste where the lines around them are, and the person's elsewhere."""

    BLANK = auto()
    PROSE = auto()
    LOOSE = auto()  # undecided: words that a program may have printed
    WEAK = auto()  # undecided: hardly any words, a tag before them
    REMARK = auto()  # undecided: a comment or a heading
    INDENTED = auto()  # undecided: words behind white space, as in a docstring
    SETTING = auto()  # undecided: key: value
    PASTE = auto()
    TELLING = auto()  # paste that says what went wrong
    FENCED = auto()  # code fences and what is between them: the words next to a fence are the person's
    FENCED_TELLING = auto()


def kind_of(line: str) -> Kind:
    """What a line is by itself."""
    text = line.strip()
    if not text:
        return Kind.BLANK
    if len(text) > 2 * _END_CHARACTERS:
        text = f"{text[:_END_CHARACTERS]}{text[-_END_CHARACTERS:]}"
    if shapes.ECHO.match(text):
        return Kind.PASTE
    text = text.lstrip("> ")  # a mail's quotation is what its words are
    words = text.split()
    plain = sum(map(_is_plain, words))
    bare = shapes.INSIDE_CODE.sub("", text)
    foreign = len(shapes.FOREIGN.findall(bare))
    is_foreign = foreign >= 2 and foreign * 5 >= len(bare) - bare.count(" ")
    if shapes.QUESTION.search(text) and (is_foreign or (plain >= 2 and plain * 2 >= len(words))):
        return Kind.PROSE
    if len(line) <= _LONGEST_TELLING and _tells(text):
        return Kind.TELLING
    if shapes.MARKED.match(text) or (shapes.TAG.match(text) and text.endswith(">")):
        return Kind.PASTE
    if not is_foreign and _is_code(text, plain, len(words)):
        return Kind.PASTE
    if not is_foreign and shapes.SETTING.match(text):
        return Kind.SETTING
    is_listed = shapes.BULLET.match(text) is not None
    if plain * 5 < len(words) * 2 and foreign < 3 and not (plain and (is_listed or shapes.LABEL.match(text))):
        return Kind.PASTE
    if line[0] in " \t" and not is_listed:
        return Kind.INDENTED
    if shapes.REMARK.match(text):
        return Kind.REMARK
    if foreign or shapes.PERSONAL.search(text) or shapes.SENTENCE_END.search(text):
        return Kind.PROSE
    return Kind.WEAK if len(words) <= 3 or shapes.TAG.match(text) else Kind.LOOSE


def _tells(text: str) -> bool:
    """Whether a line says what went wrong in the words of a program."""
    said = shapes.MARGIN.sub("", text, count=1) if shapes.MARGIN.match(text) else text
    return bool(shapes.ERROR.match(said) or shapes.LOGGED_ERROR.match(said))


def _is_code(text: str, plain: int, words: int) -> bool:
    """Whether a line in Latin letters is code, data or a program's output; `plain` of its words are a language's."""
    if (
        shapes.CODE.match(text)
        or shapes.WIDE_GAP.search(text)
        or shapes.CSV.match(text)
        or len(shapes.COLUMN.findall(text)) >= 2
    ):
        return True
    if shapes.ASSIGNMENT.match(text) and (plain <= 3 or shapes.BRACKETS.search(text)):
        return True
    if shapes.SQL.match(text) and not any(map(str.islower, shapes.PERSONAL.findall(text))):
        return True
    return plain * 5 < words * 4 and (shapes.CODE_END.search(text) or shapes.STATEMENT.match(text)) is not None


def _is_plain(word: str) -> bool:
    """Whether it is a word of a language, or one marked as code by somebody who writes about it."""
    if "`" in word:
        return True
    return word.strip(shapes.AROUND_WORDS).replace("'", "").replace("’", "").replace("-", "").isalpha()
