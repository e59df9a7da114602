"""Questions about identifiers are made of those that stand in one record alone."""

from pathlib import Path

from recall.core.types import Document
from recall.evals.names import FORMS, name_questions


def record(name: str, body: str, group: str | None = None) -> Document:
    return Document("memory", f"/notes/{name}.md", "/notes", name, "", body, group=group)


def test_a_record_is_asked_for_by_the_first_identifier_that_it_alone_has() -> None:
    documents = [
        record("one", "Set MAX_TOKENS and tokenLimit before the start."),
        record("two", "The variable maxTokens is read late."),
        record("three", "Nothing but words here."),
    ]
    questions = name_questions(Path("/notes"), documents)
    assert [question.query for question in questions[:1]] == [FORMS[0][1].format("tokenLimit")]
    assert {path for question in questions for path in question.relevant} == {"one.md"}
    assert len(questions) == len(FORMS)


def test_the_versions_of_a_record_are_one() -> None:
    documents = [record("a", "see E0502", "a"), record("a.ja", "E0502 を見る", "a")]
    (question, *_) = name_questions(Path("/notes"), documents)
    assert question.relevant == {"a.md", "a.ja.md"}
