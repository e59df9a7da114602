import pytest

from recall.sources.titles import first_sentence, says_nothing, title_of


@pytest.mark.parametrize(
    "title",
    [
        "",
        "  \n ",
        "https://example.com/a?b=c#d",
        "www.example.com/x",
        "/clear",
        "/home/me/notes.md",
        "!ls -la",
        "<command-name>/init</command-name>",
        "<task> do it",
        "🚀",
        "👍 👍🏽",
        "...",
        "[masked: github-pat]",
        "x" * 201,
    ],
)
def test_a_title_that_tells_nothing_is_known(title: str) -> None:
    assert says_nothing(title)


@pytest.mark.parametrize(
    "title",
    [
        "Fix login",
        "保存期間",
        "🚀 Release 2.0",
        "Why https://example.com is down",
        "/review the tokens",
        "a < b in the sorter",
        "token [masked: github-pat] leaked",
        "x" * 200,
    ],
)
def test_a_title_that_tells_something_is_kept(title: str) -> None:
    assert not says_nothing(title)


@pytest.mark.parametrize(
    ("message", "sentence"),
    [
        ("Rename it. Then test.", "Rename it."),
        ("Is v1.2.3 out? I think so.", "Is v1.2.3 out?"),
        ("\n\n  Rename it\nand test it", "Rename it"),
        ("保存期間を変えて。次にテスト。", "保存期間を変えて。"),
        ("word " * 40, "word " * 15 + "word…"),
        ("https://example.com", ""),
        ("🚀", ""),
        ("", ""),
    ],
)
def test_the_first_sentence_of_a_message_is_cut_and_empty_when_it_tells_nothing(message: str, sentence: str) -> None:
    assert first_sentence(message) == sentence
    assert len(first_sentence(message)) <= 80


def test_the_strongest_record_names_the_session() -> None:
    titles = {"summary": "d", "last-prompt": "c", "ai-title": "b", "custom-title": "a"}
    for expected in "abcd":
        assert title_of(titles, "e") == expected
        titles.pop(next(record for record, title in titles.items() if title == expected))
    assert title_of(titles, "e") == "e"


def test_a_strongest_record_that_says_nothing_is_replaced_by_the_sentence() -> None:
    assert title_of({"custom-title": "", "ai-title": "b"}, "e") == "e"
    assert title_of({"ai-title": ""}, "") == ""
