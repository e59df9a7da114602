"""Spans, habits of a document, and single edits of JSON text."""

import pytest

from recall.setup.jsontext import Style, append_child, parse, place, remove_child, render, replace_value, style_of

PRETTY = Style(line_end="\n", indent="  ", colon=": ", comma=" ", inline=False)


def _style(text: str) -> Style:
    return style_of(text, parse(text))


def test_every_value_knows_where_it_stands() -> None:
    text = ' {"a" : [1, "\\u65e5"], "b":null}\n'
    root = parse(text)
    assert text[root.start : root.end] == text.strip()
    a, b = root.children
    assert (a.key, text[a.start : a.key_end], text[a.node.start : a.end]) == ("a", '"a"', '[1, "\\u65e5"]')
    assert [(child.key, text[child.start : child.end], child.node.string) for child in a.node.children] == [
        (None, "1", None),
        (None, '"\\u65e5"', "日"),
    ]
    assert text[b.start : b.end] == '"b":null'


def test_numbers_of_any_length_are_read() -> None:
    text = "[" + "9" * 10_000 + "]"
    assert parse(text).children[0].end == len(text) - 1


def test_places_count_every_kind_of_line_end_once() -> None:
    text = "a\r\nb\rc\nd"
    assert [place(text, text.index(letter)) for letter in "abcd"] == [
        "line 1, column 1",
        "line 2, column 1",
        "line 3, column 1",
        "line 4, column 1",
    ]


@pytest.mark.parametrize(
    ("text", "style"),
    [
        ("{}", PRETTY),
        ('{\n  "a": 1\n}', PRETTY),
        ('{\r\n\t"a" : 1\r\n}', Style("\r\n", "\t", " : ", " ", inline=False)),
        ('  {\n      "a":1\n  }', Style("\n", "    ", ":", "", inline=False)),
        ('{\n"a": 1\n}', Style("\n", "", ": ", " ", inline=False)),
        ('{"a": 1}\n', Style("\n", "  ", ": ", " ", inline=True)),
        ('{"a":1}', Style("\n", "  ", ":", "", inline=True)),
        ('{"a":\n1}', Style("\n", "  ", ": ", " ", inline=False)),
        ('\n\n{"a":1}', Style("\n", "  ", ":", "", inline=True)),
    ],
)
def test_the_habits_of_a_document_are_seen(text: str, style: Style) -> None:
    assert _style(text) == style


def test_values_are_written_as_the_client_writes_them() -> None:
    value = {"a": ["日\n", []], "b": {}}
    assert render(value, PRETTY, "") == '{\n  "a": [\n    "日\\n",\n    []\n  ],\n  "b": {}\n}'
    assert render(value, PRETTY, None) == '{"a": ["日\\n", []], "b": {}}'


@pytest.mark.parametrize(
    ("text", "index", "left"),
    [
        ("[1, 2 ,3 ]", 0, "[2 ,3 ]"),
        ("[1, 2 ,3 ]", 1, "[1, 3 ]"),
        ("[1, 2 ,3 ]", 2, "[1, 2 ]"),
        ("[ 1 ]", 0, "[]"),
        ('{\n  "a": 1,\n  "b": 2\n}', 0, '{\n  "b": 2\n}'),
        ('{\n  "a": 1,\n  "b": 2\n}', 1, '{\n  "a": 1\n}'),
    ],
)
def test_a_child_leaves_with_its_comma(text: str, index: int, left: str) -> None:
    assert remove_child(text, parse(text), index) == left


@pytest.mark.parametrize(
    ("text", "new"),
    [
        ("[]", "[\n  0\n]"),
        ("[1]", "[1, 0]"),
        ("[1,\n 2]", "[1,\n 2,\n 0]"),
        ("[\n  1 ]", "[\n  1,\n  0 ]"),
        ("[\r  1\r]", "[\r  1,\r  0\r]"),
    ],
)
def test_a_child_is_added_in_the_manner_of_its_container(text: str, new: str) -> None:
    assert append_child(text, parse(text), None, 0, _style(text)) == new


def test_a_list_keeps_its_layout_when_its_value_changes() -> None:
    flat, tall = '{"a": ["x"]}', '{\n  "a": [\n    "x"\n  ]\n}'
    assert replace_value(flat, parse(flat).children[0].node, ["y", "z"], PRETTY) == '{"a": ["y", "z"]}'
    assert replace_value(tall, parse(tall).children[0].node, ["y"], PRETTY) == tall.replace("x", "y")
