"""The edit of a real file: backup, receipt, links, races, and the way back."""

import json
import threading
from pathlib import Path

import pytest

from recall.core.errors import SettingsError
from recall.setup import receipt as receipts
from recall.setup import registration
from recall.setup.registration import Outcome, register, unregister
from recall.setup.settings import HookEntry, plan_register, plan_unregister, registered

OLD = HookEntry("/old/bin/recall-hook", ("hook", "--home", "/old"), 5)
NEW = HookEntry("/new/bin/recall-hook", ("hook", "--home", "/new"), 5)
BEFORE = b'{\r\n\t"env": {"KEY": "s3cret"},\r\n\t"hooks": { }\r\n}'


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "claude").mkdir()
    found = tmp_path / "claude" / "settings.json"
    found.write_bytes(BEFORE)
    found.chmod(0o640)
    return found


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"


def _files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if not path.is_dir())


def test_setup_adds_the_entry_and_says_where_the_old_file_is(path: Path, state: Path) -> None:
    outcome = register(path, NEW, state)
    assert (outcome.action, outcome.path) == ("added", path)
    assert outcome.backup is not None
    assert outcome.backup.read_bytes() == BEFORE
    assert outcome.backup.is_relative_to(state)
    assert path.read_bytes() == plan_register(BEFORE, NEW)
    assert path.stat().st_mode & 0o777 == 0o640
    assert _files(path.parent) == ["settings.json"]


def test_the_backup_is_for_the_owner_only(path: Path, state: Path) -> None:
    register(path, NEW, state)
    assert {item.stat().st_mode & 0o777 for item in (state / "backup").iterdir()} == {0o600}
    assert (state / "backup").stat().st_mode & 0o777 == 0o700


def test_a_second_setup_writes_nothing(path: Path, state: Path) -> None:
    register(path, NEW, state)
    before = path.stat(), _files(state)
    assert register(path, NEW, state) == Outcome("unchanged", path)
    assert (path.stat(), _files(state)) == before


def test_uninstall_gives_the_old_bytes_back_and_leaves_nothing_in_the_state_folder(path: Path, state: Path) -> None:
    register(path, OLD, state)
    assert register(path, NEW, state).action == "updated"
    assert unregister(path, state) == Outcome("restored", path)
    assert path.read_bytes() == BEFORE
    assert path.stat().st_mode & 0o777 == 0o640
    assert _files(state) == []
    assert unregister(path, state) == Outcome("unchanged", path)


def test_a_file_that_setup_made_is_gone_after_uninstall_with_its_folder(tmp_path: Path, state: Path) -> None:
    path = tmp_path / "project" / ".claude" / "settings.json"
    path.parent.parent.mkdir()
    assert register(path, NEW, state) == Outcome("added", path)
    assert registered(path.read_bytes()) == NEW
    assert unregister(path, state).action == "restored"
    assert list(path.parent.parent.iterdir()) == []


def test_a_folder_that_others_use_by_now_stays(tmp_path: Path, state: Path) -> None:
    path = tmp_path / ".claude" / "settings.json"
    register(path, NEW, state)
    (path.parent / "agents").mkdir()
    unregister(path, state)
    assert [item.name for item in path.parent.iterdir()] == ["agents"]


def test_what_was_changed_after_setup_survives_uninstall(path: Path, state: Path) -> None:
    register(path, NEW, state)
    edited = path.read_bytes().replace(b"s3cret", b"another")
    path.write_bytes(edited)
    assert unregister(path, state).action == "removed"
    assert path.read_bytes() == BEFORE.replace(b"s3cret", b"another").replace(b"{ }", b"{}")


def test_an_update_after_an_edit_does_not_bring_the_old_bytes_back_at_uninstall(path: Path, state: Path) -> None:
    register(path, OLD, state)
    path.write_bytes(path.read_bytes().replace(b"s3cret", b"another"))
    register(path, NEW, state)
    assert unregister(path, state).action == "removed"
    assert b"another" in path.read_bytes()


def test_an_entry_of_an_unknown_installation_is_backed_up_before_the_update(path: Path, state: Path) -> None:
    theirs = plan_register(b'{"model": "opus"}', OLD) or b""
    path.write_bytes(theirs)
    outcome = register(path, NEW, state)
    assert outcome.action == "updated"
    assert outcome.backup is not None
    assert outcome.backup.read_bytes() == theirs
    assert unregister(path, state).action == "removed"
    assert path.read_bytes() == b'{"model": "opus"}'


def test_a_setup_after_the_client_dropped_everything_keeps_the_first_backup(path: Path, state: Path) -> None:
    first = register(path, NEW, state).backup
    path.write_bytes(b"{}")
    second = register(path, NEW, state).backup
    assert first is not None
    assert second is not None
    assert first.read_bytes() == BEFORE
    assert second.read_bytes() == b"{}"


@pytest.mark.parametrize("damage", [b"", b"{}", b"[1]", b'{"original": 1, "written": 2, "made_folder": 3}'])
def test_a_damaged_receipt_means_surgery(path: Path, state: Path, damage: bytes) -> None:
    register(path, NEW, state)
    next((state / "backup").glob("*.json")).write_bytes(damage)
    assert unregister(path, state).action == "removed"
    assert json.loads(path.read_bytes()) == {"env": {"KEY": "s3cret"}}


def test_a_damaged_backup_is_not_given_back(path: Path, state: Path) -> None:
    backup = register(path, NEW, state).backup
    assert backup is not None
    backup.write_bytes(b'{"env": {}}')
    assert unregister(path, state).action == "removed"
    assert json.loads(path.read_bytes()) == {"env": {"KEY": "s3cret"}}


def test_two_settings_files_have_a_receipt_each(path: Path, tmp_path: Path, state: Path) -> None:
    other = tmp_path / "project" / "settings.json"
    register(path, NEW, state)
    register(other, NEW, state)
    assert unregister(path, state).action == "restored"
    assert unregister(other, state).action == "restored"
    assert path.read_bytes() == BEFORE
    assert not other.exists()


def test_a_linked_settings_file_stays_linked_and_shares_the_receipt_of_its_target(path: Path, state: Path) -> None:
    real = path.with_name("real.json")
    path.rename(real)
    path.symlink_to("real.json")
    register(path, NEW, state)
    assert path.is_symlink()
    assert registered(real.read_bytes()) == NEW
    assert unregister(real, state).action == "restored"
    assert path.is_symlink()
    assert path.read_bytes() == BEFORE


def test_a_refused_file_stays_as_it_is_and_the_error_names_it(path: Path, state: Path) -> None:
    path.write_bytes(b"{ // mine\n}")
    with pytest.raises(SettingsError) as at_setup:
        register(path, NEW, state)
    with pytest.raises(SettingsError) as at_uninstall:
        unregister(path, state)
    assert str(at_setup.value).startswith(f"{path}, line 1, column 3: ")
    assert str(at_uninstall.value) == str(at_setup.value)
    assert path.read_bytes() == b"{ // mine\n}"
    assert not state.exists()


def test_a_folder_in_the_place_of_the_file_is_an_error_in_words(tmp_path: Path, state: Path) -> None:
    with pytest.raises(SettingsError, match="expected a readable file"):
        register(tmp_path, NEW, state)


def test_an_edit_by_somebody_else_in_between_is_kept(path: Path, state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    theirs = iter([b'{"theirs": 1}', b'{"theirs": 2}'])

    def plan(raw: bytes | None, entry: HookEntry, *_: object, **__: object) -> bytes | None:
        if (edit := next(theirs, None)) is not None:
            path.write_bytes(edit)
        return plan_register(raw, entry)

    monkeypatch.setattr(registration, "plan_register", plan)
    backup = register(path, NEW, state).backup
    assert path.read_bytes() == plan_register(b'{"theirs": 2}', NEW)
    assert backup is not None
    assert backup.read_bytes() == b'{"theirs": 2}'
    assert unregister(path, state).action == "restored"
    assert path.read_bytes() == b'{"theirs": 2}'


def test_an_edit_during_uninstall_is_kept(path: Path, state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    register(path, NEW, state)
    path.write_bytes(path.read_bytes() + b"\n")
    theirs = iter([plan_register(b'{"theirs": 1}', NEW) or b""])

    def plan(raw: bytes, original: bytes | None = None, *_: object) -> bytes | None:
        if (edit := next(theirs, None)) is not None:
            path.write_bytes(edit)
        return plan_unregister(raw, original)

    monkeypatch.setattr(registration, "plan_unregister", plan)
    assert unregister(path, state).action == "removed"
    assert json.loads(path.read_bytes())["theirs"] == 1


def test_a_file_that_never_comes_to_rest_is_given_up(path: Path, state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def plan(raw: bytes | None, entry: HookEntry, *_: object, **__: object) -> bytes | None:
        path.write_bytes(path.read_bytes() + b" ")
        return plan_register(raw, entry)

    monkeypatch.setattr(registration, "plan_register", plan)
    with pytest.raises(SettingsError, match="rewritten 5 times"):
        register(path, NEW, state)
    assert path.read_bytes() == BEFORE + b" " * registration.TRIES


def test_setups_at_the_same_time_leave_one_entry(path: Path, state: Path) -> None:
    start = threading.Barrier(8)
    outcomes: list[str] = []

    def run() -> None:
        start.wait()
        outcomes.append(register(path, NEW, state).action)

    threads = [threading.Thread(target=run) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(outcomes) == 8
    assert "added" in outcomes
    assert path.read_bytes() == plan_register(BEFORE, NEW)
    assert _files(path.parent) == ["settings.json"]
    assert unregister(path, state).action == "restored"
    assert path.read_bytes() == BEFORE


def test_the_receipt_reads_back_as_written(path: Path, state: Path) -> None:
    for receipt in (receipts.Receipt(BEFORE, ("a" * 64, "b" * 64)), receipts.Receipt(None, (), True, "codex")):
        receipts.save(state, path, receipt)
        assert receipts.load(state, path) == receipt


def test_a_receipt_from_before_other_agents_is_claude_codes_and_one_of_a_later_agent_is_none(
    path: Path, state: Path
) -> None:
    register(path, NEW, state)
    (file,) = (state / "backup").glob("*.json")
    fields = json.loads(file.read_bytes())
    assert fields.pop("agent") == "claude"
    file.write_text(json.dumps(fields))
    assert receipts.registered_in(state) == [("claude", path)]
    assert receipts.load(state, path) is not None
    file.write_text(json.dumps({**fields, "agent": "cursor"}))
    assert receipts.registered_in(state) == []
    assert receipts.load(state, path) is None
    assert unregister(path, state).action == "removed"
