"""No text makes the frontmatter reader fail, and what YAML can say comes back as it was meant."""

import yaml
from hypothesis import given
from hypothesis import strategies as st

from recall.text.clean import one_line
from recall.text.frontmatter import parse

LINES = st.lists(
    st.one_of(
        st.sampled_from(
            ["---", "...", "", "# H", "```", "name: n", "description: |", "metadata: ", "  type: user", "x: ["]
        ),
        st.sampled_from(
            ["description: a: b", "description: &a [*a]", "name: !!python/object:os.system x", "\tname: n"]
        ),
        st.text(st.characters(exclude_categories=["Cs"]), max_size=30),
    ),
    max_size=12,
)
WORDS = st.text(st.characters(categories=["L", "N", "P", "S", "Zs"], codec="utf-8"), min_size=1, max_size=80)


@given(LINES)
def test_any_text_is_a_note(lines: list[str]) -> None:
    note = parse("\n".join(lines))
    for part in (note.name, note.description, note.type):
        assert part == one_line(part)


@given(WORDS, WORDS)
def test_values_that_yaml_wrote_come_back(name: str, description: str) -> None:
    fields = {"name": one_line(name) or "n", "description": one_line(description) or "d"}
    for style in ("'", '"'):
        block = yaml.safe_dump(fields, default_style=style, allow_unicode=True, width=10_000)
        note = parse(f"---\n{block}---\nBody.")
        assert {"name": note.name, "description": note.description} == fields
        assert note.body == "Body."


@given(WORDS)
def test_a_description_without_quotes_loses_nothing(words: str) -> None:
    typed = one_line(words)
    if typed and typed[0] not in "\"'[{|>-~" and typed.lower() != "null":
        assert parse(f"---\nname: n\ndescription: {typed}\n---").description == typed
