"""Headlines for any text and any budget."""

import json

from hypothesis import example, given
from hypothesis import strategies as st

from recall.core.types import LABELS, Hit, Kind
from recall.search.headlines import HEADERS, MAX_HEADLINES, Language, render

_kinds: list[Kind] = ["memory", "knowledge", "conversation"]
_languages: list[Language] = ["en", "ja"]
_nasty = st.sampled_from(
    [
        "\ud800",
        "\udfff",
        "\u202e",
        "\u2028",
        "\x00",
        "\x85",
        "か\u3099",
        "👩‍👩‍👧",
        "🇯🇵",
        "👍🏽",
        '"',
        "\\",
        "\n[rule] ",
        "…",
        " — ",
    ]
)
_text = st.one_of(
    st.text(st.characters(codec=None), max_size=300),
    st.lists(st.one_of(_nasty, st.text(max_size=5)), max_size=60).map("".join),
    st.builds(lambda part, times: part * times, st.text(min_size=1, max_size=3), st.integers(1, 5000)),
)
_hits = st.lists(
    st.builds(
        Hit,
        rank=st.just(1),
        score=st.just(0.9),
        kind=st.sampled_from(_kinds),
        name=_text,
        description=_text,
        path=_text,
        project=st.just(""),
        date=st.one_of(st.none(), st.just("2026-08-14"), _text),
    ),
    max_size=8,
)


@given(_hits, st.sampled_from(_languages), st.integers(0, 4096))
@example([Hit(1, 0.9, "memory", "n" * 100_000, "\ud800" * 100_000, "/p", "")], "en", 1024)
def test_the_line_is_valid_json_within_its_budget(hits: list[Hit], language: Language, limit: int) -> None:
    printed = render(hits, language, limit)
    line = printed.line if printed else None
    if line is None:
        return
    assert len(line.encode("utf-8")) <= limit
    assert line.endswith("}}\n")
    assert len(line.splitlines()) == 1
    output = json.loads(line)
    assert set(output) == {"hookSpecificOutput"}
    assert set(output["hookSpecificOutput"]) == {"hookEventName", "additionalContext"}
    header, *headlines = output["hookSpecificOutput"]["additionalContext"].splitlines()
    assert header == HEADERS[language]
    assert 1 <= len(headlines) <= min(len(hits), MAX_HEADLINES)
    labels = tuple(f"[{label}] " for label in LABELS.values())
    assert all(headline.startswith(labels) for headline in headlines)


@given(_hits, st.sampled_from(_languages))
def test_a_budget_of_exactly_the_size_changes_nothing(hits: list[Hit], language: Language) -> None:
    printed = render(hits, language, 1_000_000)
    line = printed.line if printed else None
    if line is not None:
        assert render(hits, language, len(line.encode("utf-8"))) == printed
