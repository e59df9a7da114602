"""Questions by a name: what a person asks about an identifier that stands in one record alone."""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from recall.core.types import Document
from recall.evals.questions import Question
from recall.evals.records import unit_of
from recall.text.words import identifiers, terms

#: What is asked about a name; the words around it tell nothing.
FORMS = (
    ("en", "what do I have to know about {}?"),
    ("ja", "{} がうまく動かない、何か決めてあった？"),
    ("en", "add another call of {} to the module and wire it up"),
)


def name_questions(folder: Path, documents: Iterable[Document]) -> list[Question]:
    """Three questions about each record of a corpus that has an identifier no other record has; of several the first
    in its text. Versions of a record are one."""
    units: dict[str, list[Document]] = {}
    for document in documents:
        units.setdefault(unit_of(document.path, document.group), []).append(document)
    words = {unit: {term for version in versions for term in terms(_text(version))} for unit, versions in units.items()}
    holders = Counter(term for own in words.values() for term in own)
    return [
        Question(f"{name}-{number}", form.format(name), language, _paths(folder, versions))
        for versions in units.values()
        if (name := next((one for one in identifiers(_text(versions[0])) if holders[terms(one)[0]] == 1), None))
        for number, (language, form) in enumerate(FORMS)
    ]


def _paths(folder: Path, documents: Sequence[Document]) -> frozenset[str]:
    return frozenset(Path(document.path).relative_to(folder).as_posix() for document in documents)


def _text(document: Document) -> str:
    return f"{document.name}\n{document.description}\n{document.body}"
