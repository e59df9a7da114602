"""Our entries in an agent's settings: what one looks like there, how it is known, and where in the document it stands.

Private marker keys are forbidden by the clients' schemas, so the command tells an entry of ours from all others.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

from recall.core.errors import SettingsError
from recall.setup import jsontext
from recall.setup.agents import Agent
from recall.setup.command import calls_recall, words_of
from recall.setup.jsontext import Node
from recall.setup.shells import join

ADVICE = "correct that place by hand and run the command again"

#: Where an entry stands: index of `hooks` in the document, of the event, of the group, of its `hooks`, of the handler.
Place = tuple[int, int, int, int, int]


@dataclass(frozen=True, slots=True)
class HookEntry:
    """The registered command, in words that no shell has touched. `timeout` in seconds."""

    command: str
    args: tuple[str, ...]
    timeout: int

    @property
    def home(self) -> str | None:
        """The state folder that it names, None where it names none."""
        following = dict(zip(self.args, self.args[1:], strict=False))
        return following.get("--home")


def handler_of(agent: Agent, entry: HookEntry) -> dict[str, Any]:
    """The entry as this agent's settings hold it. Raises SettingsError where its shell cannot be told the command."""
    timeout = entry.timeout * agent.per_second
    if agent.shell is None:
        return {"type": "command", "command": entry.command, "args": list(entry.args), "timeout": timeout}
    command = join([entry.command, *entry.args], agent.shell)
    return {"type": "command", "command": command, "timeout": timeout, **agent.extra}


def entry_of(text: str, handler: Node, agent: Agent) -> HookEntry:
    """What a handler of ours says; a time limit that is no whole number reads as 0."""
    node = member(text, handler, "timeout")
    digits = text[node.start : node.end] if node else ""
    timeout = int(digits) // agent.per_second if digits.isdecimal() else 0
    command, *args = _words(text, handler, agent)
    return HookEntry(command, tuple(args), timeout)


def find(text: str, root: Node, agent: Agent, event: str, *, strict: bool = True) -> list[Place]:
    """Where our entries of an event stand, in order.

    Raises SettingsError when anything on the way is not of the client's shape; with `strict` off such parts are passed
    over, for a file that nothing is to be added to.
    """
    try:
        return list(_find(text, root, agent, event, strict))
    except SettingsError:
        if strict:
            raise
        return []


def nodes_at(root: Node, place: Place) -> list[Node]:
    """The document, the nodes on the way to an entry, and the entry."""
    nodes = [root]
    for index in place:
        nodes.append(nodes[-1].children[index].node)
    return nodes


def index_of(text: str, node: Node, key: str) -> int | None:
    """Which child has this key. Twice is an error: a client takes the last, and a person may mean the first."""
    found = [index for index, child in enumerate(node.children) if child.key == key]
    if len(found) > 1:
        where = jsontext.place(text, node.children[found[1]].start)
        raise SettingsError(f'{where}: expected "{key}" once, found it twice; {ADVICE}')
    return found[0] if found else None


def member(text: str, node: Node, key: str) -> Node | None:
    index = index_of(text, node, key)
    return None if index is None else node.children[index].node


def expect(text: str, node: Node, bracket: str, name: str) -> Node:
    """The node, which must be an object (`{`) or a list (`[`). Raises SettingsError."""
    if node.bracket != bracket:
        _fail(text, node, f"{name} to be {'an object' if bracket == '{' else 'a list'}")
    return node


def _find(text: str, root: Node, agent: Agent, event: str, strict: bool) -> Iterator[Place]:
    hooks_at = index_of(text, root, "hooks")
    if hooks_at is None:
        return
    hooks = expect(text, root.children[hooks_at].node, "{", '"hooks"')
    event_at = index_of(text, hooks, event)
    if event_at is None:
        return
    groups = expect(text, hooks.children[event_at].node, "[", f'"{event}"')
    for group_at, child in enumerate(groups.children):
        try:
            for handlers_at, handler_at in _in_group(text, child.node, agent, event):
                yield hooks_at, event_at, group_at, handlers_at, handler_at
        except SettingsError:
            if strict:
                raise


def _in_group(text: str, node: Node, agent: Agent, event: str) -> list[tuple[int, int]]:
    group = expect(text, node, "{", f'a group of "{event}"')
    handlers_at = index_of(text, group, "hooks")
    if handlers_at is None:
        _fail(text, group, f'a group of "{event}" with a list "hooks"')
    handlers = expect(text, group.children[handlers_at].node, "[", f'"hooks" in a group of "{event}"')
    found = []
    for handler_at, item in enumerate(handlers.children):
        if _is_ours(text, expect(text, item.node, "{", f'a hook of "{event}"'), agent, event):
            found.append((handlers_at, handler_at))
    return found


def _is_ours(text: str, handler: Node, agent: Agent, event: str) -> bool:
    kind = member(text, handler, "type")
    if kind is None or kind.string is None:
        _fail(text, handler, f'a hook of "{event}" with a "type"')
    if kind.string != "command":
        return False
    command, *args = _words(text, handler, agent)
    return calls_recall(command, args)


def _words(text: str, handler: Node, agent: Agent) -> list[str]:
    """The words of a handler's command, at least one."""
    node = member(text, handler, "command")
    args = member(text, handler, "args") if agent.shell is None else None
    given = args.children if args and args.bracket == "[" else ()
    return words_of((node.string if node else None) or "", [child.node.string or "" for child in given], agent.shell)


def _fail(text: str, node: Node, expectation: str) -> NoReturn:
    scalar = text[node.start : node.end] if node.string is None else "a text"
    found = {"{": "an object", "[": "a list", "": scalar}[node.bracket]
    raise SettingsError(f"{jsontext.place(text, node.start)}: expected {expectation}, found {found}; {ADVICE}")
