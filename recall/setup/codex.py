"""Codex' config.toml, which recall reads and never writes: whether Codex can read it, its switch, and hooks in it.

What developers.openai.com/codex/hooks says: `[features] hooks = false` switches hooks off, `codex_hooks` is its older
name; hooks stand in hooks.json or beside it in config.toml as `[[hooks.EVENT]]` tables, and both run.
"""

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from recall.core.errors import SettingsError
from recall.setup.agents import AGENTS
from recall.setup.command import calls_recall, words_of
from recall.setup.entries import HookEntry
from recall.setup.registration import read_settings

CODEX = AGENTS["codex"]


class Written(NamedTuple):
    """An entry that a person has written into config.toml: what it calls, its keys, and those of its group."""

    calls: HookEntry
    keys: Mapping[str, Any]
    group: Mapping[str, Any]


def config_of(hooks: Path) -> Path:
    """The config.toml beside a hooks.json."""
    return hooks.with_name("config.toml")


def read_config(path: Path) -> dict[str, Any]:
    """What config.toml holds, nothing where there is none. Raises SettingsError for what Codex cannot read; past a
    byte order mark it reads."""
    try:
        return tomllib.loads((read_settings(path) or b"").decode("utf-8-sig"))
    except ValueError as error:
        raise SettingsError(
            f"{path}: expected TOML in UTF-8, found: {error}; Codex cannot read it: mend that place by hand"
        ) from error


def switched_off(path: Path) -> str:
    """The switch in config.toml that keeps all hooks from running, empty where none does. Raises SettingsError."""
    features = read_config(path).get("features")
    for key in ("hooks", "codex_hooks"):
        if isinstance(features, dict) and key in features:
            return f"features.{key}" if features[key] is False else ""
    return ""


def written(path: Path, event: str) -> list[Written]:
    """Our entries for an event in config.toml. Raises SettingsError."""
    return [Written(_entry(handler), handler, group) for group, handler in _handlers(path, event) if _is_ours(handler)]


def calls_us(path: Path) -> HookEntry | None:
    """Our first entry for messages in config.toml, None where there is none or it cannot be read."""
    try:
        return next((one.calls for one in written(path, CODEX.prompt)), None)
    except SettingsError:
        return None


def _handlers(path: Path, event: str) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    hooks = read_config(path).get("hooks")
    groups = hooks.get(event) if isinstance(hooks, dict) else None
    for group in groups if isinstance(groups, list) else []:
        inner = group.get("hooks") if isinstance(group, dict) else None
        yield from ((group, one) for one in (inner if isinstance(inner, list) else []) if isinstance(one, dict))


def _words(handler: Mapping[str, Any]) -> list[str]:
    command = handler.get("command")
    return words_of(command if isinstance(command, str) else "", (), CODEX.shell)


def _is_ours(handler: Mapping[str, Any]) -> bool:
    program, *args = _words(handler)
    return handler.get("type") == "command" and calls_recall(program, args)


def _entry(handler: Mapping[str, Any]) -> HookEntry:
    program, *args = _words(handler)
    timeout = handler.get("timeout")
    return HookEntry(program, tuple(args), timeout if isinstance(timeout, int) else 0)
