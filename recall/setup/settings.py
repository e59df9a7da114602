"""An agent's settings file: the plan, as pure functions from its bytes to the new bytes, that adds or takes out
recall's hook and leaves every other byte as it stands.

Others destroyed people's settings by taking a broken file for an empty one, by writing the whole file anew and by
replacing the event's list. Here a file that is not strict JSON of the expected shape is an error and stays as it is.

What Claude Code 2.1.197 did when it was run with such files: it read past a UTF-8 byte order mark; of a key that stands
twice it took the last; one group without `hooks`, or one handler without `type`, switched all hooks of the file off.
"""

import codecs
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from recall.core.errors import SettingsError, UsageError
from recall.setup import jsontext
from recall.setup.agents import CLAUDE, Agent
from recall.setup.command import calls_recall
from recall.setup.entries import (
    ADVICE,
    HookEntry,
    Place,
    entry_of,
    expect,
    find,
    handler_of,
    member,
    nodes_at,
)
from recall.setup.jsontext import Node, Style

__all__ = [
    "EVENT",
    "HookEntry",
    "NotEdited",
    "calls_recall",
    "hooks_disabled",
    "plan_register",
    "plan_unregister",
    "registered",
    "settings_path",
    "snippet",
    "starts",
]

EVENT = CLAUDE.prompt


class NotEdited(SettingsError):
    """recall edits no file of this kind, which the agent itself can read."""


_PLAIN = Style(line_end="\n", indent="  ", colon=": ", comma=" ", inline=False)


def settings_path(scope: Literal["user", "project"], claude_folder: Path, project_folder: Path | None) -> Path:
    """The settings.json of the person, or of one project. Raises UsageError for a project that is not named."""
    if scope == "user":
        return claude_folder / "settings.json"
    if project_folder is None:
        raise UsageError("scope project needs a project folder, found none; run the command inside the project")
    # Not settings.json: that one is committed, and colleagues have no launcher in our state folder.
    return project_folder / ".claude" / "settings.local.json"


def snippet(entry: HookEntry, agent: Agent = CLAUDE, *, start: bool = False) -> str:
    """What a person can paste into the file by hand; with `start` for the begin of sessions too."""
    events = agent.events if start else agent.events[:1]
    return jsontext.render({"hooks": {event: [_group(agent, entry)] for event in events}}, _PLAIN, "") + "\n"


def plan_register(
    raw: bytes | None,
    entry: HookEntry,
    agent: Agent = CLAUDE,
    *,
    start: bool | None = None,
    original: bytes | None = None,
) -> bytes | None:
    """The new content with `entry` as the one entry of ours; None when nothing has to change.

    `raw` None or blank makes a new document. Otherwise one group is added at the end of the event's list, or the
    entry of ours that is there gets the command, arguments and timeout, and any further one goes. `start` does the
    same for the begin of sessions (False: takes it out there, None: only keeps one up to date that is there);
    `original` as for `plan_unregister`. Raises SettingsError.
    """
    mark, text = _decode(raw or b"", agent)
    if not text.strip(" \t\r\n"):
        return _encode(mark, text=snippet(entry, agent, start=bool(start)))
    text = _registered(text, agent, agent.prompt, entry)
    begins = find(text, _parse(text, agent), agent, agent.start, strict=bool(start))
    if start or (start is None and begins):
        text = _registered(text, agent, agent.start, entry)
    elif begins:
        text = _removed(text, agent, agent.start, original)
    new = _encode(mark, text)
    return None if new == raw else new


def plan_unregister(raw: bytes, original: bytes | None = None, agent: Agent = CLAUDE) -> bytes | None:
    """The content without our entries and the containers that this empties; None when there is no entry of ours.

    An emptied `hooks` or event list stays when it stood in `original`, the content before we came.
    Raises SettingsError.
    """
    mark, text = _decode(raw, agent, only_read=True)
    if not text.strip(" \t\r\n"):
        return None
    find(text, _parse(text, agent), agent, agent.prompt)  # refuses what plan_register refuses
    new = text
    for event in reversed(agent.events):
        new = _removed(new, agent, event, original)
    return None if new == text else _encode(mark, new)


def registered(raw: bytes, agent: Agent = CLAUDE) -> HookEntry | None:
    """Our (first) entry for messages; a timeout that is no whole number reads as 0. Raises SettingsError."""
    _, text = _decode(raw, agent, only_read=True)
    if not text.strip(" \t\r\n"):
        return None
    root = _parse(text, agent)
    places = find(text, root, agent, agent.prompt)
    return entry_of(text, nodes_at(root, places[0])[-1], agent) if places else None


def starts(raw: bytes, agent: Agent = CLAUDE) -> bool:
    """Whether an entry of ours stands for the begin of sessions. Raises SettingsError."""
    _, text = _decode(raw, agent, only_read=True)
    return bool(text.strip(" \t\r\n") and find(text, _parse(text, agent), agent, agent.start, strict=False))


def hooks_disabled(raw: bytes, agent: Agent = CLAUDE) -> bool:
    """Whether this file switches all hooks off. Raises SettingsError."""
    _, text = _decode(raw, agent, only_read=True)
    names, value = agent.switch
    if not names or not text.strip(" \t\r\n"):
        return False
    node: Node | None = _parse(text, agent)
    for name in names:
        node = member(text, node, name) if node is not None else None
    return node is not None and text[node.start : node.end] == value


def _group(agent: Agent, entry: HookEntry) -> dict[str, Any]:
    return {"hooks": [handler_of(agent, entry)]}


def _decode(raw: bytes, agent: Agent, *, only_read: bool = False) -> tuple[bytes, str]:
    """The byte order mark, if any, and the text behind it."""
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise SettingsError("expected UTF-8, found UTF-16; save the file as UTF-8 and run the command again")
    mark = codecs.BOM_UTF8 if raw.startswith(codecs.BOM_UTF8) else b""
    if mark and not agent.reads_mark and not only_read:
        raise SettingsError(
            f"expected UTF-8 without a byte order mark, which {agent.title} cannot read, found one; "
            "save the file without it and run the command again"
        )
    try:
        return mark, raw[len(mark) :].decode()
    except UnicodeDecodeError as error:
        before = error.object[: error.start].decode()
        where = jsontext.place(before, len(before))
        raise SettingsError(
            f"{where}: expected UTF-8, found byte 0x{error.object[error.start]:02x}; {ADVICE}"
        ) from error


def _encode(mark: bytes, text: str) -> bytes:
    try:
        return mark + text.encode()
    except UnicodeEncodeError as error:
        raise SettingsError(
            "the hook's path must be written in Unicode, which JSON demands, and holds other bytes; "
            "set RECALL_HOME to a folder with a plain name and run the command again"
        ) from error


def _parse(text: str, agent: Agent) -> Node:
    try:
        root = jsontext.parse(text)
    except jsontext.JsonTextError as error:
        if kind := _readable_kind(text, agent, str(error)):
            raise NotEdited(f"{error}; recall edits no file {kind}: {ADVICE}") from error
        raise SettingsError(f"{error}; {agent.title} cannot read this file either: {ADVICE}") from error
    return expect(text, root, "{", "the document")


def _readable_kind(text: str, agent: Agent, error: str) -> str:
    """What the agent itself reads past, for a sentence: Qwen Code and Gemini CLI comments, each of them deep nesting;
    empty for a fault to the agent too."""
    if error.endswith("found a comment"):
        return "with comments" if agent.comments else ""
    if "levels of nesting" not in error:
        return ""
    try:
        json.loads(text)
    except RecursionError:  # deeper than Python goes
        pass
    except ValueError:
        return ""
    return "that is nested deeper"


def _registered(text: str, agent: Agent, event: str, entry: HookEntry) -> str:
    """The text with `entry` as the one of ours for an event."""
    root = _parse(text, agent)
    style = jsontext.style_of(text, root)
    places = find(text, root, agent, event)
    for place in reversed(places[1:]):
        text = _without(text, place, agent, floor=0)
    if places:
        return _updated(text, places[0], agent, entry, style)
    hooks = member(text, root, "hooks")
    group = _group(agent, entry)
    if hooks is None:
        return jsontext.append_child(text, root, "hooks", {event: [group]}, style)
    groups = member(text, hooks, event)
    if groups is None:
        return jsontext.append_child(text, hooks, event, [group], style)
    return jsontext.append_child(text, groups, None, group, style)


def _updated(text: str, place: Place, agent: Agent, entry: HookEntry, style: Style) -> str:
    """Only the values that differ change; a key that the person added to the entry stays."""
    for key, value in handler_of(agent, entry).items():
        handler = nodes_at(_parse(text, agent), place)[-1]
        node = member(text, handler, key)
        if node is None:
            text = jsontext.append_child(text, handler, key, value, style)
        elif not _equal(text, node, value):
            text = jsontext.replace_value(text, node, value, style)
    return text


def _equal(text: str, node: Node, value: str | int | Sequence[str]) -> bool:
    if isinstance(value, list):
        return node.bracket == "[" and [child.node.string for child in node.children] == value
    return node.string == value if isinstance(value, str) else text[node.start : node.end] == str(value)


def _removed(text: str, agent: Agent, event: str, original: bytes | None) -> str:
    """The text without our entries of an event."""
    places = find(text, _parse(text, agent), agent, event, strict=False)
    floor = _containers(original, agent, event)
    for place in reversed(places):
        text = _without(text, place, agent, floor)
    return text


def _without(text: str, place: Place, agent: Agent, floor: int) -> str:
    """Take out the entry, or the outermost container that would be left empty: the group, the event's list (unless
    `floor` is 2), `hooks` (unless it is 1)."""
    nodes = nodes_at(_parse(text, agent), place)
    steps = [(nodes[0], place[0]), (nodes[1], place[1]), (nodes[2], place[2]), (nodes[4], place[4])]
    level = 3
    while level > floor and len(steps[level][0].children) == 1:
        level -= 1
    return jsontext.remove_child(text, *steps[level])


def _containers(original: bytes | None, agent: Agent, event: str) -> int:
    """How many of the containers `hooks` and its event list stood in the content before we came."""
    try:
        _, text = _decode(original or b"", agent, only_read=True)
        hooks = member(text, _parse(text, agent), "hooks")
        return 0 if hooks is None else 1 if member(text, hooks, event) is None else 2
    except SettingsError:
        return 0
