"""Mutes: what is silenced where, that no command loses another's, and that a damaged file silences nothing."""

import json
import multiprocessing
from pathlib import Path

import pytest

from recall.core.errors import RecallError
from recall.daemon.mutes import Mutes
from recall.wire.paths import StatePaths


def add_some(home: str, which: int) -> None:
    mutes = Mutes(StatePaths(home))
    for number in range(8):
        mutes.add([f"/n/{which}-{number}.md"], "forever")


def test_each_scope_holds_where_it_was_set_and_nowhere_else(tmp_path: Path) -> None:
    mutes = Mutes(StatePaths(str(tmp_path)))
    mutes.add(["/a"], "forever")
    mutes.add(["/b"], "project", "/p")
    mutes.add(["/c"], "session", "s-1")
    reader = Mutes(StatePaths(str(tmp_path)))
    assert reader.muted(None, ()) == {"/a"}
    assert reader.muted("s-1", ("/p", "/q")) == {"/a", "/b", "/c"}
    assert reader.muted("s-2", ("/q",)) == {"/a"}
    assert (tmp_path / "mutes.json").stat().st_mode & 0o777 == 0o600


def test_signs_are_kept_once_a_line_and_not_of_what_one_session_wants_to_hear_no_more_of(tmp_path: Path) -> None:
    mutes = Mutes(StatePaths(str(tmp_path)))
    signs = {"cosine": 3.0, "score": 2.0, "length": 2.5}
    mutes.add(["/a.md", "/a.ja.md"], "forever", signs=signs)
    mutes.add(["/b"], "project", "/p", {"cosine": 1.0, "score": 2.0, "length": 2.5})
    mutes.add(["/c"], "session", "s-1", {"cosine": 4.0, "score": 2.0, "length": 2.5})
    mutes.add(["/d"], "forever")
    assert sorted(signs.cosine for signs in Mutes(StatePaths(str(tmp_path))).wrong()) == [1.0, 3.0]


def test_a_reader_takes_up_every_change_and_the_end_of_the_file(tmp_path: Path) -> None:
    mutes, reader = Mutes(StatePaths(str(tmp_path))), Mutes(StatePaths(str(tmp_path)))
    assert reader.muted(None, ()) == frozenset()
    mutes.add(["/a", "/b"], "forever")
    assert reader.muted(None, ()) == {"/a", "/b"}
    assert mutes.add(["/a"], "forever") == []
    assert [mute.path for mute in mutes.remove({"/a", "/unknown"})] == ["/a"]
    assert reader.muted(None, ()) == {"/b"}
    (tmp_path / "mutes.json").unlink()
    assert reader.muted(None, ()) == frozenset()


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"mutes": 7}', '{"mutes": [{"path": "/a"}]}', "\xff", '{"mutes": ["/a"]}',
             '{"mutes": [{"path": "/a", "scope": "somewhere", "of": "", "time": ""}]}',
             '{"mutes": [{"path": "/a", "scope": "forever", "of": "", "time": "", "signs": 3}]}']
)  # fmt: skip
def test_a_damaged_file_silences_nothing_and_is_never_overwritten(tmp_path: Path, text: str) -> None:
    path = tmp_path / "mutes.json"
    path.write_text(text, encoding="latin-1")
    reader = Mutes(StatePaths(str(tmp_path)))
    assert reader.muted(None, ()) == frozenset()
    assert "delete the file" in reader.problem
    with pytest.raises(RecallError, match="delete the file"):
        reader.add(["/b"], "forever")
    with pytest.raises(RecallError, match="delete the file"):
        reader.remove({"/a"})
    with pytest.raises(RecallError, match="delete the file"):
        reader.all()
    assert path.read_text(encoding="latin-1") == text


def test_what_was_muted_stays_so_while_the_file_is_damaged(tmp_path: Path) -> None:
    mutes = Mutes(StatePaths(str(tmp_path)))
    mutes.add(["/a"], "forever")
    assert mutes.muted(None, ()) == {"/a"}
    (tmp_path / "mutes.json").write_text("{")
    assert mutes.muted(None, ()) == {"/a"}
    assert mutes.problem


def test_commands_at_once_lose_no_mute(tmp_path: Path) -> None:
    path = tmp_path / "mutes.json"
    spawn = multiprocessing.get_context("spawn")
    writers = [spawn.Process(target=add_some, args=(str(tmp_path), which)) for which in range(3)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
    assert [writer.exitcode for writer in writers] == [0, 0, 0]
    assert len(json.loads(path.read_text())["mutes"]) == 24
