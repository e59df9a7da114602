"""Programs that a person may take for this one, and hooks that answer the same messages: named by setup, never touched.

A plugin of Claude Code stands in `enabledPlugins` of a settings.json as `name@marketplace`; where it lies says
`plugins/installed_plugins.json`, and which hooks it has its own `hooks/hooks.json` or manifest.
"""

import contextlib
import filecmp
import json
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from recall.install.place import Place
from recall.setup.command import calls_recall, words_of
from recall.setup.settings import EVENT
from recall.text.clean import one_line

#: Memories that hook into each message, as their own hooks files and guides name commands and plugins.
MEMORIES = ("claude-mem", "memsearch", "mem0", "memory-bank", "cmem", "engram")

#: What Windows takes for a program where PATHEXT is not set.
_EXTENSIONS = ".COM;.EXE;.BAT;.CMD"

_MEMORY = re.compile(rf"(?<![a-z0-9])({'|'.join(MEMORIES)})(?![a-z0-9])", re.IGNORECASE)


def notices(own: Path, claude: Path, project: Path | None, environment: Mapping[str, str], platform: str) -> list[str]:
    """What setup has to say of others, one line each. Looks at PATH, the settings files and the plugins."""
    programs = namesakes(own, environment, platform)
    said = [namesake_line(program, own, first=at == 0) for at, (program, is_ours) in enumerate(programs) if not is_ours]
    files = [claude / "settings.json"]
    if project is not None:
        files += [project / ".claude" / "settings.json", project / ".claude" / "settings.local.json"]
    files = list({os.path.realpath(file): file for file in files}.values())  # the project may be the home folder
    read = [(file, _json(file)) for file in files]
    for file, settings in read:
        said += [hook_line(command, str(file)) for command in other_hooks(settings)]
    said += [plugin_line(plugin) for plugin in hooking_plugins(enabled_plugins(s for _, s in read), claude)]
    return list(dict.fromkeys(said))


def candidates(environment: Mapping[str, str], platform: str) -> list[Path]:
    """Where a shell would look for `recall`, in its order."""
    windows = platform == "win32"
    extensions = (environment.get("PATHEXT") or _EXTENSIONS).lower().split(";") if windows else [""]
    folders = [folder for folder in environment.get("PATH", "").split(";" if windows else ":") if folder]
    return [Path(folder) / f"recall{extension}" for folder in folders for extension in extensions]


def namesakes(own: Path, environment: Mapping[str, str], platform: str) -> list[tuple[Path, bool]]:
    """The programs called recall on PATH in its order, each once, and whether it is this one."""
    found: dict[str, tuple[Path, bool]] = {}
    for path in candidates(environment, platform):
        if path.is_file() and os.access(path, os.X_OK):
            found.setdefault(os.path.realpath(path), (path, _is_own(path, own)))
    return list(found.values())


def _is_own(path: Path, own: Path) -> bool:
    """A link to this program or a copy of it (pipx copies on Windows), or another installed version of it."""
    with contextlib.suppress(OSError):
        versions = os.path.realpath(Place.of_user().versions)
        return (
            os.path.realpath(path) == os.path.realpath(own)
            or os.path.realpath(path).startswith(versions + os.sep)
            or filecmp.cmp(path, own, shallow=False)
        )
    return False


def namesake_line(program: Path, own: Path, *, first: bool) -> str:
    """What to say of another program of our name; `first`: it is what a shell starts."""
    if first:
        return f"`recall` in a shell starts another program, {program}; this one is {own}"
    return f"another program called recall is on PATH too: {program}"


def other_hooks(settings: object) -> list[str]:
    """The commands (or addresses, or prompts) in a settings.json that get each message as we do."""
    found = []
    for group in _list(_get(_get(settings, "hooks"), EVENT)):
        for handler in _list(_get(group, "hooks")):
            arguments = [str(word) for word in _list(_get(handler, "args"))]
            command = str(_get(handler, "command") or "")
            program, *rest = words_of(command, arguments, None)
            if not calls_recall(program, rest):
                found.append(" ".join([command, *arguments]) if command else str(_get(handler, "url") or "a prompt"))
    return found


def hook_line(command: str, file: str) -> str:
    """What to say of another hook. Of its command the beginning: keys may stand further back."""
    known = _MEMORY.search(command)
    if known:
        return f"{known[1].lower()} answers the same messages, by a hook in {file}"
    return f"another hook answers the same messages: {' '.join(one_line(command).split()[:2])[:80]} ({file})"


def enabled_plugins(settings: Iterable[object]) -> list[str]:
    """The plugins that are switched on, as `name@marketplace`; the later of the files overrides the earlier."""
    merged: dict[str, Any] = {}
    for one in settings:
        merged |= {str(name): value for name, value in _dict(_get(one, "enabledPlugins")).items()}
    return [name for name, value in merged.items() if value]  # true, or a list of versions


def plugin_line(plugin: str) -> str:
    """What to say of a plugin that hooks into each message."""
    known = _MEMORY.search(plugin)
    return f"{known[1].lower() if known else 'another hook'} answers the same messages: plugin {one_line(plugin)[:80]}"


def hooking_plugins(enabled: Sequence[str], claude: Path) -> list[str]:
    """Those of the plugins that hook into each message; a known memory counts also where its files are not found."""
    installed = _dict(_get(_json(claude / "plugins" / "installed_plugins.json"), "plugins"))
    found = []
    for plugin in enabled:
        entries = installed.get(plugin)
        roots = [Path(str(root)) for one in _list(entries) or [entries] if (root := _get(one, "installPath"))]
        hooks = [hooks_of_plugin(root, _json) for root in roots]
        if any(map(hooks_each_message, hooks)) or (not any(hooks) and _MEMORY.search(plugin)):
            found.append(plugin)
    return found


def hooks_of_plugin(root: Path, read: Callable[[Path], object]) -> list[object]:
    """What a plugin declares: `hooks/hooks.json`, and `hooks` of its manifest: a file, the hooks, or a list of both."""
    declared = _get(read(root / ".claude-plugin" / "plugin.json"), "hooks")
    found = [read(root / "hooks" / "hooks.json")]
    for one in declared if isinstance(declared, list) else [declared]:
        found.append(read(root / one) if isinstance(one, str) else one)
    return [one for one in found if one]


def hooks_each_message(hooks: Iterable[object]) -> bool:
    """Whether one of these has a hook for each message; a file wraps them in `hooks`, a manifest need not."""
    return any(_get(one, EVENT) or _get(_get(one, "hooks"), EVENT) for one in hooks)


def _json(path: Path) -> object:
    """What a file holds; None where it cannot be read: setup speaks of a broken settings.json elsewhere."""
    with contextlib.suppress(OSError, ValueError, RecursionError):
        if path.is_file():
            return json.loads(path.read_text("utf-8-sig"))
    return None


def _get(value: object, key: str) -> object:
    return value.get(key) if isinstance(value, dict) else None


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _dict(value: object) -> dict[Any, Any]:
    return value if isinstance(value, dict) else {}
