"""Whatever a record holds, reading it never fails, and resolving successors always ends."""

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from recall.core.types import Hit, Kind
from recall.search.groups import prefer_language, succeed, versions_by_group
from recall.sources.decisions import parse_decision
from recall.sources.status import OUT_OF_FORCE, read_status
from recall.sources.succession import resolve
from recall.text.clean import one_line
from recall.text.summary import MAX_SUMMARY_CHARACTERS, first_sentences

PIECES = st.sampled_from(
    [
        *"# ADR-0007: Use X|## Status|superseded by|[ADR-0031](0031-y.md)|accepted|- Status:|Date: 2024-01-02".split(
            "|"
        ),
        *"<!--|-->|```|---|により置き換え|廃止|**|~~|[[0031]]|> |1. |(|)|2024年1月2日|## Decision|。|{|:|0031".split(
            "|"
        ),
        *("|", "|---|---|", "We use X. And Y."),
    ]
)
MARKDOWN = st.lists(st.one_of(PIECES, st.sampled_from(["\n", "\n\n", " "]), st.text(max_size=8)), max_size=60).map(
    "".join
)


@given(
    st.dictionaries(st.sampled_from(["status", "date", "title", "superseded-by", "description"]), MARKDOWN), MARKDOWN
)
def test_any_text_is_a_record(fields: dict[str, str], body: str) -> None:
    decision = parse_decision(fields, "A title", body, "0007-x")
    assert (decision.successor is not None) == (decision.status in OUT_OF_FORCE)
    assert decision.title
    for text in (decision.name, decision.description):
        assert text == one_line(text)


@given(MARKDOWN)
def test_a_summary_is_one_line_within_its_length(text: str) -> None:
    summary = first_sentences(text)
    assert len(summary) <= MAX_SUMMARY_CHARACTERS
    assert "\n" not in summary


@given(MARKDOWN, st.booleans())
def test_only_a_record_out_of_force_has_a_successor(line: str, first: bool) -> None:
    statement = read_status(line.replace("\n", " "), first=first)
    assert statement is None or statement.successor is None or statement.status in OUT_OF_FORCE


@dataclass(frozen=True)
class Row:
    path: str
    name: str
    successor: str | None
    successor_path: str | None
    language: str | None
    group: str | None
    project: str
    description: str = ""
    date: str | None = None
    kind: Kind = "knowledge"
    session: str | None = None
    sessions: frozenset[str] = frozenset()
    origin: str | None = None
    person: str | None = None


@st.composite
def rows(draw: st.DrawFn) -> list[Row]:
    """Up to eight records of two projects in two languages that point at one another in any way."""
    numbers = st.integers(0, 7)
    made = []
    for number in range(draw(numbers)):
        successor = draw(st.one_of(st.none(), st.just(""), numbers.map(str), st.just("nobody")))
        linked = draw(st.one_of(st.none(), numbers)) if successor is not None else None
        link = f"/d/{linked}.md" if linked is not None else None
        language = draw(st.sampled_from(["en", "ja", None]))
        project = draw(st.sampled_from(["p", "q"]))
        group = draw(st.sampled_from([None, f"{project}:g", f"{project}:h"]))
        made.append(Row(f"/d/{number}.md", f"{number} T", successor, link, language, group, project))
    return made


@given(rows())
def test_successors_are_records_of_the_same_project(records: list[Row]) -> None:
    found = resolve(records)
    projects = {record.path: record.project for record in records}
    for record in records:
        if record.successor is not None:
            assert record.path in found
        succession = found.get(record.path)
        if succession and succession.path is not None:
            assert projects[succession.path] == record.project
            assert succession.path != record.path


@given(rows(), st.lists(st.integers(0, 7), unique=True, max_size=8), st.sampled_from(["en", "ja", None]))
def test_no_record_stands_before_its_successor(records: list[Row], order: list[int], language: str | None) -> None:
    found = [records[index] for index in order if index < len(records)]
    hits = [
        Hit(
            rank=rank,
            score=1 - rank / 100,
            kind="knowledge",
            name=row.name,
            description=row.description,
            path=row.path,
            project=row.project,
            language=row.language,
            group=row.group,
            successor=row.successor,
            successor_path=row.successor_path,
        )
        for rank, row in enumerate(found, start=1)
    ]
    versions = versions_by_group(records)
    shown = succeed(prefer_language(hits, language, versions), versions)
    assert [hit.rank for hit in shown] == list(range(1, len(shown) + 1))
    groups = [hit.group for hit in shown if hit.group]
    assert len(groups) == len(set(groups))
    in_force = {hit.path: hit.rank for hit in shown if hit.successor is None}
    for hit in shown:
        assert hit.successor != ""
        assert in_force.get(hit.successor_path or "", 0) < hit.rank
