"""Properties of the edits of agents' settings, over documents with random content, layout, line ends and mark."""

import json
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from recall.core.errors import SettingsError
from recall.setup import jsontext
from recall.setup.agents import Agent, agents
from recall.setup.registration import register, unregister
from recall.setup.settings import EVENT, HookEntry, plan_register, plan_unregister, registered, starts

BOM = b"\xef\xbb\xbf"
ENTRY = HookEntry("/home/mia/記録/bin/recall-hook", ("hook", "--home", "/home/mia/記録"), 5)
OLDER = HookEntry("C:\\old\\recall.exe", ("hook",), 30)

numbers = st.sampled_from(["1e3", "1.0", "-0", "0", "5", "123456789012345678901234567890", "2E-7"]).map(lambda n: (n,))
texts = st.text(st.characters(codec="utf-8"), max_size=6)
scalars = st.none() | st.booleans() | numbers | texts
values = st.recursive(scalars, lambda v: st.lists(v, max_size=3) | st.dictionaries(texts, v, max_size=3), max_leaves=6)
foreign_handlers = st.fixed_dictionaries(
    {
        "type": st.just("command"),
        "command": st.sampled_from(["recall", "/x/recall-hook.sh", "total-recall", "a b"]) | texts,
    },
    optional={"args": st.just(["serve", "hook"]), "timeout": numbers, "x": values},
)
foreign_groups = st.fixed_dictionaries(
    {"hooks": st.lists(foreign_handlers, max_size=2)}, optional={"matcher": st.just("")}
)
hooks = st.dictionaries(
    st.sampled_from(["Stop", "PreToolUse", EVENT]), st.lists(foreign_groups, max_size=2), max_size=2
)


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    """A settings document without an entry of ours; numbers are 1-tuples of their literal."""
    members = list(draw(st.dictionaries(texts.filter(lambda k: k != "hooks"), values, max_size=3)).items())
    if draw(st.booleans()):
        members.insert(draw(st.integers(0, len(members))), ("hooks", draw(hooks)))
    return dict(members)


@st.composite
def written(draw: st.DrawFn, document: Any) -> bytes:
    """The document as somebody may have written it: tidily, or with white space in every odd place."""
    line_end = draw(st.sampled_from(["\n", "\r\n"]))
    if draw(st.booleans()):
        layout = draw(st.sampled_from([("  ", ",", ": "), ("	", ",", ": "), ("", ",", ":"), ("   ", ",", " : ")]))
        text = _tidy(draw, document, layout, line_end)
    elif draw(st.booleans()):
        text = _tidy(draw, document, ("", *draw(st.sampled_from([(",", ":"), (", ", ": ")]))), "")
    else:
        text = _wild(draw, document, st.lists(st.sampled_from([" ", "	", line_end]), max_size=2).map("".join))
    before, after = draw(st.sampled_from([("", ""), ("", line_end), (line_end, " "), (" ", line_end * 2)]))
    return draw(st.sampled_from([b"", BOM])) + (before + text + after).encode()


def _scalar(draw: st.DrawFn, value: Any) -> str:
    return str(value[0]) if isinstance(value, tuple) else json.dumps(value, ensure_ascii=draw(st.booleans()))


def _tidy(draw: st.DrawFn, value: Any, layout: tuple[str, str, str], line: str) -> str:
    """`layout`: indent, comma, colon. `line`: what goes before a container's closing bracket."""
    if not isinstance(value, dict | list) or not value:
        return _scalar(draw, value)
    indent, comma, colon = layout
    inner = line + indent
    if isinstance(value, dict):
        parts = [_scalar(draw, key) + colon + _tidy(draw, item, layout, inner) for key, item in value.items()]
    else:
        parts = [_tidy(draw, item, layout, inner) for item in value]
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    return opening + inner + (comma + inner).join(parts) + line + closing


def _wild(draw: st.DrawFn, value: Any, gap: st.SearchStrategy[str]) -> str:
    if not isinstance(value, dict | list):
        return _scalar(draw, value)
    parts = []
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        name = _scalar(draw, key) + draw(gap) + ":" + draw(gap) if isinstance(value, dict) else ""
        parts.append(draw(gap) + name + _wild(draw, item, gap) + draw(gap))
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    return opening + (",".join(parts) or draw(gap)) + closing


files = documents().flatmap(written)


def _load(raw: bytes) -> Any:
    return json.loads(raw.removeprefix(BOM), parse_int=str, parse_float=str)


def _with_entry(document: Any, entry: HookEntry) -> Any:
    handler = {"type": "command", "command": entry.command, "args": list(entry.args), "timeout": str(entry.timeout)}
    document.setdefault("hooks", {}).setdefault(EVENT, []).append({"hooks": [handler]})
    return document


@given(files)
def test_setup_adds_one_group_and_nothing_else(raw: bytes) -> None:
    new = plan_register(raw, ENTRY)
    assert new is not None
    assert _load(new) == _with_entry(_load(raw), ENTRY)
    assert list(_load(new)) == [*_load(raw), *([] if "hooks" in _load(raw) else ["hooks"])]
    assert registered(new) == ENTRY


@given(files)
def test_setup_takes_no_character_away_but_white_space_of_an_empty_container(raw: bytes) -> None:
    new = plan_register(raw, ENTRY)
    assert new is not None
    same_start = next((i for i, (a, b) in enumerate(zip(raw, new, strict=False)) if a != b), len(raw))
    same_end = 0
    while same_end < len(raw) - same_start and raw[-1 - same_end] == new[-1 - same_end]:
        same_end += 1
    assert raw[same_start : len(raw) - same_end].strip(b" \t\r\n") == b""


@given(files)
def test_setup_twice_is_setup_once(raw: bytes) -> None:
    new = plan_register(raw, ENTRY)
    assert new is not None
    assert plan_register(new, ENTRY) is None


@given(files)
def test_a_moved_installation_ends_in_the_same_file_as_a_new_one(raw: bytes) -> None:
    older = plan_register(raw, OLDER)
    assert older is not None
    assert registered(older) == OLDER
    assert plan_register(older, ENTRY) == plan_register(raw, ENTRY)


@given(files)
def test_surgical_removal_undoes_setup_up_to_white_space_of_an_empty_container(raw: bytes) -> None:
    new = plan_register(raw, ENTRY)
    assert new is not None
    back = plan_unregister(new, raw)
    assert back is not None
    assert _load(back) == _load(raw)
    document = _load(raw)
    empty = not document or document.get("hooks", 0) == {} or document.get("hooks", {}).get(EVENT, 0) == []
    assert empty or back == raw


@given(files)
def test_nothing_is_removed_where_nothing_is_ours(raw: bytes) -> None:
    assert plan_unregister(raw) is None


@given(documents(), st.data())
def test_entries_that_were_spread_by_hand_are_gathered_into_the_first(
    document: dict[str, Any], data: st.DataObject
) -> None:
    ours = {"type": "command", "command": OLDER.command, "args": list(OLDER.args), "note": "mine"}
    groups = document.setdefault("hooks", {}).setdefault(EVENT, [])
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(groups)))
        if at < len(groups) and data.draw(st.booleans()):
            groups[at]["hooks"] = [*groups[at]["hooks"], dict(ours)]
        else:
            groups.insert(at, {"hooks": [dict(ours)]})
    raw = data.draw(written(document))
    new = plan_register(raw, ENTRY)
    assert new is not None
    assert new.count(json.dumps(ENTRY.command, ensure_ascii=False).encode()) == 1
    assert _foreign(_load(new)) == _foreign(_load(raw))
    gone = plan_unregister(new)
    assert gone is not None
    assert registered(gone) is None
    assert _foreign(_load(gone)) == _foreign(_load(raw))


def _foreign(document: Any) -> list[Any]:
    """Everything that is not ours, in order: other members, other events, and the handlers of others."""
    hooks = document.get("hooks", {})
    handlers = [h for group in hooks.get(EVENT, []) for h in group["hooks"] if "note" not in h]
    return [
        [(k, v) for k, v in document.items() if k != "hooks"],
        [(k, v) for k, v in hooks.items() if k != EVENT],
        [h for h in handlers if h["command"] != ENTRY.command],
    ]


ALL = [*agents("linux").values(), *(agent for agent in agents("win32").values() if agent.shell != "cmd")]
#: No shell may stumble over this one.
ODD = HookEntry('/home/mia\'s \\ "a" $b `c`/記録/recall-hook', ("hook", "--home", "/home/mia’s\n"), 7)
any_agent = st.sampled_from(ALL)


def _for(agent: Agent, raw: bytes) -> bytes:
    """The file as this agent may have it: about its own events, and without a mark that it cannot read."""
    raw = raw if agent.reads_mark else raw.removeprefix(BOM)
    return raw.replace(EVENT.encode(), agent.prompt.encode()).replace(b'"Stop"', f'"{agent.start}"'.encode())


@given(files, any_agent)
def test_every_agent_gets_one_group_an_event_and_nothing_else(raw: bytes, agent: Agent) -> None:
    raw = _for(agent, raw)
    new = plan_register(raw, ODD, agent, start=True)
    assert new is not None
    assert (registered(new, agent), starts(new, agent)) == (ODD, True)
    assert plan_register(new, ODD, agent) is None
    document, before = _load(new), _load(raw)
    for event in agent.events:
        *others, group = document["hooks"].pop(event)
        assert others == before.get("hooks", {}).pop(event, [])
        (handler,) = group["hooks"]
        assert (handler["type"], handler["timeout"]) == ("command", str(7 * agent.per_second))
    assert document.pop("hooks") == before.pop("hooks", {})
    assert document == before


@given(files, any_agent, st.booleans())
def test_surgical_removal_undoes_every_agents_setup(raw: bytes, agent: Agent, start: bool) -> None:
    raw = _for(agent, raw)
    new = plan_register(raw, ODD, agent, start=start)
    assert new is not None
    back = plan_unregister(new, raw, agent)
    assert back is not None
    assert _load(back) == _load(raw)
    hooks = _load(raw).get("hooks")
    empty = not _load(raw) or hooks == {} or [] in [(hooks or {}).get(event) for event in agent.events]
    assert empty or back == raw
    without = plan_register(new, ODD, agent, start=False, original=raw)
    assert empty or without == (plan_register(raw, ODD, agent) if start else None)


@settings(max_examples=60)
@given(st.none() | files, any_agent, st.lists(st.sampled_from([True, False, None]), min_size=1, max_size=4))
def test_uninstall_gives_every_agents_original_bytes_back(
    raw: bytes | None, agent: Agent, starts_asked: list[bool | None]
) -> None:
    raw = None if raw is None else _for(agent, raw)
    with tempfile.TemporaryDirectory() as folder:
        path, state = Path(folder) / "new" / agent.file, Path(folder) / "state"
        if raw is not None:
            path.parent.mkdir()
            path.write_bytes(raw)
        for start in starts_asked:
            register(path, ODD, state, agent, start=start)
        assert unregister(path, state, agent).action == "restored"
        assert (path.read_bytes() if path.exists() else None) == raw
        assert [p for p in Path(folder).rglob("*") if p.is_file()] == ([path] if raw is not None else [])


@settings(max_examples=60)
@given(
    st.none()
    | st.sampled_from([b"", b"\r\n ", BOM, b"{ }", b'{"hooks" : {\n}}', b'{"hooks":{"UserPromptSubmit":[ ]}}'])
    | files
)
def test_uninstall_right_after_setup_gives_the_original_bytes_back(raw: bytes | None) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path, state = Path(folder) / "settings.json", Path(folder) / "state"
        if raw is not None:
            path.write_bytes(raw)
        register(path, OLDER, state)
        register(path, ENTRY, state)
        assert unregister(path, state).action == "restored"
        assert (path.read_bytes() if path.exists() else None) == raw
        assert [p for p in Path(folder).rglob("*") if p.is_file()] == ([path] if raw is not None else [])


@given(
    files, st.integers(0), st.sampled_from(["", ",", "}", "]", '"', "\\", "/", "#", "x", "1", " ", "\t", ".", "\x0b"])
)
@example(b'{"a": 01}', 0, "")
@example(b'{"a": NaN}', 0, "")
@example(b'{"a": "\t"}', 0, "")
@example(b'{"a": 1,}', 0, "")
@example(b"{'a': 1}", 0, "")
@example(b'{"a": "\\ud800"}', 0, "")
def test_the_parser_takes_and_refuses_what_json_does(raw: bytes, at: int, other: str) -> None:
    text = raw.removeprefix(BOM).decode()
    at %= len(text) + 1
    text = text[:at] + other + text[at + 1 :]
    try:
        expected = json.loads(text, parse_constant=_refuse)
    except ValueError:
        expected = None
    try:
        node = jsontext.parse(text)
    except jsontext.JsonTextError:
        assert expected is None
    else:
        assert json.loads(text[node.start : node.end]) == expected


def _refuse(name: str) -> None:
    raise ValueError(name)


@given(st.binary(max_size=60) | st.text('{}[]":,\\ \n\thooksUserPromptSubmit1', max_size=80).map(str.encode))
def test_any_bytes_are_either_edited_or_refused_in_words(raw: bytes) -> None:
    try:
        new = plan_register(raw, ENTRY)
    except SettingsError as error:
        assert "\n" not in str(error)
    else:
        assert new is not None
        assert registered(new) == ENTRY
