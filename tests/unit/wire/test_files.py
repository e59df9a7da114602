"""What stands in the place of a file of the state folder is said, and never waited for."""

import os
import socket
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from recall.core.config import load_config
from recall.core.errors import RecallError, system_error
from recall.core.log import Log, append
from recall.daemon.journal import Entry, Journal, read_entries
from recall.daemon.mutes import Mutes
from recall.embed.gates import read_gates, write_gates
from recall.embed.manifest_file import read_manifest
from recall.embed.verdicts import Verdicts
from recall.install.made import made_folders, remember
from recall.install.place import Place
from recall.replica.membership import read_membership
from recall.store.connection import open_reader
from recall.wire.files import NotAFile, open_file, read_file
from recall.wire.lock import HeldLock, holder
from recall.wire.paths import StatePaths
from recall.wire.transport import ask

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="kinds of files that Windows has not")


def pipe(path: Path) -> None:
    os.mkfifo(path, 0o600)


def listener(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as sock:
        sock.bind(str(path))


KINDS: dict[str, Callable[[Path], object]] = {
    "a named pipe": pipe,
    "a folder": Path.mkdir,
    "a socket": listener,
    "a device": lambda path: path.symlink_to(os.devnull),
}


@pytest.mark.parametrize("flags", [os.O_RDONLY, os.O_WRONLY | os.O_APPEND, os.O_RDWR | os.O_CREAT])
@pytest.mark.parametrize("kind", KINDS)
def test_anything_but_a_file_is_named_at_once(tmp_path: Path, kind: str, flags: int) -> None:
    path = tmp_path / "x"
    KINDS[kind](path)
    with pytest.raises(NotAFile) as raised:
        open_file(path, flags)
    assert str(raised.value) == f"{path}: expected a file, found {kind}; take it away"
    assert system_error(raised.value) == str(raised.value)


def test_a_file_is_read_and_made_as_usual(tmp_path: Path) -> None:
    path = tmp_path / "x"
    with pytest.raises(FileNotFoundError):
        read_file(path)
    with os.fdopen(open_file(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND), "wb") as file:
        file.write(b"a\r\n\x00")
    assert path.stat().st_mode & 0o777 == 0o600
    assert read_file(path) == b"a\r\n\x00"
    (tmp_path / "link").symlink_to(path)
    assert read_file(tmp_path / "link") == b"a\r\n\x00"


NAMED: dict[str, Callable[[Path], object]] = {
    "config": load_config,
    "mutes": lambda path: Mutes(StatePaths(str(path.parent))).all(),
    "gates": read_gates,
    "gates-written": lambda path: write_gates(path, "m", "gap", {"floor": 0.5, "weak": 0.1, "strong": 0.2}),
    "manifest": lambda path: read_manifest(path, path.parent),
    "membership": read_membership,
    "index": open_reader,
    "log": lambda path: append(path, b"line"),
    "lock": HeldLock.acquire,
    "lock-asked": HeldLock.is_held,
}


@pytest.mark.parametrize("reader", NAMED)
def test_whoever_needs_a_file_says_what_stands_in_its_place(tmp_path: Path, reader: str) -> None:
    path = tmp_path / ("mutes.json" if reader == "mutes" else "x")
    pipe(path)
    with pytest.raises((RecallError, NotAFile), match=str(path)):
        NAMED[reader](path)


def test_what_can_be_done_without_is_done_without(tmp_path: Path) -> None:
    path = tmp_path / "x"
    pipe(path)
    Log(path).event("started")
    Journal(path).add(Entry("s", "none", "quiet"))
    assert list(read_entries(path)) == []
    assert Verdicts(path).get("cuda", timed=True) is None
    assert holder(path) is None


def test_a_list_of_made_folders_that_is_none_is_empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    place = Place.of_user()
    place.data.mkdir(parents=True)
    pipe(place.data / "made.txt")
    assert made_folders(place) == []
    with pytest.raises(NotAFile):
        remember(place, [tmp_path])


def test_an_address_that_is_no_file_is_nobodys(tmp_path: Path) -> None:
    paths = StatePaths(str(tmp_path))
    pipe(Path(paths.endpoint))
    with pytest.raises(NotAFile):
        ask(paths, "status", timeout=5.0)
