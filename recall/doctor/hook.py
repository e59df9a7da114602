"""The hook's registration: that Claude Code can read it, runs hooks at all, and calls this recall as it should."""

import os
import re
import stat
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from recall.core.errors import RecallError, SettingsError
from recall.doctor.case import Case, Finding, State
from recall.doctor.entries import (
    Entry,
    drop_conditions,
    entries,
    load,
    own_entries,
    own_plugins,
    plugin_entries,
    start_entries,
)
from recall.setup.agents import CLAUDE, Agent
from recall.setup.launcher import (
    DEFAULT_BUDGET_MS,
    TIMEOUT_S,
    hook_entry,
    launcher_path,
    render_launcher,
    write_launcher,
)
from recall.setup.places import HookFile
from recall.setup.registration import entry_in, may_call_us, read_settings, register
from recall.setup.settings import hooks_disabled

#: Seconds beyond which a `timeout` is probably meant in milliseconds. The client's own default is 60 s.
LONG_SECONDS = 60

_PACKAGE = re.compile(r"sys\.path\.append\('(.*)'\)")


def readable(case: Case) -> Iterator[Finding]:
    """Whether the agents can read their settings: one character too many, and Claude Code ignores the whole file."""
    found = []
    for file in case.hook_files:
        try:
            entry_in(file.path, file.agent)
        except SettingsError as error:
            # Others read comments; recall only edits no file that has some.
            state: State = "problem" if file.agent is CLAUDE or not file.agent.comments else "note"
            advice = f"{file.agent.title} may ignore the whole file"
            found.append(Finding("settings", state, "invalid", str(error), advice))
    yield from found or [Finding("settings", "ok", "ok", f"{len(case.hook_files)} settings files can be read")]


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
    for one in own_entries(case):
        if one.agent is not CLAUDE and hooks_disabled(read_settings(one.file) or b"", one.agent):
            said = f"{'.'.join(one.agent.switch[0])} in {one.file} keeps the hook from running in {one.agent.title}"
            found.append(Finding("hooks", "problem", "disabled", said, "take it out there"))
    yield from found or [Finding("hooks", "ok", "ok", "no setting switches hooks off")]


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
    own, plugins = own_entries(case), own_plugins(case)
    all_ = [*entries(case), *plugin_entries(case).values()]
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
        yield Finding("hook", "note", "unknown", f"{unread[0]} may call recall, and cannot be read")
    elif not case.is_set_up:
        yield Finding("hook", "note", "missing", "no settings file calls recall", "`recall setup` registers it")
    else:
        fix = partial(_register, case, CLAUDE, CLAUDE.settings(case.environment))
        yield Finding("hook", "problem", "missing", "no settings file calls recall", "`recall setup` registers it", fix)


def _can_be_read(file: HookFile) -> bool:
    try:
        entry_in(file.path, file.agent)
    except SettingsError:
        return False
    return True


def entry(case: Case) -> Iterator[Finding]:
    """Whether our entries are as setup writes them, and stand once."""
    own = own_entries(case)
    found = [line for one in own for line in _of_entry(case, one)]
    found += _doubles(case, own)
    words = f"once, timeout {TIMEOUT_S} s, cut-off {case.config['hook.budget_ms']} ms" if own else "there is none"
    yield from found or [Finding("entry", "ok", "ok", words)]


def _of_entry(case: Case, one: Entry) -> Iterator[Finding]:
    renew = partial(_register, case, one.agent, one.file)
    if one.agent is CLAUDE and "if" in one.keys:

        def drop() -> str:
            drop_conditions(one.file)
            return "took the `if` out"

        found = f"our entry in {one.file} has an `if`, with which Claude Code never runs a hook of this event"
        yield Finding("entry", "problem", "if", found, "take it out", drop)
    if code := judge_timeout(one.keys, case.config["hook.budget_ms"], one.agent.per_second):
        unit = "seconds" if one.agent.per_second == 1 else "milliseconds"
        found = f"our entry in {one.file} has the timeout {one.keys['timeout']!r}, in {unit}"
        advice = f"setup writes {TIMEOUT_S * one.agent.per_second}"
        yield Finding("entry", "problem" if code != "long" else "note", f"timeout-{code}", found, advice, renew)
    wanted, named = case.config["hook.budget_ms"], one.budget_ms or DEFAULT_BUDGET_MS
    if wanted != named and not case.config_problem:
        found = f"config.toml says hook.budget_ms = {wanted}, but the entry in {one.file} calls the hook with {named}"
        yield Finding("entry", "problem", "budget", found, "`recall setup` takes it over", renew)


def judge_timeout(keys: Mapping[str, Any], budget_ms: int, per_second: int) -> str:
    """What is wrong with an entry's timeout: "wrong" (no number), "short" (the client gives up before the hook does),
    "long"; "" where nothing is. `per_second`: its units in a second. None at all is the client's default."""
    if "timeout" not in keys:
        return ""
    value = keys["timeout"]
    if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
        return "wrong"
    seconds = value / per_second
    return "short" if seconds * 1000 < budget_ms else "long" if seconds > LONG_SECONDS else ""


def _once_a_file(every: Sequence[Entry]) -> list[Entry]:
    """The first entry of each agent's file."""
    return list({one.place: one for one in reversed(every)}.values())[::-1]


def _doubles(case: Case, own: list[Entry]) -> Iterator[Finding]:
    """The same entry in two files runs once, two that differ run twice, and twice in one file is of no use."""
    for one in _once_a_file(own):
        count = sum(other.place == one.place for other in own)
        if count > 1:
            found = f"{one.file} calls recall {count} times"
            fix = partial(_register, case, one.agent, one.file)
            yield Finding("entry", "problem", "twice", found, "one entry does", fix, {"count": count})
    first = {one.file: (one.calls.command, one.calls.args) for one in reversed(own) if one.agent is CLAUDE}
    if len(set(first.values())) > 1:
        files = " and ".join(map(str, sorted(first)))
        found = f"{files} call recall in different ways, so that it runs more than once a message"
        yield Finding("entry", "problem", "differing", found, "take one of the two entries out")


@dataclass(frozen=True, slots=True)
class Seen:
    """A registered command as it was found: `python` and `package` are what a launcher names, None for another."""

    exists: bool
    is_file: bool
    executable: bool
    python: bool | None = None
    package: bool | None = None
    is_own: bool = True


def command(case: Case) -> Iterator[Finding]:
    """Whether the registered commands are there, can be run, and are this recall."""
    found = []
    every = [*own_entries(case), *start_entries(case)]
    for path in dict.fromkeys(one.calls.command for one in every):
        code, words = judge_command(look_at(Path(path), case.home))
        if not code:
            continue
        fix = None if code == "other" else partial(_register_all, case, path)
        advice = "`recall setup`" if fix else "`recall setup` of the one that you want"
        found.append(Finding("command", "problem" if fix else "note", code, f"{path} {words}", advice, fix))
    for name, one in own_plugins(case).items():  # its command looks for a program: whether it finds one is run later
        code, words = judge_command(replace(look_at(Path(one.calls.command), case.home), is_own=True))
        if code:
            said = f"the plugin {name} is not whole: {one.calls.command} {words}"
            found.append(Finding("command", "problem", code, said, "install the plugin again"))
    yield from found or [Finding("command", "ok", "ok", "what is registered is this recall")]


def judge_command(seen: Seen) -> tuple[str, str]:
    """What is wrong with a registered command, as a word and for a sentence; ("", "") where nothing is."""
    if not seen.exists:
        return "gone", "is registered and not there"
    if not seen.is_file:
        return "no-file", "is registered and no file"
    if not seen.executable:
        return "not-executable", "is registered and cannot be executed"
    if seen.python is False:
        return "no-python", "starts a Python that is not there any more"
    if seen.package is False:
        return "no-package", "starts a recall that is not there any more"
    return ("", "") if seen.is_own else ("other", "starts another installation of recall than this one")


def look_at(path: Path, home: Path) -> Seen:
    """Look at a registered command; of a launcher of ours also at what it starts."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return Seen(exists=False, is_file=False, executable=False)
    usable = Seen(exists=True, is_file=stat.S_ISREG(mode), executable=os.access(path, os.X_OK))
    if not usable.is_file:
        return usable
    own = hook_entry(home, DEFAULT_BUDGET_MS)
    if path != launcher_path(home):
        same = os.path.realpath(path) == os.path.realpath(own.command)
        return Seen(exists=True, is_file=True, executable=usable.executable, is_own=same)
    text = path.read_text("utf-8", errors="replace")
    python = text.partition("\n")[0].removeprefix("#!").split(" ")[0]
    package = _PACKAGE.search(text)
    return Seen(
        exists=True,
        is_file=True,
        executable=usable.executable,
        python=os.access(python, os.X_OK),
        package=package is not None and (Path(package[1]) / "recall" / "hook" / "pipe.py").exists(),
        is_own=text == own_launcher(home),
    )


def own_launcher(home: Path) -> str:
    """The text that setup would write."""
    return render_launcher(sys.executable, Path(__file__).resolve().parents[2], home)


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
