"""The skill: what Claude is told to type must be what the program takes, and its example what the program reads."""

import re
import shlex
from pathlib import Path

import pytest

from recall.cli.main import COMMANDS, parser
from recall.core.types import FoundFile
from recall.sources.memory import read
from recall.text.frontmatter import parse

SKILL = Path(__file__).resolve().parents[3] / "plugin" / "skills" / "recall" / "SKILL.md"
TEXT = SKILL.read_text("utf-8")

_BLOCKS = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"\(?(recall [a-z-]+(?: [a-z]+)* [0-9a-f]{6})\)")
LINES = [line for block in _BLOCKS.findall(TEXT) for line in block.splitlines()] + _INLINE.findall(TEXT)


def test_every_command_that_the_skill_is_about_stands_in_it() -> None:
    commands = {line.split()[1] for line in LINES}
    assert commands == {"query", "why", "why-not", "mute", "unmute", "share"}
    assert any("--repo" in line for line in LINES)


@pytest.mark.parametrize("line", LINES)
def test_the_program_takes_what_the_skill_says(line: str) -> None:
    program, *words = shlex.split(line)
    if words[0] == "share" and "share" not in COMMANDS:
        pytest.skip("sharing is not built yet")
    asked = parser(words[0]).parse_args(words)  # a usage error ends with SystemExit
    assert (program, asked.command) == ("recall", words[0])


def test_the_example_of_a_note_is_one(tmp_path: Path) -> None:
    (example,) = re.findall(r"^```markdown\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
    path = tmp_path / "staging-port.md"
    path.write_text(example, encoding="utf-8")
    note = read(FoundFile("memory", str(path), "/p", len(example), 0))
    assert note.name == path.stem
    assert note.description.startswith("The staging database listens on port 6543")
    assert len(note.description) < 150


def test_the_skill_is_found_and_stays_short() -> None:
    note = parse(TEXT)
    assert note.name == "recall"
    assert len(note.description) <= 1024  # Claude Code's limit for the description of a skill
    assert len(TEXT.splitlines()) < 100
