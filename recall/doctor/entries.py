"""Our entries in the settings files and in plugins, as they stand there: also the keys that setup never writes."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recall.core.atomic import replace_bytes
from recall.core.errors import SettingsError
from recall.doctor.case import Case
from recall.setup import jsontext
from recall.setup.others import enabled_plugins, hooks_of_plugin
from recall.setup.registration import entry_in, read_settings
from recall.setup.settings import EVENT, HookEntry, calls_recall
from recall.wire.paths import state_home


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry that calls recall: where it stands, and the handler with all its keys."""

    file: Path
    keys: Mapping[str, Any]

    @property
    def command(self) -> str:
        return str(self.keys.get("command") or "")

    @property
    def args(self) -> tuple[str, ...]:
        found = self.keys.get("args")
        return tuple(map(str, found)) if isinstance(found, list) else ()

    @property
    def home(self) -> str:
        """The state folder that it calls recall with."""
        return HookEntry(self.command, self.args, 0).home or state_home()

    @property
    def budget_ms(self) -> int | None:
        """The cut-off in its arguments, None where it names none."""
        following = dict(zip(self.args, self.args[1:], strict=False))
        word = following.get("--budget", "")
        return int(word) if word.isdecimal() else None


def entries(case: Case) -> list[Entry]:
    """Ours, whatever state folder they name. Files that cannot be read hold none: the check `settings` names these."""
    found: list[Entry] = []
    for file in case.settings:
        try:
            if entry_in(file) is not None:
                found += [Entry(file, keys) for keys in handlers(load(file)) if _is_ours(keys)]
        except SettingsError:
            continue
    return found


def own_entries(case: Case) -> list[Entry]:
    """Those of the state folder that is examined."""
    return [entry for entry in entries(case) if Path(entry.home).resolve() == case.home.resolve()]


def plugins_with_us(case: Case) -> list[str]:
    """The enabled plugins whose hooks call recall."""
    enabled = enabled_plugins([_loaded(file) for file in case.settings])
    found = []
    for folder in case.claude:
        listed = _loaded(folder / "plugins" / "installed_plugins.json")
        plugins = listed.get("plugins") if isinstance(listed, dict) else None
        for name in enabled:
            places = plugins.get(name) if isinstance(plugins, dict) else None
            for place in places if isinstance(places, list) else [places]:
                root = place.get("installPath") if isinstance(place, dict) else None
                hooks = hooks_of_plugin(Path(str(root)), _loaded) if root else []
                if any(_mentions_us(one) for one in hooks):
                    found.append(name)
    return list(dict.fromkeys(found))


def load(file: Path) -> Any:
    """What a settings file holds. Raises SettingsError."""
    raw = read_settings(file)
    try:
        return json.loads((raw or b"{}").decode("utf-8-sig") or "{}")
    except (ValueError, RecursionError) as error:
        raise SettingsError(f"{file}: expected JSON, found: {error}; mend that place by hand") from error


def handlers(settings: Any) -> Iterator[Mapping[str, Any]]:
    """The handlers of our event."""
    hooks = settings.get("hooks") if isinstance(settings, dict) else None
    groups = hooks.get(EVENT) if isinstance(hooks, dict) else None
    for group in groups if isinstance(groups, list) else []:
        inner = group.get("hooks") if isinstance(group, dict) else None
        for handler in inner if isinstance(inner, list) else []:
            if isinstance(handler, dict):
                yield handler


def without_condition(raw: bytes) -> bytes:
    """The settings with no `if` in our entries; every other byte stays. The file was read as ours before."""
    text = raw.decode("utf-8")
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    text = text.removeprefix(mark)
    while True:
        found = next(_conditions(jsontext.parse(text)), None)
        if found is None:
            return (mark + text).encode()
        text = jsontext.remove_child(text, *found)


def drop_conditions(file: Path) -> None:
    """Take the `if` out of our entries in a file. Raises SettingsError where somebody else writes it meanwhile."""
    raw = read_settings(file) or b""

    def check() -> None:
        if read_settings(file) != raw:
            raise SettingsError(f"{file} was written by another program at the same moment; try again")

    replace_bytes(file, without_condition(raw), before_rename=check)


def _conditions(root: jsontext.Node) -> Iterator[tuple[jsontext.Node, int]]:
    """Our handlers that have an `if`, and its place in them."""
    for hooks in _members(root, "hooks"):
        for groups in _members(hooks, EVENT):
            for group in groups.children:
                for listed in _members(group.node, "hooks"):
                    for handler in listed.children:
                        yield from _condition(handler.node)


def _condition(handler: jsontext.Node) -> Iterator[tuple[jsontext.Node, int]]:
    command = next(_members(handler, "command"), None)
    arguments = next(_members(handler, "args"), None)
    words = [child.node.string or "" for child in arguments.children] if arguments else []
    if command is not None and calls_recall(command.string or "", words):
        for at, child in enumerate(handler.children):
            if child.key == "if":
                yield handler, at


def _members(node: jsontext.Node, key: str) -> Iterator[jsontext.Node]:
    return (child.node for child in node.children if child.key == key)


def _is_ours(keys: Mapping[str, Any]) -> bool:
    entry = Entry(Path(), keys)
    return keys.get("type") == "command" and calls_recall(entry.command, entry.args)


def _mentions_us(hooks: object) -> bool:
    """Whether a plugin's hooks call recall; a file wraps them in `hooks`, a manifest need not."""
    return any(_is_ours(keys) for settings in (hooks, {"hooks": hooks}) for keys in handlers(settings))


def _loaded(file: Path) -> Any:
    try:
        return load(file) if file.is_file() else None
    except (SettingsError, OSError):
        return None
