"""The READMEs and the changelog tell the truth about commands, settings, options and the version."""

import argparse
import re
from pathlib import Path

import pytest

from recall.cli.main import COMMANDS, parser
from recall.core.config import SETTINGS
from recall.version import BUILD, VERSION

ROOT = Path(__file__).resolve().parents[2]
READMES = ("README.md", "README.ja.md")


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def rows(name: str, column: str) -> dict[str, str]:
    """The rows of the tables whose first cell begins with this, first cell -> the rest."""
    found = re.findall(rf"^\| `{column}([^`]*)` \| (.*) \|$", text(name), flags=re.MULTILINE)
    return {first.strip(): rest for first, rest in found}


def options(command: str) -> set[str]:
    """The long options of a command and of the verbs below it."""
    return _options(_commands(parser())[command]) - {"--help", "--home"}


def _options(of: argparse.ArgumentParser) -> set[str]:
    shown = [action for action in of._actions if action.help != argparse.SUPPRESS]
    found = {word for action in shown for word in action.option_strings if word.startswith("--")}
    return found.union(*map(_options, _commands(of).values()))


def _commands(of: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    found: dict[str, argparse.ArgumentParser] = {}
    for action in of._actions:
        if isinstance(action, argparse._SubParsersAction):
            found.update(action.choices)
    return found


@pytest.mark.parametrize("name", READMES)
def test_every_command_is_documented_with_its_options_and_no_other(name: str) -> None:
    documented: dict[str, str] = {}
    for first, rest in rows(name, "recall ").items():
        command = first.split()[0]
        documented[command] = documented.get(command, "") + rest  # a row for each verb
    assert set(documented) == set(COMMANDS)
    for command in COMMANDS:
        assert set(re.findall(r"--[a-z-]+", documented[command])) == options(command), command


@pytest.mark.parametrize("name", READMES)
def test_every_setting_is_documented_with_its_default_and_no_other(name: str) -> None:
    documented = dict(re.findall(r"^\| `([a-z_.]+)` \| `([^`]*)` \|", text(name), flags=re.MULTILINE))
    words = {True: "true", False: "false"}
    expected = {}
    for setting in SETTINGS:
        value = setting.default
        quoted = f'"{value}"' if isinstance(value, str) else words[value] if isinstance(value, bool) else str(value)
        quoted = quoted.replace("'", '"')
        expected[setting.key] = quoted
    assert documented == expected


@pytest.mark.parametrize("name", READMES)
def test_the_two_commands_stand_in_the_readme_and_ci_runs_the_second(name: str) -> None:
    assert "python3 tools/dev.py demo" in text(name)
    assert "python3 tools/dev.py check" in text(name)
    assert "tools/dev.py check" in text(".ci/run")


@pytest.mark.parametrize("name", [*READMES, "models/README.md"])
def test_links_and_named_files_exist(name: str) -> None:
    folder = (ROOT / name).parent
    for target in re.findall(r"\]\(([^)#:]+)\)", text(name)):
        assert (folder / target).exists(), target
    for path in re.findall(r"(?<![\w/.])tools/[a-z0-9_]+\.py", text(name)):
        assert (ROOT / path).exists(), path


def test_the_changelog_begins_with_this_version() -> None:
    found = re.search(r"^## \[(.+?)\]", text("CHANGELOG.md"), flags=re.MULTILINE)
    assert found
    assert found[1] == VERSION


def test_the_build_follows_from_the_version() -> None:
    major, minor, patch = map(int, VERSION.split("."))
    assert major * 1_000_000 + minor * 1_000 + patch == BUILD
