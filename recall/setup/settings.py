"""Claude Code's settings.json: the plan, as pure functions from its bytes to the new bytes, that adds or takes out
recall's hook and leaves every other byte as it stands.

Others destroyed people's settings by taking a broken file for an empty one, by writing the whole file anew and by
replacing the event's list. Here a file that is not strict JSON of the expected shape is an error and stays as it is.

What client 2.1.197 did when it was run with such files: it read past a UTF-8 byte order mark; of a key that stands
twice it took the last; one group without `hooks`, or one handler without `type`, switched all hooks of the file off.
"""

import codecs
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, NoReturn

from recall.core.errors import SettingsError, UsageError
from recall.setup import jsontext
from recall.setup.jsontext import Node, Style

EVENT = "UserPromptSubmit"
LAUNCHER_NAMES = ("recall-hook", "recall-hook.exe")
#: The program, or the file of a release that carries it: both can be named in settings.json by hand.
_PROGRAM = re.compile(r"recall(-\d+\.\d+\.\d+\w*-(linux|macos|windows)-\w+)?(\.exe)?")

_PLAIN = Style(line_end="\n", indent="  ", colon=": ", comma=" ", inline=False)
_ADVICE = "correct that place by hand and run the command again"

#: Where an entry stands: index of `hooks` in the document, of the event, of the group, of its `hooks`, of the handler.
_Path = tuple[int, int, int, int, int]


@dataclass(frozen=True, slots=True)
class HookEntry:
    """The registered command in exec form: no shell sees it. `timeout` in seconds."""

    command: str
    args: tuple[str, ...]
    timeout: int

    @property
    def home(self) -> str | None:
        """The state folder that it names, None where it names none."""
        following = dict(zip(self.args, self.args[1:], strict=False))
        return following.get("--home")


def settings_path(scope: Literal["user", "project"], claude_folder: Path, project_folder: Path | None) -> Path:
    """The settings.json of the person, or of one project. Raises UsageError for a project that is not named."""
    if scope == "user":
        return claude_folder / "settings.json"
    if project_folder is None:
        raise UsageError("scope project needs a project folder, found none; run the command inside the project")
    # Not settings.json: that one is committed, and colleagues have no launcher in our state folder.
    return project_folder / ".claude" / "settings.local.json"


def snippet(entry: HookEntry) -> str:
    """What a person can paste into settings.json by hand."""
    return jsontext.render({"hooks": {EVENT: [_group(entry)]}}, _PLAIN, "") + "\n"


def plan_register(raw: bytes | None, entry: HookEntry) -> bytes | None:
    """The new content with `entry` as the one entry of ours; None when nothing has to change.

    `raw` None or blank makes a new document. Otherwise one group is added at the end of the event's list, or the
    entry of ours that is there gets the command, arguments and timeout, and any further one goes. Raises SettingsError.
    """
    mark, text = _decode(raw or b"")
    if not text.strip(" \t\r\n"):
        return _encode(mark, text=snippet(entry))
    root = _parse(text)
    style = jsontext.style_of(text, root)
    paths = _ours(text, root)
    for path in reversed(paths[1:]):
        text = _without(text, path, floor=0)
    text = _updated(text, paths[0], entry, style) if paths else _added(text, root, entry, style)
    new = _encode(mark, text)
    return None if new == raw else new


def plan_unregister(raw: bytes, original: bytes | None = None) -> bytes | None:
    """The content without our entries and the containers that this empties; None when there is no entry of ours.

    An emptied `hooks` or event list stays when it stood in `original`, the content before we came.
    Raises SettingsError.
    """
    mark, text = _decode(raw)
    if not text.strip(" \t\r\n"):
        return None
    paths = _ours(text, _parse(text))
    floor = _containers(original)
    for path in reversed(paths):
        text = _without(text, path, floor)
    return _encode(mark, text) if paths else None


def registered(raw: bytes) -> HookEntry | None:
    """Our (first) entry; a timeout that is no whole number reads as 0. Raises SettingsError."""
    _, text = _decode(raw)
    if not text.strip(" \t\r\n"):
        return None
    root = _parse(text)
    for path in _ours(text, root):
        handler = _nodes(root, path)[-1]
        timeout = _member(text, handler, "timeout")
        digits = text[timeout.start : timeout.end] if timeout else ""
        return HookEntry(_command(text, handler), _args(text, handler), int(digits) if digits.isdecimal() else 0)
    return None


def calls_recall(command: str, args: Sequence[str]) -> bool:
    """Marker keys are forbidden by the client's schema, so the command tells: our launcher, or `recall` with `hook`."""
    name = re.split(r"[/\\]", command)[-1]
    return name in LAUNCHER_NAMES or (_PROGRAM.fullmatch(name) is not None and list(args[:1]) == ["hook"])


def hooks_disabled(raw: bytes) -> bool:
    """Whether this file switches all hooks off. Raises SettingsError."""
    _, text = _decode(raw)
    if not text.strip(" \t\r\n"):
        return False
    node = _member(text, _parse(text), "disableAllHooks")
    return node is not None and text[node.start : node.end] == "true"


def _group(entry: HookEntry) -> dict[str, Any]:
    return {"hooks": [_handler(entry)]}


def _handler(entry: HookEntry) -> dict[str, Any]:
    return {"type": "command", **asdict(entry), "args": list(entry.args)}


def _decode(raw: bytes) -> tuple[bytes, str]:
    """The byte order mark, if any, and the text behind it."""
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise SettingsError("expected UTF-8, found UTF-16; save the file as UTF-8 and run the command again")
    mark = codecs.BOM_UTF8 if raw.startswith(codecs.BOM_UTF8) else b""
    try:
        return mark, raw[len(mark) :].decode()
    except UnicodeDecodeError as error:
        before = error.object[: error.start].decode()
        where = jsontext.place(before, len(before))
        raise SettingsError(
            f"{where}: expected UTF-8, found byte 0x{error.object[error.start]:02x}; {_ADVICE}"
        ) from error


def _encode(mark: bytes, text: str) -> bytes:
    try:
        return mark + text.encode()
    except UnicodeEncodeError as error:
        raise SettingsError(
            "the hook's path must be written in Unicode, which JSON demands, and holds other bytes; "
            "set RECALL_HOME to a folder with a plain name and run the command again"
        ) from error


def _parse(text: str) -> Node:
    try:
        root = jsontext.parse(text)
    except jsontext.JsonTextError as error:
        raise SettingsError(f"{error}; Claude Code cannot read this file either: {_ADVICE}") from error
    return _expect(text, root, "{", "the document")


def _fail(text: str, node: Node, expectation: str) -> NoReturn:
    scalar = text[node.start : node.end] if node.string is None else "a text"
    found = {"{": "an object", "[": "a list", "": scalar}[node.bracket]
    raise SettingsError(f"{jsontext.place(text, node.start)}: expected {expectation}, found {found}; {_ADVICE}")


def _expect(text: str, node: Node, bracket: str, name: str) -> Node:
    if node.bracket != bracket:
        _fail(text, node, f"{name} to be {'an object' if bracket == '{' else 'a list'}")
    return node


def _index(text: str, node: Node, key: str) -> int | None:
    """Which child has this key. Twice is an error: the client takes the last, and a person may mean the first."""
    found = [index for index, child in enumerate(node.children) if child.key == key]
    if len(found) > 1:
        where = jsontext.place(text, node.children[found[1]].start)
        raise SettingsError(f'{where}: expected "{key}" once, found it twice; {_ADVICE}')
    return found[0] if found else None


def _member(text: str, node: Node, key: str) -> Node | None:
    index = _index(text, node, key)
    return None if index is None else node.children[index].node


def _ours(text: str, root: Node) -> list[_Path]:
    """Where our entries stand, in order. Raises SettingsError when anything on the way is not of the client's shape."""
    found: list[_Path] = []
    hooks_at = _index(text, root, "hooks")
    if hooks_at is None:
        return found
    hooks = _expect(text, root.children[hooks_at].node, "{", '"hooks"')
    event_at = _index(text, hooks, EVENT)
    if event_at is None:
        return found
    groups = _expect(text, hooks.children[event_at].node, "[", f'"{EVENT}"')
    for group_at, child in enumerate(groups.children):
        group = _expect(text, child.node, "{", f'a group of "{EVENT}"')
        handlers_at = _index(text, group, "hooks")
        if handlers_at is None:
            _fail(text, group, f'a group of "{EVENT}" with a list "hooks"')
        handlers = _expect(text, group.children[handlers_at].node, "[", f'"hooks" in a group of "{EVENT}"')
        for handler_at, item in enumerate(handlers.children):
            handler = _expect(text, item.node, "{", f'a hook of "{EVENT}"')
            if _is_ours(text, handler):
                found.append((hooks_at, event_at, group_at, handlers_at, handler_at))
    return found


def _is_ours(text: str, handler: Node) -> bool:
    kind = _member(text, handler, "type")
    if kind is None or kind.string is None:
        _fail(text, handler, f'a hook of "{EVENT}" with a "type"')
    if kind.string != "command":
        return False
    return calls_recall(_command(text, handler), _args(text, handler))


def _command(text: str, handler: Node) -> str:
    node = _member(text, handler, "command")
    return (node.string if node else None) or ""


def _args(text: str, handler: Node) -> tuple[str, ...]:
    node = _member(text, handler, "args")
    return tuple(child.node.string or "" for child in node.children) if node and node.bracket == "[" else ()


def _nodes(root: Node, path: _Path) -> list[Node]:
    """The document, the nodes on the way to an entry, and the entry."""
    nodes = [root]
    for index in path:
        nodes.append(nodes[-1].children[index].node)
    return nodes


def _added(text: str, root: Node, entry: HookEntry, style: Style) -> str:
    hooks = _member(text, root, "hooks")
    if hooks is None:
        return jsontext.append_child(text, root, "hooks", {EVENT: [_group(entry)]}, style)
    groups = _member(text, hooks, EVENT)
    if groups is None:
        return jsontext.append_child(text, hooks, EVENT, [_group(entry)], style)
    return jsontext.append_child(text, groups, None, _group(entry), style)


def _updated(text: str, path: _Path, entry: HookEntry, style: Style) -> str:
    """Only the values that differ change; a key that the person added to the entry stays."""
    for key, value in _handler(entry).items():
        handler = _nodes(_parse(text), path)[-1]
        node = _member(text, handler, key)
        if node is None:
            text = jsontext.append_child(text, handler, key, value, style)
        elif not _equal(text, node, value):
            text = jsontext.replace_value(text, node, value, style)
    return text


def _equal(text: str, node: Node, value: Any) -> bool:
    if isinstance(value, list):
        return node.bracket == "[" and [child.node.string for child in node.children] == value
    return node.string == value if isinstance(value, str) else text[node.start : node.end] == str(value)


def _without(text: str, path: _Path, floor: int) -> str:
    """Take out the entry, or the outermost container that would be left empty: the group, the event's list (unless
    `floor` is 2), `hooks` (unless it is 1)."""
    nodes = _nodes(_parse(text), path)
    steps = [(nodes[0], path[0]), (nodes[1], path[1]), (nodes[2], path[2]), (nodes[4], path[4])]
    level = 3
    while level > floor and len(steps[level][0].children) == 1:
        level -= 1
    return jsontext.remove_child(text, *steps[level])


def _containers(original: bytes | None) -> int:
    """How many of the containers `hooks` and its event list stood in the content before we came."""
    try:
        _, text = _decode(original or b"")
        hooks = _member(text, _parse(text), "hooks")
        return 0 if hooks is None else 1 if _member(text, hooks, EVENT) is None else 2
    except SettingsError:
        return 0
