"""config.toml at setup time: written new with every setting explained, or extended without touching what is there."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError

from recall.core.atomic import replace_bytes
from recall.core.config import load_config, render_default_config
from recall.core.errors import ConfigError
from recall.sources.agents import record_folders
from recall.wire.files import NotAFile, read_file

KEY = "claude_folders"
STANDARD = "~/.claude"
AGENTS_KEY = "agents.folders"


def folders_to_list(listed: Sequence[str], claude_folder: Path, *, in_use: bool) -> list[str] | None:
    """The value of `claude_folders` with which `claude_folder` is read; None when it is read as things are.

    An empty list stands for ~/.claude here, because a daemon may be started from a shell that has not set
    CLAUDE_CONFIG_DIR. `in_use`: the configuration has been working, so that an empty list has meant ~/.claude, whose
    notes would vanish if the new list did not name it.
    """
    if _real(claude_folder) in map(_real, listed or [STANDARD]):
        return None
    before = listed or ([STANDARD] if in_use else [])
    return [*before, str(claude_folder.expanduser().absolute())]


def ensure_config(home: Path, claude_folder: Path) -> list[str]:
    """Make sure that `<home>/config.toml` exists and that recall reads `claude_folder`.

    Returns what was done, in words; nothing when it was so already. Raises ConfigError for a file that recall cannot
    read, which stays as it is, and RecallError when the disk refuses.
    """
    path = home / "config.toml"
    in_use = path.exists()
    folders = folders_to_list(load_config(path)[KEY], claude_folder, in_use=in_use)
    if not in_use:
        replace_bytes(path, render_default_config({KEY: folders} if folders else {}).encode(), 0o600)
        return [f"wrote {path}"]
    if folders is None:
        return []
    replace_bytes(path, _with_folders(path, folders).encode())
    return [f"added {claude_folder} to {KEY} in {path}"]


def ensure_agent_folders(home: Path, environment: Mapping[str, str]) -> list[str]:
    """Make sure that the folders to which this environment moves other agents are read by a daemon that was started in
    another one too. Returns what was done, in words. Raises ConfigError, RecallError."""
    listed = [Path(folder) for folder in load_config(home / "config.toml")[AGENTS_KEY]]
    read = listed or record_folders({})
    new = [folder for folder in record_folders(environment) if _real(folder) not in map(_real, read)]
    if not new:
        return []
    set_value(home, AGENTS_KEY, [*map(str, [*read, *new])])
    return [f"added {folder} to {AGENTS_KEY} in {home / 'config.toml'}" for folder in new]


def set_value(home: Path, key: str, value: str | int | list[str]) -> None:
    """Set one key (`hook.budget_ms`) in the existing config.toml; comments and order stay. Raises ConfigError."""
    path = home / "config.toml"
    mark, document = _parse(path)
    *tables, name = key.split(".")
    place: Any = document
    for table in tables:
        place = place.setdefault(table, tomlkit.table())
    place[name] = value
    replace_bytes(path, (mark + document.as_string()).encode())


def _with_folders(path: Path, folders: list[str]) -> str:
    """The file's text with another list; comments, order and the list's own layout stay."""
    mark, document = _parse(path)
    listed: Any = document.setdefault(KEY, [])
    for folder in folders[len(listed) :]:
        listed.append(folder)
    return mark + document.as_string()


def _parse(path: Path) -> tuple[str, tomlkit.TOMLDocument]:
    """The byte order mark, if any, and the document behind it. Raises ConfigError."""
    try:
        text = read_file(path).decode()
    except NotAFile as error:
        raise ConfigError(str(error)) from None
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    try:
        return mark, tomlkit.parse(text.removeprefix(mark))
    except TOMLKitError as error:
        raise ConfigError(f"{path}: expected TOML, found: {error}; mend that line and run the command again") from error


def _real(folder: str | Path) -> Path:
    return Path(folder).expanduser().resolve()
