"""Whatever is sent: a reduction is whole lines in order, is its own reduction, keeps prose, takes linear time."""

import sys
from types import FrameType
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from recall.text.paste import SHORT_CHARACTERS, SHORT_LINES, reduce

#: Lines of every kind and of the borders between kinds, so that short lists of them reach each rule.
LINES = st.sampled_from(
    [
        "",
        "   ",
        "Why does this happen?",
        "fix it",
        "versus",
        "# where it goes",
        "## Steps",
        "検索が遅いので直したいです。",
        "  添字の意味を書く",
        "  the words of a docstring",
        "Server started in development mode",
        "image: nginx",
        "  name: web server",
        "TOKEN: secret",
        "import os",
        "    x = compute(y)",
        "}",
        "<p>Hello</p>",
        "<li>an item of the list",
        "```",
        "```python",
        "````",
        "~~~",
        "~~~ text with words",
        "``` why is this?",
        "@@ -1,2 +1,3 @@",
        "- an item or a line of a diff",
        "+ another of them",
        " context of a diff",
        "ValueError: no such thing",
        "  KeyError: 'x'",
        "E   AssertionError: assert 1 == 2",
        "error: could not compile `shop`",
        "2024-05-01 10:12:07 ERROR cannot connect",
        "2024-05-01 10:12:08 INFO shutting down",
        "> we rebuilt it on Sunday and then it was slow",
        ">",
        ">>> print(1)",
        "| a | b |",
    ]
)
MESSAGES = st.one_of(
    st.lists(LINES, max_size=30).map("\n".join),
    st.lists(st.one_of(LINES, st.text(max_size=80)), max_size=20).map("\n".join),
    st.text(alphabet=st.sampled_from("`~@-+ \n\r\u2028>:#a=(\"'<.日?{1"), max_size=400),
    st.text(min_size=SHORT_CHARACTERS),
)
WORDS = st.sampled_from(
    "the cache grows slowly since we moved it to another machine although nothing changed here".split()
)
SENTENCES = st.lists(WORDS, min_size=4, max_size=30).map(" ".join).map("I think {}.".format)
JAPANESE = st.lists(
    st.sampled_from("検索 が 遅い ので 設定 を 変えて も 直らない 原因 調べたい".split()), min_size=3, max_size=40
).map("".join)
PASTE = st.lists(
    st.sampled_from(["    at run (/srv/app.js:1:2)", "import os", "x = f(y);", "| a | b |", '  "key": 1,', "}", ""]),
    max_size=30,
)


def is_within(few: list[str], many: list[str]) -> bool:
    """Whether the few are among the many in the same order."""
    rest = iter(many)
    return all(line in rest for line in few)


@given(MESSAGES)
@settings(max_examples=400)
def test_a_reduction_is_whole_lines_in_order(message: str) -> None:
    assert is_within(reduce(message).splitlines(), message.splitlines())


@given(MESSAGES)
@settings(max_examples=1000)
@example("ValueError: no such thing\n\nWhy does this happen?\n\n\n\n\n\n")
@example("\n".join(["~~~ text with words", *["fix it"] * 9]))
@example(
    "\n".join(
        ["image: nginx", "", "}", "", "name: web", "ValueError: x", "", "}", "port: 80", *["Why is this so?"] * 20]
    )
)
def test_a_reduction_is_its_own_reduction(message: str) -> None:
    once = reduce(message)
    assert reduce(once) == once


@given(st.lists(LINES, max_size=SHORT_LINES).map("\n".join))
def test_a_short_message_is_left_alone(message: str) -> None:
    if len(message) <= SHORT_CHARACTERS:
        assert reduce(message) == message


@given(st.lists(st.one_of(SENTENCES, JAPANESE, st.just("")), max_size=30).map("\n".join))
def test_prose_is_left_whole(message: str) -> None:
    assert reduce(message) == message


@given(st.lists(st.tuples(st.one_of(SENTENCES, JAPANESE), PASTE), min_size=1, max_size=8), st.booleans())
def test_of_prose_and_paste_the_prose_is_left(parts: list[tuple[str, list[str]]], fenced: bool) -> None:
    lines: list[str] = []
    for prose, paste in parts:
        lines += [prose, *(["```", *paste, "```"] if fenced else paste)]
    message = "\n".join(lines)
    if len(message) > SHORT_CHARACTERS or len(message.splitlines()) > SHORT_LINES:
        assert [line for line in reduce(message).splitlines() if line] == [prose for prose, _ in parts]


@given(PASTE.filter(lambda lines: len("\n".join(lines).splitlines()) > SHORT_LINES))
def test_paste_alone_leaves_nothing(lines: list[str]) -> None:
    assert reduce("\n".join(lines)) == ""


#: Shapes that hurt a pattern that tries again and again, or a walk over lines that starts again and again.
NASTY = [
    *[
        "a",
        "a.",
        "a(",
        "A.",
        "a |",
        "::",
        " ",
        "\t",
        "`",
        "(",
        "'",
        "<a ",
        "# ",
        "1.1.1.1 ",
        "e.",
        "E ",
        "a,",
        "if (",
        "日",
    ],
    *["Exception in ", "import a", "select ", "2024-01-01 10:00:00 ERRO ", "a\u0301", "{", '"', "=", "[1", "?", "a\\"],
]
SHORT_LINED = [
    *[
        "a\n",
        "\n",
        " \n",
        "```\n",
        "```a\n",
        "~~~\n",
        '"\n',
        "a: b\n",
        "  b\n",
        "日\n",
        "\r",
        "\u2028",
        "@@ -9,9 +9,9 @@\n",
    ],
    *["@@ -999999999,999999999 +1 @@\n", "image: x\n\n", "ValueError: x\n\n", "# a\n\n", "}\nversus\n", "}\n  b\n\n"],
]


@pytest.mark.parametrize("shape", SHORT_LINED)
def test_ten_times_the_message_takes_ten_times_the_steps(shape: str) -> None:
    few, many = (steps(shape * (size // len(shape))) for size in (4_000, 40_000))
    assert many <= 11 * few + 100


@pytest.mark.parametrize("shape", NASTY)
def test_a_megabyte_of_a_nasty_shape_is_reduced(shape: str) -> None:
    line = (shape * 200)[:200]
    for message in ("\n".join([line] * 5_000), line * 5_000):
        assert is_within(reduce(message).splitlines(), message.splitlines())


def steps(message: str) -> int:
    """Lines of Python that are run and functions that are called while the message is reduced."""
    count = 0

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal count
        count += 1
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        reduce(message)
    finally:
        sys.settrace(before)
    return count
