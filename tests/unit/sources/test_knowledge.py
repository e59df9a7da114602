import json
import os
from pathlib import Path

import pytest

from recall.core.errors import SourceError
from recall.core.types import SHARED, FoundFile
from recall.sources.knowledge import Folder, read, scan
from recall.sources.memory import Scan
from recall.sources.projects import discover, encode
from recall.sources.trust import NOT_TRUSTED

RULE = "# Use spaces\n\nIndent with four spaces, never tabs, in all files.\n"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = Path(os.path.realpath(tmp_path)) / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("USERPROFILE", str(folder))
    return folder


def put(path: Path, text: str = RULE) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def repository(home: Path, name: str, *, trusted: bool = True) -> Path:
    """A repository in which a session ran."""
    root = home / name
    (root / ".git").mkdir(parents=True)
    line = json.dumps({"type": "user", "cwd": str(root)})
    put(home / ".claude/projects" / encode(str(root)) / "s.jsonl", line + "\n")
    if trusted:
        trust(home, root)
    return root


def trust(home: Path, *folders: Path) -> None:
    file = home / ".claude.json"
    known = json.loads(file.read_text())["projects"] if file.exists() else {}
    accepted = {str(folder): {"hasTrustDialogAccepted": True} for folder in folders}
    file.write_text(json.dumps({"projects": known | accepted}))


def look(home: Path, *folders: Folder) -> Scan:
    claude = [home / ".claude"]
    return scan(claude, discover(claude), folders)


def owners(found: Scan) -> dict[str, str]:
    return {file.path: file.project for file in found.files}


def reasons(found: Scan) -> dict[str, str]:
    return {item.path: item.reason for item in found.skipped}


def document(path: Path, text: str = RULE) -> tuple[str, str | None]:
    """Group and language of a record at this path."""
    read_as = read(FoundFile("knowledge", str(put(path, text)), "p", 1, 1))
    return (read_as.group or "").removeprefix("p:"), read_as.language


def test_a_repositorys_usual_places_are_searched(home: Path) -> None:
    root = repository(home, "app")
    places = ("docs/adr", "docs/adrs", "doc/adr", "docs/decisions", "docs/architecture/decisions", "adr")
    wanted = [put(root / place / "0001-x.md") for place in places]
    wanted += [put(root / ".claude/rules/style.md"), put(root / ".claude/rules/web/css.mdc")]
    put(root / "docs/other/0002-y.md")
    put(root / "README.md")
    found = look(home)
    assert owners(found) == {str(path): str(root) for path in wanted}
    assert found.skipped == []
    assert {file.kind for file in found.files} == {"knowledge"}


def test_indexes_and_templates_are_no_records(home: Path) -> None:
    folder = repository(home, "app") / "docs/adr"
    for name in ("README.md", "README.ja.md", "index.md", "template.md", "adr-template.md", "0000-template.md"):
        put(folder / name)
    for name in ("SUMMARY.md", "MEMORY.md", "templates.txt", "0001-x.png", "0001-x.rst", ".hidden.md"):
        put(folder / name)
    wanted = [put(folder / name) for name in ("0000-use-records.md", "0012-use-jinja-template.md", "0005-index.md")]
    assert owners(look(home)).keys() == {str(path) for path in wanted}


def test_a_repository_that_is_not_trusted_is_not_read(home: Path) -> None:
    root = repository(home, "app", trusted=False)
    put(root / "docs/adr/0001-x.md")
    put(root / ".claude/rules/style.md")
    trust(home, home / "elsewhere")
    found = look(home)
    assert found.files == []
    assert reasons(found) == {str(root / place / "**"): NOT_TRUSTED for place in ("docs/adr", ".claude/rules")}


def test_a_trusted_folder_above_a_repository_covers_it(home: Path) -> None:
    record = put(repository(home, "work/app", trusted=False) / "adr/0001-x.md")
    trust(home, home / "work")
    assert owners(look(home)).keys() == {str(record)}


def test_an_account_file_that_cannot_be_read_keeps_what_is_stored(home: Path) -> None:
    root = repository(home, "app")
    put(root / "adr/0001-x.md")
    (home / ".claude.json").write_text("{")
    found = look(home)
    assert found.files == []
    (path,) = reasons(found)
    assert path == str(root / "adr")  # the pipeline keeps what is stored below a skipped folder
    assert ".claude.json" in reasons(found)[path]


def test_a_repository_without_any_records_is_not_complained_about(home: Path) -> None:
    repository(home, "app", trusted=False)
    assert look(home).skipped == []


def test_a_place_that_leads_out_of_the_repository_is_not_followed(home: Path) -> None:
    root = repository(home, "app")
    put(home / "private/0001-secret.md")
    (root / "docs").mkdir()
    (root / "docs/adr").symlink_to(home / "private")
    found = look(home)
    assert found.files == []
    assert "leads out of" in reasons(found)[str(root / "docs/adr/**")]


def test_the_persons_own_rules_are_no_projects(home: Path) -> None:
    repository(home, ".")
    put(home / ".claude/rules/mine.md")
    assert (look(home).files, look(home).skipped) == ([], [])


def test_a_folder_that_is_named_is_trusted_and_shared(home: Path) -> None:
    record = put(home / "handbook/security/passwords.md")
    found = look(home, Folder(str(home / "handbook")), Folder("~/handbook"))
    assert owners(found) == {str(record): SHARED}


def test_a_named_folder_may_belong_to_one_project(home: Path) -> None:
    root = repository(home, "app")
    record = put(home / "handbook/passwords.md")
    assert owners(look(home, Folder("~/handbook", "app"))) == {str(record): str(root)}


def test_a_named_folder_goes_before_the_repository_that_holds_it(home: Path) -> None:
    root = repository(home, "app")
    record = put(root / "docs/adr/0001-x.md")
    assert owners(look(home, Folder(str(root / "docs/adr")))) == {str(record): SHARED}


def test_patterns_choose_the_files_of_a_named_folder(home: Path) -> None:
    folder = home / "handbook"
    for name in ("a.md", "B.MD", "web/c.md", "web/drafts/d.md", "api/e.md"):
        put(folder / name)

    def chosen(include: tuple[str, ...], exclude: tuple[str, ...] = ()) -> set[str]:
        files = look(home, Folder(str(folder), include=include, exclude=exclude)).files
        return {Path(file.path).relative_to(folder).as_posix() for file in files}

    assert chosen(("**/*.md",)) == {"a.md", "B.MD", "web/c.md", "web/drafts/d.md", "api/e.md"}
    assert chosen(("*.md",)) == {"a.md", "B.MD"}
    assert chosen(("web",)) == {"web/c.md", "web/drafts/d.md"}
    assert chosen(("web/*.md", "api/?.md")) == {"web/c.md", "api/e.md"}
    assert chosen(("**",), ("**/drafts/**", "a.*")) == {"B.MD", "web/c.md", "api/e.md"}


@pytest.mark.parametrize(
    ("folder", "reason"),
    [
        (Folder("relative/path"), "absolute path"),
        (Folder("~/missing"), "is no folder"),
        (Folder("~/handbook", "nobody"), 'its scope "nobody" is the name of no project'),
        (Folder("~/handbook", "app"), 'its scope "app" is the name of several projects'),
    ],
)
def test_a_named_folder_that_cannot_be_used_is_one_line(home: Path, folder: Folder, reason: str) -> None:
    put(home / "handbook/a.md")
    repository(home, "x/app")
    repository(home, "y/app")
    found = look(home, folder)
    assert found.files == []
    assert [reason in item.reason for item in found.skipped] == [True]


def test_a_decision_record_is_named_by_number_and_title(tmp_path: Path) -> None:
    status = "# ADR-14: Use X\n\n## Status\n\nSuperseded by [ADR-31](0031-y.md)\n"
    text = status + "\n## Decision\n\nWe use X everywhere, in all builds.\n"
    path = put(tmp_path / "0014-use-x.md", text)
    record = read(FoundFile("knowledge", str(path), "p", 1, 1))
    assert (record.kind, record.name, record.project) == ("knowledge", "0014 Use X", "p")
    assert record.description == "We use X everywhere, in all builds."
    assert (record.successor, record.successor_path) == ("31", str(tmp_path / "0031-y.md"))


def test_a_rule_is_named_by_its_frontmatter_else_its_heading_else_its_file(tmp_path: Path) -> None:
    def name(text: str) -> str:
        return read(FoundFile("knowledge", str(put(tmp_path / "tabs.mdc", text)), "p", 1, 1)).name

    assert name("---\nname: no-tabs\nglobs: *.ts\n---\n\n# Heading\n") == "no-tabs"
    assert name("---\ndescription: when indenting\n---\n\n# Heading\n") == "Heading"
    assert name("---\ndescription: when indenting\n---\n") == "tabs"


def test_a_file_without_words_is_refused(tmp_path: Path) -> None:
    for data in (b"\n \n", b"\x00\x01"):
        (tmp_path / "a.md").write_bytes(data)
        with pytest.raises(SourceError):
            read(FoundFile("knowledge", str(tmp_path / "a.md"), "p", 1, 1))


JAPANESE = "# 空白で字下げする\n\nすべてのファイルで、タブではなく空白四つで字下げする。\n"


@pytest.mark.parametrize("name", ["0007-x.ja.md", "0007-x_ja.md", "0007-x-ja.md", "0007-x.ja-JP.md", "ja/0007-x.md"])
def test_a_pair_of_languages_shares_its_group(tmp_path: Path, name: str) -> None:
    group = str(tmp_path / "0007-x")
    assert document(tmp_path / "0007-x.md") == (group, "en")
    assert document(tmp_path / name, JAPANESE) == (group, "ja")


def test_folders_of_languages_side_by_side_make_pairs(tmp_path: Path) -> None:
    assert document(tmp_path / "en/0007-x.md") == (str(tmp_path / "0007-x"), "en")
    assert document(tmp_path / "ja/0007-x.md", JAPANESE) == (str(tmp_path / "0007-x"), "ja")


def test_a_plain_name_may_be_the_japanese_one(tmp_path: Path) -> None:
    assert document(tmp_path / "0007-x.md", JAPANESE) == (str(tmp_path / "0007-x"), "ja")
    assert document(tmp_path / "0007-x.en.md") == (str(tmp_path / "0007-x"), "en")


def test_the_same_file_in_two_projects_is_no_pair(tmp_path: Path) -> None:
    path = str(put(tmp_path / "a.md"))
    one, other = (read(FoundFile("knowledge", path, project, 1, 1)).group for project in ("p", "q"))
    assert one != other


def test_two_rules_on_two_languages_are_no_pair(tmp_path: Path) -> None:
    assert document(tmp_path / "style-ja.md", "# How we write Japanese\n\nShort sentences.\n") == (
        str(tmp_path / "style-ja"),
        "en",
    )
