import os
import unicodedata
from pathlib import Path

import pytest

from recall.sources.files import MAX_NOTE_BYTES
from recall.sources.walk import Walk, walk_notes

unprivileged = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="only an ordinary user is refused anything"
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "memory"
    folder.mkdir()
    return folder


def put(path: Path, text: str = "Text.") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def names(walk: Walk, root: Path) -> list[str]:
    return [Path(path).relative_to(root).as_posix() for path, _ in walk.files]


def reasons(walk: Walk, root: Path) -> dict[str, str]:
    return {Path(skipped.path).relative_to(root).as_posix(): skipped.reason for skipped in walk.skipped}


def test_notes_are_found_in_all_sub_folders_in_order(root: Path) -> None:
    for name in ["z.md", "specs/deep/er/b.MD", "agents/x/a.md"]:
        put(root / name)
    walk = walk_notes(str(root))
    assert names(walk, root) == ["agents/x/a.md", "specs/deep/er/b.MD", "z.md"]
    assert walk.files[0][1].st_size == len("Text.")
    assert walk.skipped == []


def test_indexes_hidden_entries_and_other_files_are_left_out_without_a_line(root: Path) -> None:
    for name in [
        "MEMORY.md",
        "agents/x/MEMORY.md",
        "agents/x/Memory.MD",
        ".hidden.md",
        ".git/a.md",
        "node_modules/p/a.md",
        "a.txt",
        "b.md.bak",
    ]:
        put(root / name)
    assert walk_notes(str(root)) == Walk()


def test_a_missing_root_is_empty_and_so_is_one_that_is_a_file(root: Path) -> None:
    assert walk_notes(str(root / "nowhere")) == Walk()
    assert walk_notes(str(put(root / "a.md"))) == Walk()


def test_a_root_may_be_a_link(root: Path, tmp_path: Path) -> None:
    put(root / "a.md")
    (tmp_path / "link").symlink_to(root)
    assert names(walk_notes(str(tmp_path / "link")), tmp_path / "link") == ["a.md"]


def test_links_out_of_the_root_are_skipped_with_the_reason(root: Path, tmp_path: Path) -> None:
    put(tmp_path / "elsewhere/secret.md")
    put(root / "good.md")
    (root / "file.md").symlink_to(tmp_path / "elsewhere/secret.md")
    (root / "folder").symlink_to(tmp_path / "elsewhere")
    (root / "relative.md").symlink_to("../elsewhere/secret.md")
    (root / "chain.md").symlink_to("file.md")
    (root / "other.txt").symlink_to(tmp_path / "elsewhere/secret.md")
    walk = walk_notes(str(root))
    assert names(walk, root) == ["good.md"]
    assert set(reasons(walk, root)) == {"file.md", "folder", "relative.md", "chain.md"}
    assert all("leads out of" in reason for reason in reasons(walk, root).values())


def test_a_neighbour_whose_name_begins_like_the_root_is_outside(root: Path, tmp_path: Path) -> None:
    put(tmp_path / "memory-2/a.md")
    (root / "a.md").symlink_to(tmp_path / "memory-2/a.md")
    assert names(walk_notes(str(root)), root) == []


def test_links_inside_of_the_root_end_and_add_nothing(root: Path) -> None:
    put(root / "sub/a.md")
    (root / "loop").symlink_to(root)
    (root / "sub/up").symlink_to("..")
    walk = walk_notes(str(root))
    assert names(walk, root) == ["sub/a.md"]
    assert walk.skipped == []


def test_a_link_to_a_file_that_has_another_name_gives_that_file(root: Path) -> None:
    put(root / "store/text.txt")
    put(root / "MEMORY.md")
    (root / "a.md").symlink_to("store/text.txt")
    (root / "b.md").symlink_to("MEMORY.md")
    assert names(walk_notes(str(root)), root) == ["store/text.txt"]


def test_links_that_lead_nowhere_are_skipped(root: Path) -> None:
    (root / "broken.md").symlink_to("nothing")
    (root / "self.md").symlink_to("self.md")
    (root / "broken.txt").symlink_to("nothing")
    walk = walk_notes(str(root))
    assert set(reasons(walk, root)) == {"broken.md", "self.md"}
    assert walk.files == []


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_what_is_no_file_is_skipped_without_opening_it(root: Path) -> None:
    os.mkfifo(root / "pipe.md")
    os.mkfifo(root / "pipe")
    assert reasons(walk_notes(str(root)), root) == {"pipe.md": "is a named pipe, not a file"}


def test_a_folder_may_be_called_like_a_note(root: Path) -> None:
    put(root / "folder.md/a.md")
    assert names(walk_notes(str(root)), root) == ["folder.md/a.md"]


def test_empty_and_huge_files_are_skipped(root: Path) -> None:
    put(root / "empty.md", "")
    put(root / "most.md", "x" * MAX_NOTE_BYTES)
    put(root / "huge.md", "x" * (MAX_NOTE_BYTES + 1))
    walk = walk_notes(str(root))
    assert names(walk, root) == ["most.md"]
    assert reasons(walk, root)["empty.md"] == "is empty"
    assert "larger than 1,024 KiB" in reasons(walk, root)["huge.md"]


def test_names_in_both_unicode_forms_are_kept_as_they_are(root: Path) -> None:
    decomposed = unicodedata.normalize("NFD", "がぎ é.md")
    put(root / decomposed)
    assert [unicodedata.normalize("NFC", name) for name in names(walk_notes(str(root)), root)] == ["がぎ é.md"]


def test_names_that_are_no_unicode_are_skipped_in_printable_words(root: Path) -> None:
    try:
        put(Path(os.fsdecode(os.fsencode(root) + b"/\xff\xfe.md")))
    except OSError:
        pytest.skip("this file system allows only Unicode names")
    put(Path(os.fsdecode(os.fsencode(root) + b"/folder\xff/a.md")))
    put(root / "good.md")
    walk = walk_notes(str(root))
    assert names(walk, root) == ["good.md"]
    assert all("not Unicode" in skipped.reason and skipped.path.isprintable() for skipped in walk.skipped)
    assert len(walk.skipped) == 2


@unprivileged
def test_a_folder_that_cannot_be_listed_hides_no_other(root: Path) -> None:
    put(root / "closed/a.md")
    put(root / "open/b.md")
    (root / "closed").chmod(0)
    try:
        walk = walk_notes(str(root))
    finally:
        (root / "closed").chmod(0o700)
    assert names(walk, root) == ["open/b.md"]
    assert reasons(walk, root) == {"closed": "cannot be read (Permission denied)"}
