"""Ten questions in a row, typed into one session of the real Claude Code client: each gets its own note or record.

The project's memory folder holds all 107 notes of one public collection, its docs/adr all 97 decision records of
another, in English and Japanese; each question has to bring its own out of all these. The collections, with the
questions about them, are too large for this repository and are read from ../shared/corpora.

The ten are among those that the bundled model finds; it does not find every one. README.md says how many it finds in
all, with each collection as a project of its own. Here both are in one project, and it finds fewer. A change of the
search or the gate can lose one of the ten: `recall why` and `recall query --auto` tell the reason.
"""

import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from claude_code.client import Client
from claude_code.person import Person
from recall.evals.questions import Question, read_questions
from terminal import missing

CORPORA = Path(__file__).resolve().parents[3] / "shared" / "corpora"
NOTES, RECORDS = CORPORA / "resoniteio-memory", CORPORA / "contemplative-agent-adr"

pytestmark = [
    pytest.mark.claude_code,
    pytest.mark.skipif(missing() is not None, reason=str(missing())),
    pytest.mark.skipif(
        not (NOTES.is_dir() and RECORDS.is_dir()),
        reason="needs the public notes and questions in ../shared/corpora; they are not part of this repository",
    ),
]

#: The ids of the questions in the two queries.jsonl, in the order in which they are typed. None of the right notes is
#: shown for an earlier question of these: the same headline comes once a session.
IN_A_ROW = (
    "rio-040",  # Japanese, of a memory note
    "ca-0050",  # English, of a decision record
    "rio-028",
    "ca-0059",
    "rio-046",  # Japanese, of a memory note in English
    "ca-0017",  # Japanese, of a decision record
    "ca-0070",
    "rio-026",
    "ca-0076",
    "ca-0092",  # after ca-0017, whose record would be shown here as well
)

#: Seconds to embed some 1,700 chunks on two cores that have other work to do: generous.
INDEX_SECONDS = 900.0


def test_ten_questions_in_a_row_each_get_their_own_note_from_among_all(person: Person, client: Client) -> None:
    questions = _questions()
    client.print_mode(
        "who won the world cup in 1998?"
    )  # the records of a repository count once Claude Code has run there
    person.set_up()
    memory = _add_all_notes_and_records(person)

    with client.terminal() as terminal:
        added = [terminal.type(question.query) for question in questions]
        assert terminal.notices() == []

    without = {
        question.query: text
        for question, text in zip(questions, added, strict=True)
        if _own(question, person, memory).isdisjoint(_files(text))
    }
    assert without == {}
    hook = person.status()["hook"]["last_24h"]
    assert (hook["asked"], hook["shown"], hook["timeouts"]) == (10, 10, 0)


def _questions() -> list[Question]:
    """The ten, word for word as they stand in the collections."""
    known = {q.id: q for folder in (NOTES, RECORDS) for q in read_questions(folder / "queries.jsonl")}
    questions = [known[name] for name in IN_A_ROW]
    assert Counter(question.lang for question in questions) == {"ja": 6, "en": 4}
    own = [path for question in questions for path in question.relevant]
    assert len(set(own)) == len(own), "each question must have a note of its own"
    return questions


def _add_all_notes_and_records(person: Person) -> Path:
    """Give the project both collections, whole, and index them. Returns the folder of the memory notes."""
    (memory,) = person.settings.parent.glob("projects/*/memory")
    shutil.copytree(NOTES / "memory", memory, dirs_exist_ok=True)  # some of them are there, unchanged
    shutil.copytree(RECORDS / "docs" / "adr", person.project / "docs" / "adr")
    subprocess.run(
        [sys.executable, "-m", "recall", "index"], cwd=person.project, env=person.environment, check=True,
        stdin=subprocess.DEVNULL, capture_output=True, timeout=INDEX_SECONDS,
    )  # fmt: skip
    documents = person.status()["index"]["documents"]
    assert (documents["memory"], documents["knowledge"]) == (107, 2 * 97)
    return memory


def _own(question: Question, person: Person, memory: Path) -> set[str]:
    """The files of the note or record that answers the question; a record may be shown in either language."""
    roots = {"memory": memory.parent, "docs": person.project}
    return {str(roots[Path(path).parts[0]] / path) for path in question.relevant}


def _files(added: str | None) -> set[str]:
    """The files whose headlines were handed over: each line ends with its path in brackets."""
    return set(re.findall(r" \((/[^()]*)\)$", added or "", re.MULTILINE))
