"""config.toml: every setting with its type, default and meaning, and the one function that reads the file.

`SETTINGS` is the single table: the loader checks against it, `render_default_config` prints it, and the tests
compare it with the README.
"""

import re
import tomllib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from recall.core.errors import ConfigError
from recall.wire.files import NotAFile, read_file


@dataclass(frozen=True, slots=True)
class Setting:
    """One key of config.toml. `choices` lists the allowed words, `low`/`high` the allowed range (both inclusive).

    `table` makes it a list of tables (`[[key]]`) with these keys; one whose default is "" must be given.
    """

    key: str
    default: bool | int | float | str | list[str]
    doc: str
    choices: tuple[str, ...] = ()
    low: float = 0
    high: float = float("inf")
    table: tuple["Setting", ...] = ()


SETTINGS: tuple[Setting, ...] = (
    Setting("enabled", True, "false silences the hook at once; the index is kept up to date all the same"),
    Setting("language", "auto", "language of the headlines' first line", choices=("auto", "en", "ja")),
    Setting("claude_folders", [], "Claude Code's folders, one per account; empty: CLAUDE_CONFIG_DIR, else ~/.claude"),
    Setting("model", "multilingual-e5-small", "name of the embedding model"),
    Setting(
        "device",
        "auto",
        "what the model runs on; auto: the first that passes a test",
        choices=("auto", "cpu", "cuda", "coreml"),
    ),
    Setting("gate", "calibrated", "rule for how much is handed over", choices=("calibrated", "gap")),
    Setting(
        "session_start", True, "false: sessions begin without the list of decisions, where the hook is called for it"
    ),
    Setting("hook.budget_ms", 300, "longest time in ms that a message may wait for recall", low=60, high=5000),
    Setting("hook.min_characters", 8, "shorter messages are not searched", low=1, high=1000),
    Setting("daemon.transport", "auto", "auto: unix socket, on Windows loopback TCP", choices=("auto", "unix", "tcp")),
    Setting("daemon.idle_hours", 6.0, "the daemon ends after so many hours without a question", low=0.001, high=8760),
    Setting("daemon.scan_seconds", 60, "while in use, notes are looked over this often", low=1, high=86400),
    Setting("conversations.enabled", True, "whether past conversations are indexed"),
    Setting(
        "conversations.keep_days",
        365,
        "days that conversations stay whose transcript Claude Code has deleted; 0: they go with it",
        high=36500,
    ),
    Setting(
        "share.kinds",
        ["memory", "knowledge", "conversation"],
        "what goes to the team, if you have joined one",
        choices=("memory", "knowledge", "conversation"),
    ),
    Setting("share.projects", [], "names of the projects whose records go there; empty: all"),
    Setting("share.not_projects", [], "names of projects whose records stay here"),
    Setting(
        "share.minutes", 5, "while in use, records are exchanged this often; 0: only by recall share sync", high=1440
    ),
    Setting("agents.sources", True, "whether sessions and memory notes of Codex, Qwen Code and Gemini CLI are indexed"),
    Setting(
        "agents.folders",
        [],
        "their folders; empty: CODEX_HOME, QWEN_HOME and GEMINI_CLI_HOME, else ~/.codex, ~/.qwen and ~/.gemini",
    ),
    Setting(
        "knowledge",
        [],
        "folders of rules and decision records besides a repository's usual places",
        table=(
            Setting("path", "", "the folder"),
            Setting("scope", "shared", "shared, or the name of the one project that it belongs to"),
            Setting("include", ["**"], "which files of it, as patterns"),
            Setting("exclude", [], "which of these not"),
        ),
    ),
)

_BY_KEY = {setting.key: setting for setting in SETTINGS}


@dataclass(frozen=True, slots=True)
class Config:
    """Settings as read: every key of `SETTINGS` has a value of its type."""

    values: Mapping[str, Any] = field(default_factory=lambda: {s.key: s.default for s in SETTINGS})

    def __getitem__(self, key: str) -> Any:
        return self.values[key]

    def claude_folders(self, environment: Mapping[str, str]) -> list[Path]:
        """The Claude folders to read, absolute: the configured ones, else CLAUDE_CONFIG_DIR, else ~/.claude."""
        listed = self.values["claude_folders"] or [environment.get("CLAUDE_CONFIG_DIR") or "~/.claude"]
        try:
            return [Path(folder).expanduser().absolute() for folder in listed]
        except RuntimeError:
            raise ConfigError(f"claude_folders: {listed} names the home of a user who does not exist") from None


def load_config(path: Path) -> Config:
    """Read config.toml. A missing file gives the defaults; anything wrong raises ConfigError with file and line."""
    try:
        text = read_file(path).decode("utf-8-sig")
    except FileNotFoundError:
        return Config()
    except NotAFile as error:
        raise ConfigError(str(error)) from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: expected a readable UTF-8 file ({error}); mend it") from error
    try:
        tree = tomllib.loads(text)
    except RecursionError:
        raise ConfigError(f"{path}: expected settings, found lists within lists; mend it") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: expected TOML, found: {error}; mend that line") from error
    values: dict[str, Any] = {setting.key: setting.default for setting in SETTINGS}
    for key, value in _flat(tree):
        where = f"{path}, line {_line(text, key)}"
        setting = _BY_KEY.get(key)
        if setting is None:
            raise ConfigError(f"{where}: unknown setting {key!r}; known are {', '.join(_BY_KEY)}")
        values[key] = _tables(setting, value, text, path) if setting.table else _checked(setting, value, where)
    return Config(values)


def render_default_config(overrides: Mapping[str, object]) -> str:
    """The text of a new config.toml: every setting commented out with its default, `overrides` written for real."""
    lines = ["# Settings of recall. A line that starts with # shows the default; take the # away to change it.", ""]
    table = ""
    for setting in SETTINGS:
        if setting.table:
            lines += [f"# {setting.doc}", f"# [[{setting.key}]]"]
            lines += [f"# {part.key} = {_toml(part.default)}  # {part.doc}" for part in setting.table] + [""]
            continue
        head, _, name = setting.key.rpartition(".")
        if head != table:
            table = head
            lines += [f"[{table}]", ""]
        note = f" ({' | '.join(setting.choices)})" if setting.choices else ""
        lines.append(f"# {setting.doc}{note}")
        value = overrides.get(setting.key, setting.default)
        lines += [f"{'' if setting.key in overrides else '# '}{name} = {_toml(value)}", ""]
    return "\n".join(lines)


def _flat(tree: Mapping[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    """Nested tables as dotted keys, in file order."""
    found: list[tuple[str, Any]] = []
    for name, value in tree.items():
        found += _flat(value, f"{prefix}{name}.") if isinstance(value, dict) else [(prefix + name, value)]
    return found


def _tables(setting: Setting, value: Any, text: str, path: Path) -> list[dict[str, Any]]:
    """A list of tables with all their keys, or ConfigError."""
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise ConfigError(f"{path}, line {_line(text, setting.key)}: write {setting.key} as [[{setting.key}]] tables")
    known = {part.key: part for part in setting.table}
    tables = []
    for number, item in enumerate(value, start=1):
        for key in item:
            if key not in known:
                where = f"{path}, line {_line(text, f'{setting.key}.{key}', number)}"
                raise ConfigError(f"{where}: unknown setting {key!r} of {setting.key}; known are {', '.join(known)}")
        table = {}
        for key, part in known.items():
            where = f"{path}, line {_line(text, f'{setting.key}.{key}', number)}"
            table[key] = _checked(part, item.get(key, part.default), where)
            if part.default == "" and not table[key]:
                raise ConfigError(f"{where}: {key} of {setting.key} number {number} is missing")
        tables.append(table)
    return tables


def _checked(setting: Setting, value: Any, where: str) -> Any:
    """`value` as the setting's type, or ConfigError. Whole numbers serve where a fraction is expected."""
    wanted = type(setting.default)
    if wanted is float and type(value) is int:
        value = float(value)
    fits = type(value) is wanted and (not isinstance(value, list) or all(isinstance(item, str) for item in value))
    if fits and wanted in (str, list):
        fits = "\0" not in "".join(value)
    if fits and setting.choices:
        fits = all(item in setting.choices for item in (value if isinstance(value, list) else [value]))
    if fits and wanted in (int, float):
        fits = setting.low <= value <= setting.high
    if fits:
        return value
    raise ConfigError(f"{where}: {setting.key} must be {_expectation(setting)}, found {value!r}")


def _expectation(setting: Setting) -> str:
    if setting.choices:
        several = "a list of some of " if isinstance(setting.default, list) else "one of "
        return several + ", ".join(map(repr, setting.choices))
    words = {bool: "true or false", int: "a whole number", float: "a number", str: "a text", list: "a list of texts"}
    text = words[type(setting.default)]
    if type(setting.default) in (int, float):
        text += f" from {setting.low:g} to {setting.high:g}"
    return text


def _line(text: str, key: str, which: int = 1) -> int:
    """The line on which `key` is set, in the table that is number `which` of its name; 1 when it cannot be told."""
    table, seen = "", Counter[str]()
    for number, line in enumerate(text.splitlines(), start=1):
        if header := re.match(r"\s*\[+([^\]]+)\]", line):
            table = header[1].strip() + "."
            seen[table] += 1
        elif seen[table] not in (0, which):
            continue
        elif (found := re.match(r"\s*([^=#]+?)\s*=", line)) and table + found[1].replace('"', "") == key:
            return number
    return 1


def _toml(value: object) -> str:
    """A value in TOML notation."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, list):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    text = str(value).replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in text) + '"'
