"""Records in the forms that people write, parsed as expected.json says; the records are listed in their NOTICE."""

import json
from pathlib import Path
from typing import Any

import pytest

from recall.core.types import FoundFile
from recall.sources.decisions import Decision, parse_decision
from recall.sources.knowledge import read

GOLDEN = Path(__file__).parents[2] / "golden/decisions"
EXPECTED: dict[str, dict[str, Any]] = json.loads((GOLDEN / "expected.json").read_text(encoding="utf-8"))


def parsed(body: str, stem: str = "a-record", title: str = "A record", **fields: str) -> Decision:
    return parse_decision(fields, title, body, stem)


def test_every_golden_record_has_its_expectation() -> None:
    assert {path.relative_to(GOLDEN).as_posix() for path in GOLDEN.rglob("*.md")} == EXPECTED.keys()


@pytest.mark.parametrize("name", EXPECTED)
def test_a_record_is_read_as_expected(name: str) -> None:
    path = GOLDEN / name
    document = read(FoundFile("knowledge", str(path), "p", 1, 1))
    successor_path = document.successor_path and Path(document.successor_path).relative_to(path.parent).as_posix()
    assert {
        "name": document.name,
        "description": document.description,
        "date": document.date,
        "language": document.language,
        "successor": document.successor,
        "successor_path": successor_path,
    } == EXPECTED[name]


def test_the_number_of_the_file_stands_for_that_of_the_heading() -> None:
    assert parsed("", "0007-x", "ADR-7: Use X").name == "0007 Use X"
    assert parsed("", "0007-x", "7. Use X").name == "0007 Use X"
    assert parsed("", "0007-x", "[ADR 007] Use X").name == "0007 Use X"
    assert parsed("", "0007-x", "Use X").name == "0007 Use X"
    assert parsed("", "adr-0007-x", "Use X").name == "0007 Use X"


def test_a_heading_with_another_number_than_its_file_keeps_its_own() -> None:
    assert parsed("", "0007-x", "ADR-12: Use X").name == "12 Use X"


def test_a_number_that_belongs_to_the_words_stays_there() -> None:
    assert parsed("", "layers", "3 layers of memory").name == "3 layers of memory"
    assert parsed("", "python", "2.0 is the first version").name == "2.0 is the first version"
    assert parsed("", "0003-three", "Keep 3 copies").name == "0003 Keep 3 copies"


def test_a_day_in_the_name_of_a_file_is_no_number_but_its_date() -> None:
    for stem in ("2024-01-05-use-fish", "20240105-use-fish"):
        assert (parsed("", stem).number, parsed("", stem).date) == ("", "2024-01-05")


def test_a_title_in_the_frontmatter_goes_before_the_heading() -> None:
    assert parse_decision({"title": "Use X"}, "Heading", "# Heading", "a").title == "Use X"


def test_the_marks_of_markdown_are_no_part_of_a_title() -> None:
    assert parsed("", title="Use [`X`](x.md) **now**").title == "Use X now"


def test_the_decision_describes_the_record_and_its_context_where_there_is_none() -> None:
    context = "# T\n\n## Context\n\nIt was slow, and nobody knew why it was.\n"
    both = context + "\n## Decision\n\nWe measure each step from now on, every day.\n"
    assert parsed(both).description == "We measure each step from now on, every day."
    assert parsed(context).description == "It was slow, and nobody knew why it was."


def test_status_and_date_never_describe_a_record() -> None:
    fields = "# T\n\n- Status: accepted\n- Date: 2024-01-01\n\n## Status\n\naccepted\n"
    body = fields + "\n## Notes\n\nIndent with four spaces.\n"
    assert parsed(body).description == "Indent with four spaces."


def test_what_drives_a_decision_is_not_the_decision() -> None:
    body = "# T\n\n## Decision Drivers\n\n- cost\n\n## Decision Outcome\n\nChosen option: the cheapest of the three.\n"
    assert parsed(body).description == "Chosen option: the cheapest of the three."


def test_a_superseded_line_counts_before_the_accepted_one_above_it() -> None:
    body = "# T\n\n## Status\n\nAccepted\nSuperseded by [3. Y](0003-y.md)\n"
    decision = parsed(body)
    assert decision.status == "superseded"
    assert decision.successor and decision.successor.target == "0003-y.md"


def test_a_successor_among_the_links_counts() -> None:
    body = "# T\n\n- Status: accepted\n\n## Decision\n\nX.\n\n## Links\n\n- Superseded by [ADR-0003](0003-y.md)\n"
    assert parsed(body).status == "superseded"


def test_a_field_that_names_no_successor_says_nothing() -> None:
    for value in ("none", "N/A", "-", "なし"):
        decision = parsed(f"# T\n\n- Status: accepted\n- Superseded-by: {value}\n", **{"superseded-by": value})
        assert (decision.status, decision.successor) == ("accepted", None)


def test_code_and_comments_say_nothing() -> None:
    body = "# T\n\n<!-- Status: rejected -->\n\n```\n## Status\n\nrejected\n```\n\n## Status\n\naccepted\n"
    assert parsed(body).status == "accepted"


def test_a_day_that_does_not_exist_is_no_date() -> None:
    assert parsed("# T\n\nDate: 2024-02-31\n").date is None


def test_a_rule_without_any_of_this_is_in_force() -> None:
    decision = parsed("# Use spaces\n\nIndent with four spaces, never tabs, in all files.\n", "style", "Use spaces")
    assert decision == Decision(
        "", "Use spaces", None, None, "Indent with four spaces, never tabs, in all files.", None
    )
