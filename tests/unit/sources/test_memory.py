import json
import os
from pathlib import Path

import pytest

from recall.core.errors import SourceError
from recall.core.types import SHARED, Document, FoundFile
from recall.sources.memory import Scan, read, scan
from recall.sources.projects import discover, encode

NOTE = "---\nname: a-name\ndescription: What it says\ntype: feedback\n---\n\nThe body.\n"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = Path(os.path.realpath(tmp_path)) / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("USERPROFILE", str(folder))
    return folder


@pytest.fixture
def claude(home: Path) -> Path:
    folder = home / ".claude"
    folder.mkdir()
    return folder


def put(path: Path, text: str = NOTE) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def session(claude: Path, cwd: Path) -> Path:
    """A repository with one session; its folder under `<claude>/projects/`."""
    (cwd / ".git").mkdir(parents=True, exist_ok=True)
    folder = claude / "projects" / encode(str(cwd))
    put(folder / "s.jsonl", json.dumps({"type": "user", "cwd": str(cwd)}) + "\n")
    return folder


def owners(found: Scan) -> dict[str, str]:
    return {file.path: file.project for file in found.files}


def found_file(path: Path, project: str = "p") -> FoundFile:
    return FoundFile("memory", str(path), project, 1, 1)


def test_the_notes_of_all_projects_are_found_with_their_project(claude: Path, home: Path) -> None:
    folder = session(claude, home / "app")
    one = put(folder / "memory/a.md")
    two = put(folder / "memory/agents/x/b.md")
    three = put(claude / "projects/-other/memory/c.md")
    put(folder / "memory/MEMORY.md")
    put(folder / "not-memory/d.md")
    put(claude / "projects/stray.md")
    found = scan([claude])
    assert owners(found) == {str(one): str(home / "app"), str(two): str(home / "app"), str(three): "-other"}
    assert found.skipped == []
    assert {project.name for project in found.projects} == {"app", "other"}


def test_a_found_file_tells_what_shows_a_change(claude: Path) -> None:
    note = put(claude / "projects/-p/memory/a.md")
    os.utime(note, ns=(1, 1_800_000_000_123_456_700))
    assert scan([claude]).files == [
        FoundFile("memory", str(note), "-p", len(NOTE), note.stat().st_mtime_ns),
    ]


def test_missing_folders_are_empty(claude: Path, home: Path) -> None:
    found = scan([claude, home / "nowhere"])
    assert (found.files, found.skipped) == ([], [])


def test_projects_that_are_known_are_not_looked_for_again(claude: Path, home: Path) -> None:
    note = put(session(claude, home / "app") / "memory/a.md")
    projects = discover([claude])
    found = scan([claude], projects)
    assert found.projects is projects
    assert owners(found) == {str(note): str(home / "app")}


def test_notes_of_subagents_of_the_person_are_shared(claude: Path) -> None:
    note = put(claude / "agent-memory/reviewer/a.md")
    put(claude / "agent-memory/reviewer/MEMORY.md")
    assert owners(scan([claude])) == {str(note): SHARED}


def test_notes_of_subagents_of_a_trusted_repository_are_the_projects(claude: Path, home: Path) -> None:
    session(claude, home / "app")
    put(home / ".claude.json", json.dumps({"projects": {str(home / "app"): {"hasTrustDialogAccepted": True}}}))
    team = put(home / "app/.claude/agent-memory/reviewer/a.md")
    own = put(home / "app/.claude/agent-memory-local/reviewer/b.md")
    put(home / "app/.claude/rules/c.md")
    assert owners(scan([claude])) == {str(team): str(home / "app"), str(own): str(home / "app")}


def test_notes_of_subagents_of_another_repository_are_not_read(claude: Path, home: Path) -> None:
    session(claude, home / "app")
    put(home / "app/.claude/agent-memory/reviewer/a.md")
    put(home / ".claude.json", "{}")
    found = scan([claude])
    assert found.files == []
    assert [item.path for item in found.skipped] == [str(home / "app/.claude/agent-memory/**")]


def test_a_repository_cannot_lead_us_out_of_itself(claude: Path, home: Path) -> None:
    session(claude, home / "app")
    put(home / "private/x/a.md")
    (home / "app/.claude").mkdir()
    (home / "app/.claude/agent-memory").symlink_to(home / "private")
    found = scan([claude])
    assert found.files == []
    assert [skipped.path for skipped in found.skipped] == [str(home / "app/.claude/agent-memory/**")]


def test_the_memory_of_a_person_who_works_in_the_home_folder_stays_shared(claude: Path, home: Path) -> None:
    session(claude, home)
    note = put(claude / "agent-memory/reviewer/a.md")
    assert owners(scan([claude])) == {str(note): SHARED}


@pytest.mark.parametrize("value", ["~/notes", "absolute"])
def test_a_configured_folder_is_shared_by_all_projects(claude: Path, home: Path, value: str) -> None:
    note = put(home / "notes/sub/a.md")
    configured = value if value.startswith("~") else str(home / "notes")
    put(claude / "settings.json", json.dumps({"autoMemoryDirectory": configured}))
    assert owners(scan([claude])) == {str(note): SHARED}


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ("{broken", "cannot be read as JSON"),
        ('{"autoMemoryDirectory": "relative"}', "must be an absolute path"),
        ('{"autoMemoryDirectory": "/a\\u0000b"}', "must be an absolute path"),
        ('{"autoMemoryDirectory": "~"}', "holds the whole home folder"),
        ('{"autoMemoryDirectory": "/"}', "holds the whole home folder"),
    ],
)
def test_a_configured_folder_that_cannot_be_meant_is_one_line(
    claude: Path, home: Path, settings: str, reason: str
) -> None:
    put(home / "a.md")
    put(claude / "settings.json", settings)
    found = scan([claude])
    assert found.files == []
    assert [(skipped.path, reason in skipped.reason) for skipped in found.skipped] == [
        (str(claude / "settings.json"), True)
    ]


@pytest.mark.parametrize("settings", ["{}", "[]", '{"autoMemoryDirectory": null}', '{"autoMemoryDirectory": ""}'])
def test_settings_without_a_folder_change_nothing(claude: Path, settings: str) -> None:
    put(claude / "settings.json", settings)
    assert scan([claude]).skipped == []


def test_projects_and_memory_may_be_links(claude: Path, home: Path) -> None:
    put(home / "dotfiles/projects/-p/notes/a.md")
    (claude / "projects").symlink_to(home / "dotfiles/projects")
    (home / "dotfiles/projects/-p/memory").symlink_to("notes")
    assert owners(scan([claude])) == {str(claude / "projects/-p/memory/a.md"): "-p"}


def test_a_memory_that_several_projects_link_to_counts_once_where_it_stands(claude: Path) -> None:
    note = put(claude / "projects/-m/memory/a.md")
    for name in ["-a", "-z"]:
        (claude / "projects" / name).mkdir()
        (claude / "projects" / name / "memory").symlink_to(claude / "projects/-m/memory")
    (claude / "projects/-b").symlink_to(claude / "projects/-m")
    assert owners(scan([claude])) == {str(note): "-m"}


def test_two_accounts_with_one_folder_count_once(claude: Path, home: Path) -> None:
    note = put(claude / "projects/-p/memory/a.md")
    (home / "other").symlink_to(claude)
    assert owners(scan([claude, home / "other", claude])) == {str(note): "-p"}


def test_a_second_name_of_the_same_file_counts_once(claude: Path) -> None:
    note = put(claude / "projects/-p/memory/a.md")
    (claude / "projects/-p/memory/b.md").hardlink_to(note)
    assert len(scan([claude]).files) == 1


def test_one_bad_file_never_hides_the_others(claude: Path) -> None:
    memory = claude / "projects/-p/memory"
    good = put(memory / "good.md")
    put(memory / "empty.md", "")
    (memory / "broken.md").symlink_to("nothing")
    found = scan([claude])
    assert owners(found) == {str(good): "-p"}
    assert {Path(skipped.path).name for skipped in found.skipped} == {"empty.md", "broken.md"}


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="only an ordinary user is refused anything")
def test_an_unreadable_claude_folder_is_one_line_and_hides_no_other(claude: Path, home: Path) -> None:
    put(claude / "projects/-p/memory/a.md")
    put(claude / "agent-memory/x/a.md")
    put(claude / "settings.json", "{}")
    note = put(home / "other/projects/-q/memory/b.md")
    claude.chmod(0)
    try:
        found = scan([claude, home / "other"])
    finally:
        claude.chmod(0o700)
    assert owners(found) == {str(note): "-q"}
    assert [skipped.reason for skipped in found.skipped] == ["cannot be read (Permission denied)"]


def test_a_note_is_read_with_its_parts(tmp_path: Path) -> None:
    note = put(tmp_path / "a.md")
    assert read(found_file(note, "/w/app")) == Document(
        "memory", str(note), "/w/app", "a-name", "What it says", "The body."
    )


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "cp932"])
def test_a_note_of_a_windows_editor_is_read(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "a.md").write_bytes("---\r\nname: 方針\r\n---\r\nテストは\r\n先に書く。\r\n".encode(encoding))
    document = read(found_file(tmp_path / "a.md"))
    assert (document.name, document.body) == ("方針", "テストは\n先に書く。")


def test_renaming_a_file_does_not_change_what_is_read(tmp_path: Path) -> None:
    put(tmp_path / "a.md", "# Heading\n\nText")
    before = read(found_file(tmp_path / "a.md"))
    after = read(found_file((tmp_path / "a.md").rename(tmp_path / "b.md")))
    assert (before.name, before.description, before.body) == (after.name, after.description, after.body)


def test_a_note_without_any_words_is_named_by_its_file(tmp_path: Path) -> None:
    put(tmp_path / "only emoji\u200b.md", "👍")
    assert read(found_file(tmp_path / "only emoji\u200b.md")).name == "only emoji"
    put(tmp_path / "\u3164.md", "👍")
    assert read(found_file(tmp_path / "\u3164.md")).name == ".md"


@pytest.mark.parametrize("text", [" \n\t\n", "\ufeff", "\u200b\u2060", "---\n---\n", "---\ntype: user\n---\n"])
def test_a_note_without_text_is_refused_as_empty(tmp_path: Path, text: str) -> None:
    with pytest.raises(SourceError, match=r"^is empty$"):
        read(found_file(put(tmp_path / "a.md", text)))


def test_a_note_that_vanished_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="cannot be read"):
        read(found_file(tmp_path / "gone.md"))


def test_a_note_that_is_a_link_by_now_is_refused(tmp_path: Path) -> None:
    put(tmp_path / "secret")
    (tmp_path / "a.md").symlink_to("secret")
    with pytest.raises(SourceError, match="cannot be read"):
        read(found_file(tmp_path / "a.md"))


def test_a_note_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0")
    with pytest.raises(SourceError, match="is not text"):
        read(found_file(tmp_path / "a.md"))


def test_every_file_that_is_found_can_be_read(claude: Path) -> None:
    memory = claude / "projects/-p/memory"
    put(memory / "sub/a.md")
    put(memory / "store/text.txt", "Other.")
    (memory / "b.md").symlink_to("store/text.txt")
    assert sorted(read(file).name for file in scan([claude]).files) == ["Other.", "a-name"]
