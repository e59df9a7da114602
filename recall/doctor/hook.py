"""The hook's registration: that Claude Code can read it, runs hooks at all, and calls this recall as it should."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from recall.core.errors import RecallError, SettingsError
from recall.doctor.case import Case, Finding
from recall.doctor.entries import (
    Entry,
    drop,
    entries,
    load,
    own_entries,
    own_plugins,
    own_written,
    plugin_entries,
    start_entries,
    written_entries,
)
from recall.doctor.keys import beside, judge_timeout, never_fits
from recall.doctor.kinds import Kind, misplaced
from recall.doctor.seen import judge_command, look_at, program_of
from recall.setup.agents import CLAUDE, Agent
from recall.setup.launcher import (
    DEFAULT_BUDGET_MS,
    TIMEOUT_S,
    hook_entry,
    launcher_path,
    write_launcher,
)
from recall.setup.places import HookFile
from recall.setup.registration import entry_in, may_call_us, read_settings, register
from recall.setup.settings import NotEdited, plan_register
from recall.setup.switch import switched_off as switch_of
from recall.setup.switch import unreadable


def readable(case: Case) -> Iterator[Finding]:
    """Whether the agents can read their settings: one character too many, and Claude Code ignores the whole file."""
    found = []
    for file in case.hook_files:
        try:
            entry_in(file.path, file.agent)
        except SettingsError as error:
            found.append(_unread(file, error))
    own = [*own_entries(case), *start_entries(case)]
    for file in dict.fromkeys(HookFile(one.agent, one.file) for one in own):
        if reason := unreadable(file):
            advice = f"until then {file.agent.title} may not even start"
            found.append(Finding("settings", "problem", "invalid", reason, advice))
    yield from found or [Finding("settings", "ok", "ok", f"{len(case.hook_files)} settings files can be read")]


def _unread(file: HookFile, error: SettingsError) -> Finding:
    title = file.agent.title
    if file.path.exists() and not file.path.is_file():
        advice = f"move it away; {title} can read nothing there"
        return Finding("settings", "problem", "no-file", str(error), advice)
    if isinstance(error, NotEdited):
        advice = f"{title} reads it; to change what calls recall there, edit it by hand"
        return Finding("settings", "note", "not-edited", str(error), advice)
    advice = f"until then {title} may ignore the whole file"
    return Finding("settings", "problem", "invalid", str(error), advice)


def switched_off(case: Case) -> Iterator[Finding]:
    """Whether a setting keeps all hooks from running."""
    managed = managed_files(case.managed)
    found = []
    for path in [*case.settings, *managed]:
        try:
            settings = load(path)
        except SettingsError:
            continue  # the check before this one says so
        for key in switches_off(settings, managed=path in managed):
            said = f"{key} in {path} keeps the hook from running"
            advice = "ask who manages this machine to allow it" if path in managed else "take it out there"
            found.append(Finding("hooks", "problem", key, said, advice))
    calling = [*own_entries(case), *start_entries(case), *own_written(case)]
    for file in dict.fromkeys(HookFile(one.agent, _main(one)) for one in calling if one.agent is not CLAUDE):
        if reason := switch_of(file):
            said = f"{reason}, which keeps the hook from running in {file.agent.title}"
            found.append(Finding("hooks", "problem", "disabled", said, "take it out there"))
    yield from found or [Finding("hooks", "ok", "ok", "no setting switches hooks off")]


def _main(one: Entry) -> Path:
    """The settings file that setup would write, for an entry beside it too."""
    return one.file if one.is_editable else one.file.with_name(one.agent.file)


def switches_off(settings: Any, *, managed: bool) -> list[str]:
    """The keys that keep our hook from running. `allowManagedHooksOnly` counts in an administrator's file alone."""
    keys = ("disableAllHooks", "allowManagedHooksOnly") if managed else ("disableAllHooks",)
    return [key for key in keys if isinstance(settings, dict) and settings.get(key) is True]


def managed_files(folder: Path) -> list[Path]:
    """The settings that an administrator has put into a folder."""
    files = [folder / "managed-settings.json", *sorted((folder / "managed-settings.d").glob("*.json"))]
    return [file for file in files if file.is_file()]


def registered(case: Case) -> Iterator[Finding]:
    """Whether some settings file, or a plugin, calls recall with this state folder."""
    own, plugins = [*own_entries(case), *own_written(case)], own_plugins(case)
    all_ = [*entries(case), *written_entries(case), *plugin_entries(case).values()]
    unread = [file.path for file in case.hook_files if not _can_be_read(file) and may_call_us(file.path)]
    if own:
        words = f"registered in {' and '.join(dict.fromkeys(str(entry.file) for entry in own))}"
        yield Finding("hook", "ok", "ok", words, facts={"agents": "/".join(sorted({one.agent.name for one in own}))})
    elif plugins:
        yield Finding("hook", "ok", "plugin", f"registered by the plugin {next(iter(plugins))}")
    elif all_:
        found = f"{all_[0].file} calls recall with another state folder, {all_[0].home}"
        advice = f"`recall setup --home {case.home}` changes that; `recall doctor --home {all_[0].home}` looks there"
        yield Finding("hook", "problem", "other-folder", found, advice)
    elif unread:
        found = f"{unread[0]} may call recall; what stands there cannot be told"
        yield Finding("hook", "note", "unknown", found, "see the check of the settings")
    elif not case.is_set_up:
        yield Finding("hook", "note", "missing", "no settings file calls recall", "`recall setup` registers it")
    else:
        fix = _promised(case, HookFile(CLAUDE, CLAUDE.settings(case.environment)))
        advice = "`recall setup` registers it" if fix else "mend the settings, then run `recall setup`"
        yield Finding("hook", "problem", "missing", "no settings file calls recall", advice, fix)


def _promised(case: Case, file: HookFile) -> Callable[[], str] | None:
    """Registering in a file; None where its content would have it refused."""
    try:
        plan_register(read_settings(file.path), hook_entry(case.home, case.config["hook.budget_ms"]), file.agent)
    except RecallError:
        return None
    return partial(_register, case, *file)


def _can_be_read(file: HookFile) -> bool:
    try:
        entry_in(file.path, file.agent)
    except SettingsError:
        return False
    return True


def entry(case: Case) -> Iterator[Finding]:
    """Whether our entries are as setup writes them, and stand once."""
    own, written = own_entries(case), own_written(case)
    every = [*own, *start_entries(case), *written]
    found = {line.found: line for one in every for line in _of_entry(case, one)}
    found |= {line.found: line for line in _doubles(case, own, written)}
    backup: dict[Path, tuple[Kind, str]] = {
        case.home / "backup": ("folder", "setup and uninstall cannot do their work")
    }
    found |= {line.found: line for line in misplaced("entry", backup)}
    words = f"once, timeout {TIMEOUT_S} s, cut-off {case.config['hook.budget_ms']} ms" if every else "there is none"
    yield from found.values() or [Finding("entry", "ok", "ok", words)]


def _of_entry(case: Case, one: Entry) -> Iterator[Finding]:
    """What is wrong with one entry. What a person wrote into config.toml is theirs to mend."""
    for code, words in _conditions(one):
        alone = code != "matcher" or len(one.group.get("hooks", ())) == 1  # others have theirs from the same matcher
        mend = partial(drop, one.file, code, one.agent) if one.is_editable and alone else None
        found = f"our entry for {one.event} in {one.file} {words}"
        yield Finding("entry", "problem", code, found, "take it out" if alone else "give it a group of its own", mend)
    renew = partial(_register, case, one.agent, one.file) if one.is_editable else None
    if code := judge_timeout(one.keys, case.config["hook.budget_ms"], one.agent.per_second):
        unit = "seconds" if one.agent.per_second == 1 else "milliseconds"
        found = f"our entry for {one.event} in {one.file} has the timeout {one.keys['timeout']!r}, in {unit}"
        advice = f"setup writes {TIMEOUT_S * one.agent.per_second}"
        yield Finding("entry", "problem" if code != "long" else "note", f"timeout-{code}", found, advice, renew)
    wanted, named = case.config["hook.budget_ms"], one.budget_ms or DEFAULT_BUDGET_MS
    if wanted != named and not case.config_problem:
        found = f"config.toml says hook.budget_ms = {wanted}, but the entry in {one.file} calls the hook with {named}"
        advice = "`recall setup` takes it over" if renew else f"add --budget {wanted} to the command there"
        yield Finding("entry", "problem", "budget", found, advice, renew)


def _conditions(one: Entry) -> Iterator[tuple[str, str]]:
    """The keys that keep the hook from running or its answer from the message, each with the words for it."""
    if one.agent is CLAUDE and "if" in one.keys:
        yield "if", "has an `if`, with which Claude Code never runs a hook of this event"
    if key := beside(one.keys, one.agent.name):
        yield key, f"has `{key}`, so that what recall says comes too late to be handed over"
    if one.event == one.agent.start and never_fits(one.group.get("matcher"), one.agent.name):
        yield "matcher", f"has the matcher {one.group['matcher']!r}, which fits no begin of a session"


def _once_a_file(every: Sequence[Entry]) -> list[Entry]:
    """The first entry of each agent's file."""
    return list({one.place: one for one in reversed(every)}.values())[::-1]


def _doubles(case: Case, own: list[Entry], written: list[Entry]) -> Iterator[Finding]:
    """The same entry in two files runs once, two that differ run twice, and twice in one file is of no use."""
    for one in _once_a_file(own):
        count = sum(other.place == one.place for other in own)
        if count > 1:
            found = f"{one.file} calls recall {count} times"
            fix = partial(_register, case, one.agent, one.file)
            yield Finding("entry", "problem", "twice", found, "one entry does", fix, {"count": count})
    for one in written:
        twins = [other.file for other in own if _main(one) == other.file]
        if twins:
            found = f"{one.file} and {twins[0]} both call recall, and Codex runs both"
            yield Finding("entry", "problem", "both", found, "take one of the two entries out")
    first = {one.file: (one.calls.command, one.calls.args) for one in reversed(own) if one.agent is CLAUDE}
    if len(set(first.values())) > 1:
        files = " and ".join(map(str, sorted(first)))
        found = f"{files} call recall in different ways, so that it runs more than once a message"
        yield Finding("entry", "problem", "differing", found, "take one of the two entries out")


def command(case: Case) -> Iterator[Finding]:
    """Whether the registered commands are there, can be run, and are this recall."""
    found = []
    every = [*own_entries(case), *start_entries(case), *own_written(case)]
    for path in dict.fromkeys(one.calls.command for one in every):
        code, words = judge_command(look_at(program_of(path, case.environment), case.home))
        if not code:
            continue
        named = [one for one in every if one.calls.command == path]
        by_hand = next((one.file for one in named if not one.is_editable), None)
        fix = partial(_register_all, case, path) if code != "other" and by_hand is None else None
        advice = "`recall setup`" if code != "other" else "`recall setup` of the one that you want"
        if by_hand:
            advice = f"correct the command in {by_hand}"
        found.append(Finding("command", "problem" if code != "other" else "note", code, f"{path} {words}", advice, fix))
    for name, one in own_plugins(case).items():  # its command looks for a program: whether it finds one is run later
        code, words = judge_command(replace(look_at(Path(one.calls.command), case.home), is_own=True))
        if code:
            said = f"the plugin {name} is not whole: {one.calls.command} {words}"
            found.append(Finding("command", "problem", code, said, "install the plugin again"))
    yield from found or [Finding("command", "ok", "ok", "what is registered is this recall")]


def _register_all(case: Case, path: str) -> str:
    """Register anew wherever a command is named. Raises RecallError."""
    named = [one for one in (*own_entries(case), *start_entries(case)) if one.calls.command == path]
    done = [_register(case, one.agent, one.file) for one in _once_a_file(named)]
    return "; ".join(done) or "nothing calls it any more"


def _register(case: Case, agent: Agent, file: Path) -> str:
    """Do what setup does: write the launcher where one is used, and the one entry. Raises RecallError."""
    wanted = hook_entry(case.home, case.config["hook.budget_ms"])
    if wanted.command == str(launcher_path(case.home)):
        try:
            write_launcher(case.home)
        except OSError as error:
            raise RecallError(f"{wanted.command}: {error.strerror}") from error
    outcome = register(file, wanted, case.home, agent)
    return f"wrote {wanted.command}" if outcome.action == "unchanged" else f"{outcome.action} the entry in {file}"
