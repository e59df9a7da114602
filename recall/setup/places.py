"""The settings files of Claude Code in which an entry of ours may stand."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from recall.setup.receipt import registered_in
from recall.setup.settings import settings_path


def settings_files(
    state: Path, claude_folders: Sequence[Path], environment: Mapping[str, str], project: str | None
) -> list[Path]:
    """Those that setup wrote (from wherever it ran), those of the Claude folders, and those of the folder we are in."""
    usual = Path(environment.get("CLAUDE_CONFIG_DIR") or "~/.claude").expanduser()
    files = [*registered_in(state), *(settings_path("user", folder, None) for folder in [*claude_folders, usual])]
    if project is not None:
        local = settings_path("project", usual, Path(project))
        files += [local, local.with_name("settings.json")]
    return list({os.path.realpath(file): file for file in files}.values())
