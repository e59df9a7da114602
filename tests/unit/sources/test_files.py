import os
import socket
from pathlib import Path

import pytest

from recall.core.errors import SourceError
from recall.sources.files import is_inside, is_unicode, printable, read_bytes, read_part

needs_pipes = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")


def test_a_file_up_to_the_limit_is_read_whole(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x" * 10)
    assert read_bytes(str(tmp_path / "a"), 10) == b"x" * 10


def test_a_larger_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x" * 4097)
    with pytest.raises(SourceError, match="is larger than 4 KiB"):
        read_bytes(str(tmp_path / "a"), 4096)


def test_both_ends_of_a_file_can_be_read(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"0123456789")
    path = str(tmp_path / "a")
    assert read_part(path, 3) == b"012"
    assert read_part(path, 3, from_end=True) == b"789"
    assert read_part(path, 99) == read_part(path, 99, from_end=True) == b"0123456789"


@needs_pipes
def test_a_pipe_that_nobody_writes_to_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a")
    with pytest.raises(SourceError, match="is a named pipe, not a file"):
        read_bytes(str(tmp_path / "a"), 10)


def test_a_socket_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind("a")  # relative: the path of a socket may not be long
        with pytest.raises(SourceError, match="cannot be read"):
            read_bytes(str(tmp_path / "a"), 10)


def test_a_folder_and_a_missing_file_are_refused_with_the_systems_words(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"(?i)is a (folder|directory)|permission"):
        read_bytes(str(tmp_path), 10)
    with pytest.raises(SourceError, match=r"cannot be read \(No such file"):
        read_bytes(str(tmp_path / "a"), 10)
    with pytest.raises(SourceError, match="zero byte"):
        read_bytes("a\0b", 10)


def test_a_link_is_followed_only_when_told(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"text")
    (tmp_path / "link").symlink_to("a")
    assert read_bytes(str(tmp_path / "link"), 10, follow=True) == b"text"
    with pytest.raises(SourceError, match="cannot be read"):
        read_bytes(str(tmp_path / "link"), 10)


def test_inside_means_whole_names() -> None:
    assert is_inside("/a/b", "/a/b")
    assert is_inside("/a/b/c", "/a/b")
    assert not is_inside("/a/bc", "/a/b")
    assert is_inside("/a", "/")


def test_bytes_that_are_no_unicode_are_printable() -> None:
    path = os.fsdecode(b"/a/\xff.md")
    assert not is_unicode(path)
    assert printable(path) == "/a/\N{REPLACEMENT CHARACTER}.md"
    assert printable("/a/日本.md") == "/a/日本.md"
