"""Replacing a file: links, permissions, and what is left behind when the system refuses."""

import os
import resource
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from recall.core.atomic import replace_bytes
from recall.core.errors import RecallError


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_new_file_is_for_its_owner_only(tmp_path: Path) -> None:
    replace_bytes(tmp_path / "a", b"new")
    assert (tmp_path / "a").read_bytes() == b"new"
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o600
    assert _names(tmp_path) == ["a"]


def test_an_existing_file_keeps_its_permissions(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    path.chmod(0o664)
    replace_bytes(path, b"")
    assert path.read_bytes() == b""
    assert path.stat().st_mode & 0o777 == 0o664


def test_permissions_that_are_asked_for_win_over_the_old_ones(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    path.chmod(0o644)
    replace_bytes(path, b"new", 0o700)
    assert path.stat().st_mode & 0o777 == 0o700


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give a file away")
def test_a_file_of_somebody_else_stays_theirs_under_sudo(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    os.chown(path, 12345, 23456)
    replace_bytes(path, b"new")
    assert (path.stat().st_uid, path.stat().st_gid) == (12345, 23456)


def test_a_link_stays_a_link_and_its_target_is_replaced(tmp_path: Path) -> None:
    dotfiles, home = tmp_path / "dotfiles", tmp_path / "home"
    dotfiles.mkdir()
    home.mkdir()
    (dotfiles / "real.json").write_bytes(b"old")
    (dotfiles / "middle.json").symlink_to("real.json")
    (home / "settings.json").symlink_to("../dotfiles/middle.json")
    replace_bytes(home / "settings.json", b"new")
    assert (home / "settings.json").is_symlink()
    assert (dotfiles / "middle.json").is_symlink()
    assert (dotfiles / "real.json").read_bytes() == b"new"
    assert (_names(dotfiles), _names(home)) == (["middle.json", "real.json"], ["settings.json"])


def test_a_link_to_nothing_gets_its_target(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("target")
    replace_bytes(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_bytes() == b"new"


def test_a_link_to_itself_is_an_error_in_words(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(RecallError, match="left as it was"):
        replace_bytes(tmp_path / "loop", b"new")
    assert _names(tmp_path) == ["loop"]


def test_what_is_no_regular_file_is_not_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for name in ("pipe", "folder"):
        with pytest.raises(RecallError, match="not a regular file"):
            replace_bytes(tmp_path / name, b"new")
    assert _names(tmp_path) == ["folder", "pipe"]


def test_a_missing_folder_is_an_error_in_words(tmp_path: Path) -> None:
    with pytest.raises(RecallError, match="No such file"):
        replace_bytes(tmp_path / "none" / "a", b"new")


def test_a_refusal_just_before_the_rename_comes_through_and_leaves_the_old_bytes(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    seen = []

    def refuse() -> None:
        seen.append((path.read_bytes(), len(_names(tmp_path))))
        raise KeyError("changed")

    with pytest.raises(KeyError):
        replace_bytes(path, b"new", before_rename=refuse)
    assert seen == [(b"old", 2)]
    assert path.read_bytes() == b"old"
    assert _names(tmp_path) == ["a"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_write_permission_is_an_error_in_words(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(RecallError, match="Permission denied"):
            replace_bytes(path, b"new")
    finally:
        tmp_path.chmod(0o700)
    assert path.read_bytes() == b"old"


def test_a_full_disk_leaves_the_old_bytes_and_nothing_beside_them(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    script = textwrap.dedent(
        """
        import pathlib, sys
        from recall.core.atomic import replace_bytes
        from recall.core.errors import RecallError
        try:
            replace_bytes(pathlib.Path(sys.argv[1]), b"x" * 9000)
        except RecallError as error:
            print(error)
        """
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(path)],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[3],
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)),  # the system refuses to write more
    )
    assert done.stdout.startswith(f"{path} was left as it was")
    assert path.read_bytes() == b"old"
    assert _names(tmp_path) == ["a"]
