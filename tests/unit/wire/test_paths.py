"""Where the state folder and the socket are."""

import os
from pathlib import Path

import platformdirs
import pytest

from recall.wire.paths import MAX_SOCKET_PATH, StatePaths, make_private_folder, state_home


def test_the_state_folder_is_what_was_asked_for_else_the_environment_else_the_platforms(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("RECALL_HOME", raising=False)
    assert state_home() == platformdirs.user_data_dir("recall", appauthor=False)
    monkeypatch.setenv("RECALL_HOME", "~/there")
    assert state_home() == str(tmp_path / "there")
    assert state_home(str(tmp_path / "given")) == str(tmp_path / "given")


def test_the_socket_lies_in_the_state_folder_while_its_path_fits() -> None:
    assert StatePaths("/s/日本").socket == "/s/日本/recall.sock"
    fits = "/" + "x" * (MAX_SOCKET_PATH - 13)
    assert StatePaths(fits).socket == fits + "/recall.sock"


def test_a_long_state_folder_gets_a_short_socket_folder_that_only_depends_on_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", "/h")
    one, other = StatePaths("/" + "日" * 60), StatePaths("/" + "本" * 60)
    usual = one.socket
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    assert one.socket == usual
    assert one.socket.startswith("/h/.recall/")
    assert len(os.fsencode(one.socket)) <= MAX_SOCKET_PATH
    assert one.socket != other.socket


def test_a_private_folder_is_its_owners_only_also_when_it_was_not(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    make_private_folder(str(folder))
    assert folder.stat().st_mode & 0o777 == 0o700
    folder.chmod(0o755)
    make_private_folder(str(folder))
    assert folder.stat().st_mode & 0o777 == 0o700
