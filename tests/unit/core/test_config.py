"""config.toml: defaults, checks and the file that setup writes."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.core.config import SETTINGS, Config, _toml, load_config, render_default_config
from recall.core.errors import ConfigError


def test_a_missing_file_gives_the_defaults(tmp_path: Path) -> None:
    assert load_config(tmp_path / "config.toml").values == {setting.key: setting.default for setting in SETTINGS}


def test_the_file_that_setup_writes_holds_every_setting_and_changes_none(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text(render_default_config({}), encoding="utf-8")
    assert load_config(path).values == Config().values
    for setting in SETTINGS:
        assert setting.doc in path.read_text(encoding="utf-8")
    written = path.read_text("utf-8").replace("# [[", "[[").splitlines()
    uncommented = [line.removeprefix("# ") if " = " in line else line for line in written]
    path.write_text("\n".join(line for line in uncommented if not line.startswith("#")), encoding="utf-8")
    with pytest.raises(ConfigError, match="path of knowledge number 1 is missing"):
        load_config(path)
    path.write_text(path.read_text("utf-8").replace('path = ""', 'path = "/rules"'), encoding="utf-8")
    folder = {"path": "/rules", "scope": "shared", "include": ["**"], "exclude": []}
    assert load_config(path).values == dict(Config().values) | {"knowledge": [folder]}


def test_overrides_are_written_for_real(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text(render_default_config({"claude_folders": ["/a b/日本", 'C:\\"x"']}), encoding="utf-8")
    assert load_config(path)["claude_folders"] == ["/a b/日本", 'C:\\"x"']


@given(st.text())
def test_any_text_survives_as_toml(text: str) -> None:
    import tomllib

    text = text.encode("utf-8", "replace").decode()
    assert tomllib.loads(f"x = {_toml(text)}")["x"] == text


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("x = 1", 1, ["'x'", "enabled", "hook.budget_ms"]),
        ("\n[hook]\nbudget_ms = 'a'", 3, ["hook.budget_ms", "whole number from 60 to 5000", "'a'"]),
        ("hook.budget_ms = true", 1, ["whole number", "True"]),
        ("[hook]\n\nbudget_ms = 9", 3, ["from 60 to 5000", "9"]),
        ("[daemon]\nidle_hours = 'long'", 2, ["a number", "'long'"]),
        ("enabled = 1", 1, ["true or false", "1"]),
        ('language = "fr"', 1, ["'auto', 'en', 'ja'", "'fr'"]),
        ('claude_folders = "~/.claude"', 1, ["a list of texts"]),
        ("claude_folders = [1]", 1, ["a list of texts"]),
        ('[share]\nkinds = ["memory", "rules"]', 2, ["'memory', 'knowledge', 'conversation'", "'rules'"]),
        ("share.kinds = 'memory'", 1, ["a list of some of 'memory'"]),
        ("[hook]\nbudget = 1", 2, ["'hook.budget'"]),
        ("[foo.bar]\nx = 1", 2, ["'foo.bar.x'"]),
        ("knowledge = ['a']", 1, ["[[knowledge]]"]),
        ("[[knowledge]]\npath = '/a'\n[[knowledge]]\nscope = 'x'", 1, ["path of knowledge number 2"]),
        ("[[knowledge]]\npath = '/a'\n[[knowledge]]\n\npath = 7", 5, ["path must be a text", "7"]),
        ("[[knowledge]]\npath = '/a'\nglob = 'x'", 3, ["'glob'", "path, scope, include, exclude"]),
        ('claude_folders = ["/a\\u0000b"]', 1, ["a list of texts"]),
        ("a = [", 1, ["TOML"]),
    ],
)
def test_what_is_wrong_is_one_sentence_with_file_line_and_expectation(
    tmp_path: Path, text: str, line: int, words: list[str]
) -> None:
    path = tmp_path / "config.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    sentence = str(caught.value)
    assert str(path) in sentence
    assert f"line {line}" in sentence or "TOML" in words
    assert [word for word in words if word not in sentence] == []


@pytest.mark.parametrize(("value", "expected"), [("6", 6.0), ("0.5", 0.5)])
def test_a_whole_number_serves_where_a_fraction_is_expected(tmp_path: Path, value: str, expected: float) -> None:
    path = tmp_path / "config.toml"
    path.write_text(f"\ufeff[daemon]\nidle_hours = {value}\n", encoding="utf-8")
    assert load_config(path)["daemon.idle_hours"] == expected


def test_nobody_is_told_to_delete_what_keeps_projects_at_home(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    for data in (b"not_projects = ['acme'", b"\xff", b"a = " + b"[" * 5000):
        path.write_bytes(data)
        with pytest.raises(ConfigError) as raised:
            load_config(path)
        words = str(raised.value).replace(str(path), "")
        assert "mend" in words
        assert "delete" not in words


def test_not_utf_8_is_said(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_bytes(b"model = '\xff'")
    with pytest.raises(ConfigError, match="UTF-8"):
        load_config(path)


def test_the_claude_folders_are_the_configured_ones_else_the_environments_else_the_homes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    values: dict[str, Any] = dict(Config().values)
    assert Config(values).claude_folders({}) == [Path("/home/me/.claude")]
    assert Config(values).claude_folders({"CLAUDE_CONFIG_DIR": "/else"}) == [Path("/else")]
    values["claude_folders"] = ["~/a", "/b"]
    assert Config(values).claude_folders({"CLAUDE_CONFIG_DIR": "/else"}) == [Path("/home/me/a"), Path("/b")]
