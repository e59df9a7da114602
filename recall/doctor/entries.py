"""Our entries in the agents' settings files and in plugins, as they stand: also the keys that setup never writes."""

import contextlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from recall.core.atomic import replace_bytes
from recall.core.errors import SettingsError
from recall.doctor.case import Case
from recall.setup import jsontext
from recall.setup.agents import CLAUDE, Agent
from recall.setup.codex import CODEX, config_of, written
from recall.setup.command import calls_recall, expanded, words_of
from recall.setup.entries import HookEntry, entry_of, find, nodes_at
from recall.setup.others import enabled_plugins, hooks_of_plugin
from recall.setup.places import HookFile
from recall.setup.registration import entry_in, read_settings
from recall.setup.settings import EVENT
from recall.wire.paths import state_home


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry that calls recall: whose it is, the file, what is called, the handler with all its keys, the group that
    it stands in, and the event."""

    agent: Agent
    file: Path
    calls: HookEntry
    keys: Mapping[str, Any]
    group: Mapping[str, Any] = field(default_factory=dict)
    event: str = EVENT

    @property
    def is_editable(self) -> bool:
        """Whether recall may change it."""
        return self.file.suffix == ".json"

    @property
    def place(self) -> tuple[str, Path]:
        """Whose file it stands in."""
        return self.agent.name, self.file

    @property
    def home(self) -> str:
        """The state folder that it calls recall with."""
        return self.calls.home or state_home()

    @property
    def budget_ms(self) -> int | None:
        """The cut-off in its arguments, None where it names none."""
        following = dict(zip(self.calls.args, self.calls.args[1:], strict=False))
        word = following.get("--budget", "")
        return int(word) if word.isdecimal() else None


def entries(case: Case) -> list[Entry]:
    """Ours for messages, whatever state folder they name, Claude Code's first. Files that cannot be read hold none: the
    check `settings` names these."""
    return [entry for file in case.hook_files for entry in _read(file, file.agent.prompt)]


def own_entries(case: Case) -> list[Entry]:
    """Those of the state folder that is examined."""
    return [entry for entry in entries(case) if _is_own(case, entry)]


def start_entries(case: Case) -> list[Entry]:
    """Those of this state folder for the begin of sessions."""
    found = [entry for file in case.hook_files for entry in _read(file, file.agent.start)]
    return [entry for entry in found if _is_own(case, entry)]


def written_entries(case: Case, event: str = CODEX.prompt) -> list[Entry]:
    """Those that a person has written into Codex' config.toml, which recall never edits."""
    found = []
    for file in dict.fromkeys(_codex_files(case)):
        with contextlib.suppress(SettingsError):  # the check `settings` names these
            found += [Entry(CODEX, file, *one, event) for one in written(file, event)]
    return found


def own_written(case: Case) -> list[Entry]:
    """Those of the state folder that is examined, for messages."""
    return [entry for entry in written_entries(case) if _is_own(case, entry)]


def _codex_files(case: Case) -> list[Path]:
    files = [CODEX.settings(case.environment), *(file.path for file in case.hook_files if file.agent is CODEX)]
    return [config_of(file) for file in files]


def _is_own(case: Case, entry: Entry) -> bool:
    return Path(expanded(entry.home, case.environment)).resolve() == case.home.resolve()


def _read(file: HookFile, event: str) -> Iterator[Entry]:
    try:
        entry_in(file.path, file.agent)
    except SettingsError:
        return
    text = (read_settings(file.path) or b"").decode("utf-8-sig")
    if not text.strip():
        return
    root = jsontext.parse(text)
    for place in find(text, root, file.agent, event, strict=False):
        nodes = nodes_at(root, place)
        group, handler = (json.loads(text[node.start : node.end]) for node in (nodes[3], nodes[5]))
        yield Entry(file.agent, file.path, entry_of(text, nodes[5], file.agent), handler, group, event)


def plugin_entries(case: Case) -> dict[str, Entry]:
    """Those of Claude Code's enabled plugins for messages, by the plugin's name."""
    enabled = enabled_plugins([_loaded(file) for file in case.settings])
    found: dict[str, Entry] = {}
    for folder in case.claude:
        listed = _loaded(folder / "plugins" / "installed_plugins.json")
        plugins = listed.get("plugins") if isinstance(listed, dict) else None
        for name in enabled:
            places = plugins.get(name) if isinstance(plugins, dict) else None
            for place in places if isinstance(places, list) else [places]:
                root = place.get("installPath") if isinstance(place, dict) else None
                if root and (keys := _in_plugin(Path(str(root)))) is not None:
                    file = Path(str(root)) / "hooks" / "hooks.json"
                    found[name] = Entry(CLAUDE, file, _called(keys, str(root)), keys)
    return found


def own_plugins(case: Case) -> dict[str, Entry]:
    """Those of the state folder that is examined."""
    return {name: entry for name, entry in plugin_entries(case).items() if _is_own(case, entry)}


def load(file: Path) -> Any:
    """What a settings file holds. Raises SettingsError."""
    raw = read_settings(file)
    try:
        return json.loads((raw or b"{}").decode("utf-8-sig") or "{}")
    except (ValueError, RecursionError) as error:
        raise SettingsError(f"{file}: expected JSON, found: {error}; mend that place by hand") from error


def without(raw: bytes, key: str, agent: Agent = CLAUDE) -> bytes:
    """An agent's settings with no such key in our entries, or in a group that holds ours alone; every other byte stays.
    The file was read as ours before."""
    text = raw.decode("utf-8")
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    text = text.removeprefix(mark)
    while (found := _holding(text, key, agent)) is not None:
        text = jsontext.remove_child(text, *found)
    return (mark + text).encode()


def drop(file: Path, key: str, agent: Agent = CLAUDE) -> str:
    """Take a key out of our entries in a file; what was done, in words. Raises SettingsError where somebody else writes
    it meanwhile."""
    raw = read_settings(file) or b""

    def check() -> None:
        if read_settings(file) != raw:
            raise SettingsError(f"{file} was written by another program at the same moment; try again")

    replace_bytes(file, without(raw, key, agent), before_rename=check)
    return f"took the `{key}` out"


def _holding(text: str, key: str, agent: Agent) -> tuple[jsontext.Node, int] | None:
    """The first of our handlers, or of the groups that hold ours alone, that has a key, and its place in it."""
    root = jsontext.parse(text)
    for place in [*find(text, root, agent, agent.prompt), *find(text, root, agent, agent.start, strict=False)]:
        nodes = nodes_at(root, place)
        for node in (nodes[5], nodes[3]) if len(nodes[4].children) == 1 else (nodes[5],):
            for at, child in enumerate(node.children):
                if child.key == key:
                    return node, at
    return None


def _in_plugin(root: Path) -> Mapping[str, Any] | None:
    """The handler of a plugin that calls recall; a file wraps the hooks in `hooks`, a manifest need not."""
    shapes = [shape for hooks in hooks_of_plugin(root, _loaded) for shape in (hooks, {"hooks": hooks})]
    return next((keys for shape in shapes for keys in _handlers(shape) if _is_ours(keys)), None)


def _called(keys: Mapping[str, Any], root: str) -> HookEntry:
    """What the client calls for a plugin's handler."""
    given = keys.get("args")
    words = words_of(str(keys.get("command") or ""), list(map(str, given)) if isinstance(given, list) else [], None)
    command, *args = (word.replace("${CLAUDE_PLUGIN_ROOT}", root) for word in words)
    return HookEntry(command, tuple(args), 0)


def _handlers(settings: Any) -> Iterator[Mapping[str, Any]]:
    """The handlers of a message."""
    hooks = settings.get("hooks") if isinstance(settings, dict) else None
    groups = hooks.get(EVENT) if isinstance(hooks, dict) else None
    for group in groups if isinstance(groups, list) else []:
        inner = group.get("hooks") if isinstance(group, dict) else None
        yield from (handler for handler in (inner if isinstance(inner, list) else []) if isinstance(handler, dict))


def _is_ours(keys: Mapping[str, Any]) -> bool:
    called = _called(keys, "")
    return calls_recall(called.command, called.args)


def _loaded(file: Path) -> Any:
    try:
        return load(file) if file.is_file() else None
    except (SettingsError, OSError):
        return None
