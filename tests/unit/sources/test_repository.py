import os
import shutil
import subprocess
from pathlib import Path

import pytest

from recall.sources.repository import is_path, is_whole, real_path, repository_root


@pytest.fixture
def work(tmp_path: Path) -> Path:
    return Path(os.path.realpath(tmp_path))


def make_repository(folder: Path) -> Path:
    (folder / ".git").mkdir(parents=True)
    return folder


def make_worktree(folder: Path, common: Path, name: str = "w1") -> Path:
    """What `git worktree add` writes: three files that point at each other."""
    administrative = common / "worktrees" / name
    administrative.mkdir(parents=True)
    (administrative / "commondir").write_text("../..\n")
    (administrative / "gitdir").write_text(f"{folder / '.git'}\n")
    folder.mkdir(parents=True)
    (folder / ".git").write_text(f"gitdir: {administrative}\n")
    return folder


def root(path: Path) -> Path:
    return Path(repository_root(str(path)))


def test_a_sub_folder_belongs_to_the_nearest_repository(work: Path) -> None:
    outer = make_repository(work / "outer")
    inner = make_repository(work / "outer/inner")
    (inner / "a/b").mkdir(parents=True)
    assert root(outer) == outer
    assert root(inner / "a/b") == inner


def test_without_a_repository_a_folder_stands_for_itself(work: Path) -> None:
    (work / "plain/sub").mkdir(parents=True)
    assert root(work / "plain/sub") == work / "plain/sub"


def test_worktrees_belong_to_the_main_one(work: Path) -> None:
    main = make_repository(work / "main")
    worktree = make_worktree(work / "elsewhere/feature", main / ".git")
    (worktree / "sub").mkdir()
    assert root(worktree / "sub") == main


def test_what_is_left_of_a_worktree_or_a_folder_is_not_whole(work: Path) -> None:
    main = make_repository(work / "main")
    worktree = make_worktree(work / "feature", main / ".git")
    module = work / "main/module"
    module.mkdir()
    (module / ".git").write_text("gitdir: ../.git/modules/module\n")
    (main / ".git/modules/module").mkdir(parents=True)
    (work / "plain").mkdir()
    for there in (main, worktree, module, work / "plain"):
        assert is_whole(str(there))
    main.rename(work / "moved")
    (work / "file").write_text("")
    (work / "odd").mkdir()
    (work / "odd/.git").write_bytes(b"\0")
    for gone in (main, worktree, module, work / "nothing", work / "file", work / "odd"):
        assert not is_whole(str(gone))


def test_a_worktree_with_relative_pointers_belongs_to_the_main_one(work: Path) -> None:
    main = make_repository(work / "main")
    worktree = make_worktree(work / "feature", main / ".git")
    (worktree / ".git").write_text("gitdir: ../main/.git/worktrees/w1\n")
    (main / ".git/worktrees/w1/gitdir").write_text("../../../../feature/.git\n")
    assert root(worktree) == main


def test_worktrees_of_a_bare_repository_are_one_project(work: Path) -> None:
    one = make_worktree(work / "one", work / "project.git", "one")
    two = make_worktree(work / "two", work / "project.git", "two")
    assert root(one) == root(two) == work / "project.git"


def test_a_submodule_stays_its_own(work: Path) -> None:
    outer = make_repository(work / "outer")
    (outer / ".git/modules/inner").mkdir(parents=True)
    (outer / "inner").mkdir()
    (outer / "inner/.git").write_text("gitdir: ../.git/modules/inner\n")
    assert root(outer / "inner") == outer / "inner"


@pytest.mark.parametrize(
    "pointer", ["", "nonsense", "gitdir: ", "gitdir: /nowhere", "gitdir: a\0b", "\xff\xfe", "x" * 9000]
)
def test_a_broken_pointer_leaves_the_folder_for_itself(work: Path, pointer: str) -> None:
    (work / "folder").mkdir()
    (work / "folder/.git").write_bytes(pointer.encode("latin-1"))
    assert root(work / "folder") == work / "folder"


def test_a_stranger_cannot_pass_for_a_worktree_of_another_repository(work: Path) -> None:
    ours = make_repository(work / "ours")
    make_worktree(work / "ours-feature", ours / ".git")
    stranger = work / "stranger"
    stranger.mkdir()
    (stranger / ".git").write_text(f"gitdir: {ours}/.git/worktrees/w1\n")
    assert root(stranger) == stranger
    (stranger / "made-up").mkdir()
    (stranger / "made-up/commondir").write_text(f"{ours}/.git\n")
    (stranger / "made-up/gitdir").write_text(f"{stranger}/.git\n")
    (stranger / ".git").write_text("gitdir: made-up\n")
    assert root(stranger) == stranger


def test_a_path_through_a_link_is_the_real_one(work: Path) -> None:
    main = make_repository(work / "main")
    (main / "sub").mkdir()
    (work / "link").symlink_to(main / "sub")
    assert root(work / "link") == main


def test_a_deleted_folder_belongs_to_the_repository_that_it_stood_in(work: Path) -> None:
    main = make_repository(work / "main")
    assert root(main / ".claude/worktrees/gone") == main
    assert root(work / "gone/for/ever") == work / "gone/for/ever"


def test_links_that_go_round_end(work: Path) -> None:
    (work / "a").symlink_to(work / "b")
    (work / "b").symlink_to(work / "a")
    assert root(work / "a").parent == work


@pytest.mark.parametrize(
    "text", ["", "relative/path", "C:\\work" if os.sep == "/" else "/work", "/a\0b", "/\ud800", "/a" * 5000]
)
def test_what_is_no_path_here_comes_back_as_it_is(text: str) -> None:
    assert not is_path(text)
    assert repository_root(text) == real_path(text) == text


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_what_git_itself_makes_is_understood(work: Path) -> None:
    def git(*arguments: str, folder: Path = work) -> None:
        settings = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "PATH": os.environ["PATH"]}
        identity = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
        subprocess.run(["git", *identity, *arguments], cwd=folder, env=settings, check=True, capture_output=True)

    git("init", "main")
    git("commit", "--allow-empty", "-m", "first", folder=work / "main")
    git("worktree", "add", "../feature", folder=work / "main")
    git("clone", "--bare", "main", "bare.git")
    git("worktree", "add", "../of-bare", folder=work / "bare.git")
    git("init", "--separate-git-dir", str(work / "data"), "separate")
    assert root(work / "feature") == work / "main"
    assert root(work / "of-bare") == work / "bare.git"
    assert root(work / "separate") == work / "separate"
