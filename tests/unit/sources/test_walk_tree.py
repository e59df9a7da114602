import os
from pathlib import Path

from recall.sources.walk import Walk, walk_tree


def put(path: Path, text: str = "# A\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def is_markdown(place: str) -> bool:
    return place.endswith(".md")


def paths(walk: Walk) -> list[str]:
    return [path for path, _ in walk.files]


def test_only_wanted_files_are_taken_and_asked_for_by_their_place(tmp_path: Path) -> None:
    put(tmp_path / "a.md")
    wanted = put(tmp_path / "x/y/b.md")
    assert paths(walk_tree(str(tmp_path), lambda place: place == "x/y/b.md")) == [str(wanted)]


def test_hidden_entries_and_packages_are_left_out(tmp_path: Path) -> None:
    for name in (".git/a.md", ".a.md", "node_modules/p/a.md"):
        put(tmp_path / name)
    assert walk_tree(str(tmp_path), is_markdown) == Walk()


def test_a_missing_folder_has_no_files(tmp_path: Path) -> None:
    assert walk_tree(str(tmp_path / "missing"), is_markdown) == Walk()


def test_files_that_cannot_be_records_say_why(tmp_path: Path) -> None:
    put(tmp_path / "empty.md", "")
    put(tmp_path / "large.md", "x" * (1024 * 1024 + 1))
    os.mkfifo(tmp_path / "pipe.md")
    walk = walk_tree(str(tmp_path), is_markdown)
    assert walk.files == []
    assert [(Path(item.path).name, item.reason.split(":")[0]) for item in walk.skipped] == [
        ("empty.md", "is empty"),
        ("large.md", "is larger than 1,024 KiB, the most that is read of a note"),
        ("pipe.md", "is a named pipe, not a file"),
    ]


def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    put(tmp_path / "private/secret.md")
    root = tmp_path / "root"
    root.mkdir()
    (root / "file.md").symlink_to(tmp_path / "private/secret.md")
    (root / "folder").symlink_to(tmp_path / "private")
    (root / "gone.md").symlink_to(tmp_path / "nothing.md")
    (root / "unwanted.txt").symlink_to(tmp_path / "private/secret.md")
    walk = walk_tree(str(root), is_markdown)
    assert walk.files == []
    assert {Path(item.path).name: item.reason.split(" /")[0] for item in walk.skipped} == {
        "file.md": "is a link that leads out of",
        "folder": "is a link that leads out of",
        "gone.md": "is a link that leads nowhere",
    }


def test_a_link_inside_the_folder_leads_to_the_file_itself(tmp_path: Path) -> None:
    record = put(tmp_path / "sub/a.md")
    (tmp_path / "b.md").symlink_to(record)
    walk = walk_tree(str(tmp_path), is_markdown)
    assert set(paths(walk)) == {str(record)}
    assert walk.skipped == []


def test_a_link_says_by_its_ending_what_the_file_is(tmp_path: Path) -> None:
    kept = put(tmp_path / "notes.txt")
    (tmp_path / "a.md").symlink_to(kept)
    assert paths(walk_tree(str(tmp_path), is_markdown)) == [str(kept)]


def test_a_link_to_a_file_that_is_not_wanted_does_not_make_it_so(tmp_path: Path) -> None:
    put(tmp_path / "README.md")
    (tmp_path / "a.md").symlink_to(tmp_path / "README.md")
    assert walk_tree(str(tmp_path), lambda place: is_markdown(place) and "README" not in place) == Walk()


def test_the_folder_may_be_a_link_itself(tmp_path: Path) -> None:
    put(tmp_path / "real/a.md")
    (tmp_path / "root").symlink_to(tmp_path / "real")
    assert paths(walk_tree(str(tmp_path / "root"), is_markdown)) == [str(tmp_path / "root/a.md")]


def test_a_ring_of_links_ends(tmp_path: Path) -> None:
    record = put(tmp_path / "a/b.md")
    (tmp_path / "a/up").symlink_to(tmp_path)
    assert paths(walk_tree(str(tmp_path), is_markdown)) == [str(record)]


def test_of_too_many_files_the_first_are_taken_and_one_line_says_so(tmp_path: Path) -> None:
    for name in ("a.md", "b/1.md", "b/2.md", "c.md"):
        put(tmp_path / name)
    walk = walk_tree(str(tmp_path), is_markdown, max_files=2)
    assert len(walk.files) == 2
    assert [item.path for item in walk.skipped] == [str(tmp_path / "**")]


def test_as_many_files_as_are_allowed_are_not_too_many(tmp_path: Path) -> None:
    for name in ("a.md", "b.md"):
        put(tmp_path / name)
    assert walk_tree(str(tmp_path), is_markdown, max_files=2).skipped == []


def test_a_folder_of_other_things_ends_the_walk(tmp_path: Path) -> None:
    for number in range(10):
        put(tmp_path / f"{number}.png")
    walk = walk_tree(str(tmp_path), is_markdown, max_entries=5)
    assert [item.path for item in walk.skipped] == [str(tmp_path / "**")]


def test_folders_below_the_deepest_level_are_not_looked_into(tmp_path: Path) -> None:
    shallow = put(tmp_path / "a/a.md")
    put(tmp_path / "a/b/b.md")
    assert paths(walk_tree(str(tmp_path), is_markdown, max_depth=1)) == [str(shallow)]
