import json
import os
import unicodedata
from pathlib import Path

import pytest

from recall.core.types import Project
from recall.sources.projects import Projects, discover, encode, short_names


class Person:
    """Someone's repositories and Claude folder."""

    def __init__(self, folder: Path) -> None:
        self.work = folder / "work"
        self.claude = folder / "claude"

    def repository(self, name: str) -> str:
        (self.work / name / ".git").mkdir(parents=True)
        return str(self.work / name)

    def session(self, cwd: str, *, folder: str | None = None, name: str = "s", claude: Path | None = None) -> Path:
        """A session as Claude Code files it; its folder is named by `cwd` unless told otherwise."""
        place = (claude or self.claude) / "projects" / (folder or encode(cwd))
        place.mkdir(parents=True, exist_ok=True)
        with (place / f"{name}.jsonl").open("a") as file:
            file.write('{"type": "mode"}\n' + json.dumps({"type": "user", "cwd": cwd}) + "\n")
        return place

    def folder(self, name: str) -> Path:
        place = self.claude / "projects" / name
        place.mkdir(parents=True)
        return place


@pytest.fixture
def person(tmp_path: Path) -> Person:
    return Person(Path(os.path.realpath(tmp_path)))


def keys(projects: Projects) -> set[str]:
    return {project.key for project in projects}


def test_every_other_character_of_a_path_becomes_a_hyphen() -> None:
    assert encode("/home/me/a.b_c-d é/日本") == "-home-me-a-b-c-d-----"
    assert encode("C:\\Users\\me") == "C--Users-me"


def test_both_unicode_forms_of_a_path_have_one_name() -> None:
    assert encode("/é") == encode(unicodedata.normalize("NFD", "/é")) == "--"


def test_a_character_of_two_javascript_halves_becomes_two_hyphens() -> None:
    assert encode("/😀a") == "---a"


def test_a_long_path_is_compared_by_its_first_200_characters() -> None:
    assert encode("/" + "a" * 300) == "-" + "a" * 199


def test_a_short_name_is_the_last_part() -> None:
    assert short_names(["/home/me/one", "/home/me/two/", "-home-me-three", "C:\\work\\four"]) == {
        "/home/me/one": "one",
        "/home/me/two/": "two",
        "-home-me-three": "home-me-three",
        "C:\\work\\four": "four",
    }


def test_projects_of_one_name_get_as_many_parts_as_tell_them_apart() -> None:
    assert short_names(["/a/x/app", "/b/x/app", "/c/y/app", "/c/y/other"]) == {
        "/a/x/app": "a/x/app",
        "/b/x/app": "b/x/app",
        "/c/y/app": "y/app",
        "/c/y/other": "other",
    }


def test_names_that_no_part_tells_apart_are_the_keys() -> None:
    assert short_names(["/app", "app", "/w/app"]) == {"/app": "/app", "app": "app", "/w/app": "w/app"}
    assert short_names(["/"]) == {"/": "/"}
    assert short_names([]) == {}


def test_a_project_is_known_by_the_real_path_in_its_sessions(person: Person) -> None:
    root = person.repository("my.app")
    folder = person.session(root)
    projects = discover([person.claude])
    assert list(projects) == [Project(root, "my.app")]
    assert projects.of_folder(str(folder)) == Project(root, "my.app")


def test_sub_folders_and_worktrees_of_a_repository_are_one_project(person: Person) -> None:
    root = person.repository("app")
    person.session(root)
    person.session(f"{root}/src/deep")
    administrative = Path(root, ".git/worktrees/w")
    administrative.mkdir(parents=True)
    (administrative / "commondir").write_text("../..\n")
    (person.work / "w").mkdir()
    (person.work / "w/.git").write_text(f"gitdir: {administrative}\n")
    person.session(str(person.work / "w"))
    projects = discover([person.claude])
    assert keys(projects) == {root}
    assert set(projects.folders.values()) == {root}
    assert len(projects.folders) == 3


def test_two_accounts_share_the_project_of_a_repository(person: Person) -> None:
    root = person.repository("app")
    person.session(root)
    other = person.session(root, claude=person.claude.with_name("claude-2"))
    projects = discover([person.claude, person.claude.with_name("claude-2"), person.claude.with_name("missing")])
    assert keys(projects) == {root}
    assert projects.of_folder(str(other)).key == root


def test_notes_without_sessions_belong_to_the_repository_of_their_folders_name(person: Person) -> None:
    root = person.repository("app")
    person.session(f"{root}/src")
    notes = person.folder(encode(root))
    assert discover([person.claude]).of_folder(str(notes)).key == root


def test_without_any_session_the_folders_name_stands(person: Person) -> None:
    folder = person.folder("-home-me-app")
    projects = discover([person.claude])
    assert list(projects) == [Project("-home-me-app", "home-me-app")]
    assert projects.of_folder(str(folder)).key == "-home-me-app"


def test_a_session_that_changed_its_directory_belongs_to_where_it_started(person: Person) -> None:
    root, other = person.repository("app"), person.repository("other")
    person.session(other, folder=encode(root))
    person.session(root, folder=encode(root))
    assert discover([person.claude]).of_folder(str(person.claude / "projects" / encode(root))).key == root


def test_a_folder_of_another_name_belongs_to_its_newest_session(person: Person) -> None:
    root = person.repository("app")
    folder = person.session(root, folder="-renamed")
    assert discover([person.claude]).of_folder(str(folder)).key == root


def test_two_folders_whose_names_collide_stay_two_projects(person: Person) -> None:
    one, two = person.repository("a-b"), person.repository("a.b")
    assert encode(one) == encode(two)
    person.session(one)
    person.session(two, claude=person.claude.with_name("claude-2"))
    projects = discover([person.claude, person.claude.with_name("claude-2")])
    assert keys(projects) == {one, two}
    assert projects.of_cwd(one) == {one}
    assert projects.of_cwd(two) == {two}


def test_a_memory_that_two_colliding_repositories_share_is_the_folders(person: Person) -> None:
    one, two = person.repository("a-b"), person.repository("a.b")
    folder = person.session(one, name="s1")
    person.session(two, name="s2")
    projects = discover([person.claude])
    assert projects.of_folder(str(folder)).key == encode(one)
    assert projects.of_cwd(one) == {one, encode(one)}
    assert projects.of_cwd(two) == {two, encode(one)}


def test_a_path_of_another_system_is_a_key_as_it_stands(person: Person) -> None:
    folder = person.session("Q:\\work\\app" if os.sep == "/" else "/work/app")
    assert discover([person.claude]).of_folder(str(folder)).name == "app"


def test_what_is_no_folder_of_a_project_is_passed_over(person: Person) -> None:
    person.folder("-home-me-app")
    (person.claude / "projects/file").write_text("")
    (person.claude / "projects/broken").symlink_to("nothing")
    (person.claude / "projects/.hidden").mkdir()
    projects = discover([person.claude, person.claude / "projects/file"])
    assert keys(projects) == {"-home-me-app"}
    assert not projects.skipped


def test_a_later_look_sees_new_sessions_and_forgets_removed_folders(person: Person) -> None:
    root, other = person.repository("app"), person.repository("other")
    person.session(root)
    gone = person.folder("-gone")
    first = discover([person.claude])
    gone.rmdir()
    person.session(other)
    assert keys(discover([person.claude], first)) == {root, other}


def test_a_session_that_gets_its_directory_later_is_read_again(person: Person) -> None:
    root = person.repository("app")
    folder = person.folder("-somewhere")
    (folder / "s.jsonl").write_text('{"type": "mode"}\n')
    first = discover([person.claude])
    assert first.of_folder(str(folder)).key == "-somewhere"
    person.session(root, folder="-somewhere")  # appended: the folder itself does not change
    assert discover([person.claude], first).of_folder(str(folder)).key == root


def test_an_unchanged_folder_is_not_read_again(person: Person) -> None:
    root, other = person.repository("app"), person.repository("other")
    folder = person.session(root)
    first = discover([person.claude])
    (folder / "s.jsonl").write_text(json.dumps({"cwd": other}) + "\n")  # in place: the folder itself does not change
    assert keys(discover([person.claude], first)) == {root}
    assert keys(discover([person.claude])) == {other}


def test_the_current_project_is_that_of_the_working_directory(person: Person) -> None:
    root, other = person.repository("app"), person.repository("other")
    person.session(root)
    transcript = person.session(other) / "s.jsonl"
    projects = discover([person.claude])
    Path(root, "src").mkdir()
    (person.work / "link").symlink_to(Path(root, "src"))
    for cwd in [root, f"{root}/src", f"{root}/deleted/folder", str(person.work / "link")]:
        assert projects.current(cwd, str(transcript)) == {root}


def test_a_working_directory_nothing_is_known_of_has_no_other_projects_records(person: Person) -> None:
    root = person.repository("app")
    transcript = person.session(root) / "s.jsonl"
    elsewhere = str(person.work / "elsewhere")
    assert discover([person.claude]).current(elsewhere, str(transcript)) == {elsewhere}


def test_outside_of_a_repository_a_session_keeps_its_project_in_the_folders_below(person: Person) -> None:
    plain = person.work / "plain"
    transcript = person.session(str(plain)) / "s.jsonl"
    projects = discover([person.claude])
    assert projects.current(f"{plain}/sub", str(transcript)) == {f"{plain}/sub", str(plain)}
    assert projects.current(f"{plain}/sub", None) == {f"{plain}/sub"}
    assert projects.current(f"{plain}-2", str(transcript)) == {f"{plain}-2"}


def test_a_project_known_by_its_folder_only_is_current_in_its_repository(person: Person) -> None:
    root = person.repository("app")
    person.folder(encode(root))
    person.folder(encode(f"{root}-2"))
    projects = discover([person.claude])
    assert projects.of_cwd(f"{root}/src") == {root, encode(root)}


def test_a_project_known_by_its_folder_only_is_current_in_the_folder_of_that_name(person: Person) -> None:
    root = person.repository("app")
    person.folder(encode(f"{root}/src"))
    assert discover([person.claude]).of_cwd(f"{root}/src") == {root, encode(f"{root}/src")}


def test_a_long_folder_name_is_recognised_without_its_hash(person: Person) -> None:
    long = str(person.work / ("a" * 150) / ("b" * 150))
    name = encode(long) + "-1k2j3h"
    person.folder(name)
    assert discover([person.claude]).of_cwd(long) == {long, name}


@pytest.mark.parametrize("cwd", [None, "", "relative", "/a\0b", "/\ud800"])
def test_without_a_usable_directory_the_transcripts_folder_tells(person: Person, cwd: str | None) -> None:
    root = person.repository("app")
    folder = person.session(root)
    projects = discover([person.claude])
    assert projects.current(cwd, str(folder / "not-written-yet.jsonl")) == {root}
    assert projects.current(cwd, f"/another/home/.claude/projects/{folder.name}/s.jsonl") == {root}
    assert projects.current(cwd, "/nowhere/s.jsonl") == frozenset()
    assert projects.current(cwd, None) == frozenset()


def test_both_unicode_forms_of_a_directory_are_one_project(person: Person) -> None:
    composed = str(person.work / "café")
    decomposed = unicodedata.normalize("NFD", composed)
    person.session(composed)
    assert discover([person.claude]).of_cwd(decomposed) == {composed}


def test_a_person_names_a_project_by_its_name_its_key_or_the_end_of_its_path(person: Person) -> None:
    root, other = person.repository("team/app"), person.repository("web-app")
    for path in (root, other):
        person.session(path)
    person.folder("-home-me-tool")
    projects = discover([person.claude])
    assert [found.key for found in projects.named("APP")] == [root]
    assert [found.key for found in projects.named("team/app")] == [root]
    assert [found.key for found in projects.named(other)] == [other]
    assert [found.key for found in projects.named("tool")] == ["-home-me-tool"]
    assert projects.named("unknown") == projects.named("") == []


def test_a_name_that_two_projects_share_finds_both(person: Person) -> None:
    one, two = person.repository("one/app"), person.repository("two/app")
    for path in (one, two):
        person.session(path)
    assert {found.key for found in discover([person.claude]).named("app")} == {one, two}


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="only an ordinary user is refused anything")
def test_a_claude_folder_that_cannot_be_read_is_one_line(person: Person) -> None:
    person.session(person.repository("app"))
    person.claude.chmod(0)
    try:
        projects = discover([person.claude])
    finally:
        person.claude.chmod(0o700)
    assert keys(projects) == set()
    assert [skipped.reason for skipped in projects.skipped] == ["cannot be read (Permission denied)"]
