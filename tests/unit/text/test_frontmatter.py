import pytest

from recall.text.frontmatter import MAX_FRONTMATTER_CHARACTERS, MAX_NAME_CHARACTERS, Note, parse


def note(*lines: str) -> Note:
    return parse("\n".join(lines))


def test_the_flat_shape() -> None:
    assert note("---", "name: a-name", "description: What it says", "type: feedback", "---", "", "Body.", "") == Note(
        "a-name", "What it says", "feedback", "Body."
    )


def test_the_nested_shape_with_a_space_behind_metadata() -> None:
    assert note(
        "---",
        "name: a-name",
        'description: "What it says"',
        "metadata: ",
        "  node_type: memory",
        "  type: project",
        "  originSessionId: 3a6238dd",
        "  modified: 2026-08-14T10:00:00Z",
        "---",
        "Body.",
    ) == Note("a-name", "What it says", "project", "Body.")


def test_name_and_description_may_stand_under_metadata() -> None:
    assert note("---", "metadata:", "  name: inner", "  description: deep", "---", "B") == Note(
        "inner", "deep", "", "B"
    )
    assert note("---", "metadata:", "  name: inner", "name: outer", "---").name == "outer"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("plain words", "plain words"),
        ("'single ''quoted'''", "single 'quoted'"),
        (r'"double \"quoted\" caf\u00e9"', 'double "quoted" café'),
        ('why: "because" and: more', 'why: "because" and: more'),
        ('"foo" and "bar"', '"foo" and "bar"'),
        ('"foo" is not bar', '"foo" is not bar'),
        ("see issue #12 and # the rest", "see issue #12 and # the rest"),
        ('"quoted" # a real comment', "quoted"),
        ("*important* thing", "*important* thing"),
        ("&name thing", "&name thing"),
        ("!important thing", "!important thing"),
        ("`code` first", "`code` first"),
        ("@mention first", "@mention first"),
        ("% of all", "% of all"),
        ("[WIP] not a list", "[WIP] not a list"),
        ("[one, two]", "one, two"),
        ("{template}", "{template}"),
        ("{{template}} text", "{{template}} text"),
        ("2026-08-14", "2026-08-14"),
        ("12:30", "12:30"),
        ("1_000", "1_000"),
        ("0x10", "0x10"),
        ("yes", "yes"),
        ("null", ""),
        ("~", ""),
        ("", ""),
        ("tab\there", "tab here"),
        ("trailing colon:", "trailing colon:"),
        ("URL https://example.com/a#b", "URL https://example.com/a#b"),
        ("hidden\u202e\u200b text", "hidden text"),
    ],
)
def test_a_description_is_the_text_that_stands_in_the_line(line: str, expected: str) -> None:
    assert note("---", "name: n", f"description: {line}", "type: user", "---", "Body.") == Note(
        "n", expected, "user", "Body."
    )


@pytest.mark.parametrize("mark", ["|", ">", "|-", ">-", ">+", "|2"])
def test_a_block_of_lines_becomes_one_line(mark: str) -> None:
    assert note("---", f"description: {mark}", "  first: line", "  second # line", "name: n", "---") == Note(
        "n", "first: line second # line", "", ""
    )


def test_a_wrapped_description_is_joined_even_where_it_breaks_the_yaml() -> None:
    assert note("---", "description: first", "  second", "name: n", "---").description == "first second"
    assert (
        note("---", "description: why: x", "  second", "third", "name: n", "---").description == "why: x second third"
    )


def test_a_list_below_a_key_is_joined() -> None:
    assert note("---", "description:", "  - one", "  - two", "name: n", "---").description == "one, two"
    assert note("---", "description:", "- one", "- two", "name: n", "---").description == "one, two"


def test_one_broken_line_does_not_cost_the_others() -> None:
    broken = note("---", "name: n", "description: a: b: c", "metadata: ", "  type: user", "other: [", "---", "Body.")
    assert broken == Note("n", "a: b: c", "user", "Body.")


def test_keys_may_be_upper_case_or_quoted_and_comments_may_stand_between() -> None:
    assert note("---", "# comment", "Name: n", '"description": d', "# comment", "---") == Note("n", "d", "", "")


def test_a_comment_behind_the_type_is_a_comment() -> None:
    assert note("---", "type: user # or feedback", "---").type == "user"


def test_closing_dots_and_spaces_behind_the_dashes_are_accepted() -> None:
    assert note("--- ", "name: n", "...", "Body.") == Note("n", "", "", "Body.")


def test_blank_lines_may_stand_before_and_in_the_frontmatter() -> None:
    assert note("", "---", "name: n", "", "description: d", "---", "Body.") == Note("n", "d", "", "Body.")


def test_without_frontmatter_the_first_heading_is_the_name() -> None:
    assert note("Some words.", "", "## The *heading* ##", "", "# Another") == Note(
        "The *heading*", "", "", "Some words.\n\n## The *heading* ##\n\n# Another"
    )
    assert note("# About C#").name == "About C#"


def test_a_comment_in_code_is_no_heading() -> None:
    assert note("```sh", "# a comment", "```", "# The heading").name == "The heading"


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("Just words", "Just words"),
        ("- [ ] a task", "a task"),
        ("> quoted", "quoted"),
        ("1. first", "first"),
        ("**Why:** because", "**Why:** because"),
        ("#no-space", "#no-space"),
    ],
)
def test_without_a_heading_the_first_line_with_words_is_the_name(line: str, name: str) -> None:
    assert note("", "***", line, "more").name == name


def test_frontmatter_without_a_name_leaves_the_name_to_the_body() -> None:
    assert note("---", "description: d", "---", "# Heading", "Text") == Note("Heading", "d", "", "# Heading\nText")
    assert note("---", "name: null", "---", "# Heading").name == "Heading"
    assert note("---", "name: \u200b", "---", "# Heading").name == "Heading"


def test_prose_between_two_rules_is_body() -> None:
    assert note("---", "Not a field.", "---", "More.") == Note("Not a field.", "", "", "Not a field.\n---\nMore.")


def test_frontmatter_that_is_never_closed_ends_at_the_first_blank_line() -> None:
    assert note("---", "name: n", "description: d", "", "# Heading", "Text: more") == Note(
        "n", "d", "", "# Heading\nText: more"
    )
    assert note("---", "name: n") == Note("n", "", "", "")


def test_a_rule_far_down_does_not_close_it() -> None:
    assert note("---", "name: n", "", "Prose.", "", "---", "More.") == Note("n", "", "", "Prose.\n\n---\nMore.")


@pytest.mark.parametrize("text", ["", "\n\n", "---", "---\n", "---\n---", "---\n---\n\n"])
def test_a_file_without_text_is_empty(text: str) -> None:
    assert parse(text).name == parse(text).description == ""


def test_a_heading_below_a_rule_that_opens_the_note_stays() -> None:
    assert note("---", "# Heading", "", "Text").name == "Heading"


def test_a_name_is_cut_to_a_length_that_leaves_room_for_text() -> None:
    assert len(note("---", "name: " + "n" * 5000, "---").name) == MAX_NAME_CHARACTERS
    assert len(note("w" * 5000).name) == MAX_NAME_CHARACTERS


def test_frontmatter_beyond_its_limit_is_body() -> None:
    huge = note("---", "name: n", "description: " + "d" * MAX_FRONTMATTER_CHARACTERS, "---", "Body.")
    assert huge.description == ""
    assert huge.body.startswith("name: n")
    assert huge.body.endswith("Body.")


def test_yaml_that_multiplies_itself_stays_small() -> None:
    bomb = [f"k{n}: &k{n} [{', '.join([f'*k{n - 1}'] * 10)}]" if n else "k0: &k0 [x]" for n in range(30)]
    found = note("---", *bomb, "description: *k29", "name: n", "---", "Body.")
    assert found == Note("n", "*k29", "", "Body.")


@pytest.mark.parametrize("deep", ["[" * 8000, "[" * 4000 + "]" * 4000, "{a: " * 4000])
def test_yaml_nested_too_deep_is_read_by_line(deep: str) -> None:
    assert note("---", "name: n", f"x: {deep}", "---", "Body.") == Note("n", "", "", "Body.")


def test_deep_indentation_is_read_by_line() -> None:
    deep = [" " * depth + "a:" for depth in range(170)]
    assert note("---", "name: n", *deep, "---", "Body.").name == "n"


def test_invisible_characters_leave_the_body_and_its_lines_stay() -> None:
    assert note("# H", "", "a\u200bb\U000e0041", "\tc").body == "# H\n\nab\n\tc"
