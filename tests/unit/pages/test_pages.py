"""Pages: whatever stands in them is text, nothing is fetched, and pictures hold every finite value."""

import os
import re
import stat
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.core.errors import UsageError
from recall.pages.page import POLICY, Markup, page, section, table, text, write_page
from recall.pages.pictures import bars, histogram

HOSTILE = ["<script>alert(1)</script>", '" onload="x', "a & b", "url(http://example.org/x)", "\u202eabc\x00\x1b[31m"]


class Seen(HTMLParser):
    """What a browser would make of a page: tags, attributes and texts; fails for tags that are not closed in order."""

    VOID = ("meta", "rect", "line")

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.texts: list[str] = []
        self._open: list[str] = []
        self.feed(html)
        self.close()
        assert not self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in self.VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def stands_alone(html: str) -> Seen:
    """Assert that nothing in a page is fetched or run."""
    seen = Seen(html)
    assert not {"script", "link", "img", "iframe", "object", "embed", "form", "base", "a"} & set(seen.tags)
    for name, value in seen.attributes:
        assert name not in ("src", "href", "xlink:href", "srcset", "action", "data", "style")
        assert not name.startswith("on")
        assert "url(" not in (value or "") or name in ("content", "aria-label")
    style = html.partition("<style>")[2].partition("</style>")[0]
    assert "url(" not in style
    assert "@import" not in style
    assert ("content", POLICY) in seen.attributes
    return seen


def whole_page(words: list[str]) -> str:
    parts = [
        table(words, [words, [1, 2.5, None]]),
        histogram({word: [1.0, 2.0] for word in words}, dict.fromkeys(words, 1.5), caption=words[0]),
        bars(words, {words[0]: [1.0] * len(words)}, caption=words[0]),
    ]
    return page(words[0], [section(words[0], words[-1], *parts)])


def test_hostile_text_stays_text() -> None:
    seen = stands_alone(whole_page(HOSTILE))
    assert "<script>alert(1)</script>" in seen.texts
    assert not re.search("[\u202e\x00\x1b]", "".join(seen.texts))


@given(st.lists(st.text(), min_size=1, max_size=4))
def test_any_text_makes_a_page_that_stands_alone(words: list[str]) -> None:
    stands_alone(whole_page(words)).texts.index("1")


def test_finished_markup_is_not_escaped_again() -> None:
    assert text(Markup("<p>x</p>")) == "<p>x</p>"
    assert text("<p>") == "&lt;p&gt;"


def test_columns_of_numbers_stand_to_the_right() -> None:
    html = table(["name", "number"], [["a", 1], ["b", 22.5]])
    assert html.count('class="number"') == 3
    assert '<th class="number">number</th>' in html


def test_a_histogram_has_a_lane_for_each_label_and_its_thresholds() -> None:
    html = histogram({"found": [0.5, 0.9, 0.9], "無関係": [0.1, float("nan")]}, {"some": 0.4, "strong": 2.0})
    seen = Seen(html)
    assert seen.tags.count("rect") == 3  # 0.5, both 0.9 in one, 0.1
    assert {"found", "無関係", "3 values", "1 values", "some 0.4", "strong 2"} <= set(seen.texts)
    for name, value in seen.attributes:
        if name in ("x", "x1", "x2"):
            assert 0 <= float(value or "") <= 720


@given(st.lists(st.floats(allow_infinity=True, allow_nan=True), max_size=30), st.floats(-1e9, 1e9))
def test_a_histogram_takes_any_numbers(values: list[float], threshold: float) -> None:
    sensible = [value for value in values if not (abs(value) > 1e12 and abs(value) != float("inf"))]
    assert Markup(histogram({"a": sensible, "b": []}, {"t": threshold})).startswith(("<figure>", "<p>"))


def test_bars_are_as_long_as_their_values() -> None:
    html = bars(["1", "2-3"], {"recall": [10.0, 5.0], "grep": [0.0, 10.0]})
    found = [float(width) for width in re.findall(r'class="series-[01]" x="170.0" y="[\d.]+" width="([\d.]+)"', html)]
    widths = [width for width in found if width != 11]
    assert widths[0] == widths[3] == 2 * widths[2]
    assert widths[1] == 1


def test_nothing_to_show_is_said() -> None:
    assert histogram({"a": []}, caption="gap") == "<p>gap: no values</p>"
    assert bars([], {}) == "<p>no values</p>"


def test_a_page_is_written_for_its_owner_and_whole(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    write_page(path, page("日本語", []))
    assert path.read_text("utf-8").startswith("<!doctype html>")
    if os.name == "posix":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [*tmp_path.iterdir()] == [path]


def test_a_page_needs_a_folder_and_the_name_of_a_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="found no folder"):
        write_page(tmp_path / "none" / "page.html", "x")
    with pytest.raises(UsageError, match="found a folder"):
        write_page(tmp_path, "x")
