"""config.toml at setup: a new one explains itself, an existing one keeps its layout."""

from pathlib import Path

import pytest

from recall.core.config import load_config
from recall.core.errors import ConfigError
from recall.setup.configfile import ensure_agent_folders, ensure_config, folders_to_list


@pytest.fixture(autouse=True)
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder in which ~/.claude is."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    (tmp_path / ".claude").mkdir()
    return tmp_path


def _file(home: Path) -> Path:
    return home / "config.toml"


def test_a_new_file_lists_no_folder_when_the_usual_one_is_meant(person: Path) -> None:
    assert ensure_config(person, person / ".claude") == [f"wrote {_file(person)}"]
    assert load_config(_file(person))["claude_folders"] == []
    assert "# claude_folders" in _file(person).read_text()
    assert _file(person).stat().st_mode & 0o777 == 0o600


def test_a_new_file_lists_another_folder_alone(person: Path) -> None:
    ensure_config(person, person / "work")
    assert load_config(_file(person))["claude_folders"] == [str(person / "work")]


def test_nothing_is_done_twice(person: Path) -> None:
    ensure_config(person, person / "work")
    before = _file(person).read_bytes()
    assert ensure_config(person, person / "work") == []
    assert _file(person).read_bytes() == before


def test_a_second_account_does_not_push_the_first_one_out(person: Path) -> None:
    ensure_config(person, person / ".claude")
    told = ensure_config(person, person / "work")
    assert told == [f"added {person / 'work'} to claude_folders in {_file(person)}"]
    assert load_config(_file(person))["claude_folders"] == ["~/.claude", str(person / "work")]


def test_comments_order_and_the_layout_of_the_list_stay(person: Path) -> None:
    _file(person).write_text(
        '# mine\nenabled = true  # yes\n\nclaude_folders = [\n  "~/one", # first\n]\n[hook]\nbudget_ms=250\n'
    )
    _file(person).chmod(0o640)
    ensure_config(person, person / "two")
    assert _file(person).read_text() == (
        f'# mine\nenabled = true  # yes\n\nclaude_folders = [\n  "~/one", # first\n  "{person / "two"}",\n]\n'
        "[hook]\nbudget_ms=250\n"
    )
    assert _file(person).stat().st_mode & 0o777 == 0o640


def test_the_list_goes_before_the_first_table(person: Path) -> None:
    _file(person).write_bytes(b"\xef\xbb\xbf[hook]\nbudget_ms = 250 # slow\n")
    ensure_config(person, person / "two")
    config = load_config(_file(person))
    assert config["claude_folders"] == ["~/.claude", str(person / "two")]
    assert config["hook.budget_ms"] == 250
    assert b"# slow" in _file(person).read_bytes()


def test_a_file_that_cannot_be_read_is_left_alone(person: Path) -> None:
    _file(person).write_text("claude_folders = 'x'\n")
    with pytest.raises(ConfigError, match="a list of texts"):
        ensure_config(person, person / "two")
    assert _file(person).read_text() == "claude_folders = 'x'\n"


def test_the_same_folder_by_another_name_is_not_listed_again(person: Path) -> None:
    (person / "link").symlink_to(".claude")
    assert folders_to_list([], person / "link", in_use=True) is None
    assert folders_to_list(["~/link/"], Path("~/.claude"), in_use=True) is None


def test_the_usual_folder_is_listed_once_others_are(person: Path) -> None:
    assert folders_to_list(["/a"], person / ".claude", in_use=True) == ["/a", str(person / ".claude")]


def test_folders_of_other_agents_that_the_environment_moves_are_listed_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    ensure_config(tmp_path, tmp_path / ".claude")
    before = (tmp_path / "config.toml").read_bytes()
    assert ensure_agent_folders(tmp_path, {"CODEX_HOME": "~/.codex"}) == []
    assert (tmp_path / "config.toml").read_bytes() == before
    (line,) = ensure_agent_folders(tmp_path, {"CODEX_HOME": "/srv/codex"})
    assert "/srv/codex" in line
    usual = [str(tmp_path / name) for name in (".codex", ".qwen", ".gemini")]
    assert load_config(tmp_path / "config.toml")["agents.folders"] == [*usual, "/srv/codex"]
    assert ensure_agent_folders(tmp_path, {"CODEX_HOME": "/srv/codex"}) == []
    assert len(ensure_agent_folders(tmp_path, {"QWEN_HOME": "/srv/qwen"})) == 1
    assert load_config(tmp_path / "config.toml")["agents.folders"] == [*usual, "/srv/codex", "/srv/qwen"]
