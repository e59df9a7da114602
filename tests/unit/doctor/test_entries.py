"""Our entries in settings files and plugins, and taking a condition out of one."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.core.errors import SettingsError
from recall.doctor.case import Case
from recall.doctor.entries import drop, entries, load, own_entries, plugin_entries, without
from recall.wire.paths import StatePaths

OURS = {"type": "command", "command": "/opt/recall", "args": ["hook", "--home", "/s"], "timeout": 5}


def document(*handlers: Mapping[str, object], **others: object) -> dict[str, object]:
    return {**others, "hooks": {"UserPromptSubmit": [{"hooks": list(handlers)}]}}


@pytest.mark.parametrize("indent", [None, 2, "\t"])
def test_a_condition_goes_and_every_other_byte_stays(indent: int | str | None) -> None:
    for before in ({}, {"statusMessage": "x"}):
        for after in ({}, {"async": False}):
            with_it = document({**OURS, **before, "if": "Bash(git *)", **after}, {"type": "command", "command": "b"})
            expected = document({**OURS, **before, **after}, {"type": "command", "command": "b"})
            raw = json.dumps(with_it, indent=indent).encode()
            assert without(raw, "if") == json.dumps(expected, indent=indent).encode()


def test_others_keep_their_conditions() -> None:
    theirs = {"type": "command", "command": "/opt/other", "if": "Bash(ls)"}
    raw = json.dumps(document(theirs, {"if": "x", **OURS})).encode()
    assert without(raw, "if") == json.dumps(document(theirs, OURS)).encode()


@given(st.text(max_size=20), st.booleans())
def test_whatever_else_stands_there_stays(text: str, mark: bool) -> None:
    value = document({**OURS, "if": text, "note": text}, title=text)
    raw = b"\xef\xbb\xbf" * mark + json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
    new = without(raw, "if")
    assert new.startswith(b"\xef\xbb\xbf") is mark
    del value["hooks"]["UserPromptSubmit"][0]["hooks"][0]["if"]  # type: ignore[index]
    assert new[3 * mark :] == json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")


def test_a_file_that_changes_meanwhile_stays_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "settings.json"
    file.write_text(json.dumps(document({**OURS, "if": "x"})))
    reads = iter([file.read_bytes(), b"{}"])
    monkeypatch.setattr("recall.doctor.entries.read_settings", lambda _: next(reads))
    before = file.read_bytes()
    with pytest.raises(SettingsError, match="another program"):
        drop(file, "if")
    assert file.read_bytes() == before


@pytest.fixture
def case(tmp_path: Path) -> Case:
    claude = tmp_path / "claude"
    claude.mkdir()
    return Case(StatePaths("/s"), {"CLAUDE_CONFIG_DIR": str(claude)}, tmp_path / "project", "linux", 0.0, tmp_path)


def test_ours_are_found_in_every_file_and_told_apart_by_their_state_folder(case: Case, tmp_path: Path) -> None:
    (tmp_path / "claude" / "settings.json").write_text(json.dumps(document(OURS, {"type": "command", "command": "x"})))
    local = tmp_path / "project" / ".claude" / "settings.local.json"
    local.parent.mkdir(parents=True)
    local.write_text(json.dumps(document({**OURS, "args": ["hook", "--home", "/other", "--budget", "700"]})))
    local.with_name("settings.json").write_text("{ // broken")
    found = entries(case)
    assert [entry.home for entry in found] == ["/s", "/other"]
    assert [entry.budget_ms for entry in found] == [None, 700]
    assert own_entries(case) == found[:1]


def test_a_plugin_that_calls_recall_is_found(case: Case, tmp_path: Path) -> None:
    root = tmp_path / "plugin"
    (root / "hooks").mkdir(parents=True)
    ours = {"type": "command", "command": "${CLAUDE_PLUGIN_ROOT}/bin/recall", "args": ["hook"]}
    (root / "hooks" / "hooks.json").write_text(json.dumps(document(ours)))
    (tmp_path / "claude" / "plugins").mkdir()
    (tmp_path / "claude" / "plugins" / "installed_plugins.json").write_text(
        json.dumps({"plugins": {"recall@here": [{"installPath": str(root)}], "off@here": [{"installPath": str(root)}]}})
    )
    (tmp_path / "claude" / "settings.json").write_text(
        json.dumps({"enabledPlugins": {"recall@here": True, "off@here": False, "unknown@here": True}})
    )
    found = plugin_entries(case)
    assert list(found) == ["recall@here"]
    assert found["recall@here"].calls.command == f"{root}/bin/recall"


def test_a_settings_file_that_is_no_json_is_an_error_that_names_it(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    assert load(file) == {}
    file.write_text("")
    assert load(file) == {}
    file.write_text("{,}")
    with pytest.raises(SettingsError, match=r"settings\.json"):
        load(file)
