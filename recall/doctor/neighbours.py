"""What else is on this machine: hooks on the same messages, programs of the same name, other versions of this one."""

from collections.abc import Iterator
from pathlib import Path

from recall.core.errors import SettingsError
from recall.daemon.process import daemon_processes
from recall.doctor.case import Case, Finding
from recall.doctor.entries import load, plugin_entries
from recall.doctor.kinds import Kind, misplaced
from recall.install.cleanup import remove_leftovers
from recall.install.in_use import is_in_use
from recall.install.place import FRESH, Place
from recall.setup.launcher import own_program
from recall.setup.others import (
    enabled_plugins,
    hook_line,
    hooking_plugins,
    namesake_line,
    namesakes,
    other_hooks,
    plugin_line,
)


def others(case: Case) -> Iterator[Finding]:
    """Other hooks that answer the same messages: what they say stands beside our headlines, and takes its time."""
    read, said = [], []
    for file in case.settings:
        try:
            read.append((file, load(file)))
        except SettingsError:
            continue
    for file, settings in read:
        said += [hook_line(command, str(file)) for command in other_hooks(settings)]
    enabled, ours = enabled_plugins(settings for _, settings in read), plugin_entries(case)
    for folder in case.claude:
        said += [plugin_line(plugin) for plugin in hooking_plugins(enabled, folder) if plugin not in ours]
    for line in dict.fromkeys(said):
        yield Finding("others", "note", "hook", line, "keep one, if both bring memories")
    if not said:
        yield Finding("others", "ok", "ok", "no other hook answers the same messages")


def path(case: Case) -> Iterator[Finding]:
    """What `recall` in a shell starts."""
    own = own_program()
    programs = namesakes(own, case.environment, case.platform)
    found = [
        Finding(
            "path", "note", "first" if at == 0 else "namesake", namesake_line(program, own, first=at == 0),
            f"call this one by its path, {own}" if at == 0 else "",
        )
        for at, (program, is_ours) in enumerate(programs)
        if not is_ours
    ]  # fmt: skip
    if not any(is_ours for _, is_ours in programs):
        words = f"this recall is not on PATH: {own}"
        found.append(Finding("path", "note", "not-on-path", words, f"add {own.parent} to PATH, or call it by its path"))
    yield from found or [Finding("path", "ok", "ok", f"`recall` in a shell starts {own}")]


def versions(case: Case) -> Iterator[Finding]:
    """Installed versions of the packed program, and processes that an upgrade has left behind."""
    place = Place.of_user()
    names, current = place.names(), place.current()
    found = []
    if names and current is None:
        words = f"{len(names)} versions are installed and none is in use: {place.pointer} leads nowhere"
        advice = f"run {place.program(names[-1])} install --switch"
        found.append(Finding("versions", "problem", "none-current", words, advice))
    for name in names:
        if name != current and is_in_use(place, name):
            words = f"a process still runs version {name}, and {current} is the current one"
            found.append(Finding("versions", "note", "old-in-use", words, "`recall stop`, or leave it until it ends"))
    if left := leftovers(place):
        words = f"an interrupted installation has left {len(left)} folders in {place.versions}"

        def remove() -> str:
            remove_leftovers(place)
            return "removed what no process fills any more"

        found.append(Finding("versions", "note", "leftovers", words, "the next installation removes them", remove))
    found += _stray(case)
    kinds: dict[Path, tuple[Kind, str]] = {
        place.lock: ("file", "no version can be installed or removed"),
        place.data / "made.txt": ("file", "an uninstall leaves the folders that were made"),
    }
    found += misplaced("versions", kinds)
    words = f"{len(names)} installed, {current} in use" if names else "no packed program is installed"
    yield from found or [Finding("versions", "ok", "ok", words, facts={"installed": len(names)})]


def leftovers(place: Place) -> list[str]:
    """Folders of versions that were never finished."""
    try:
        return sorted(entry.name for entry in place.versions.iterdir() if entry.name.startswith((FRESH, ".old-")))
    except OSError:
        return []


def _stray(case: Case) -> Iterator[Finding]:
    """A daemon that holds no lock any more ends by itself within seconds; one that does not, answers nobody."""
    own = (case.serve.says or {}).get("pid")
    stray = [process.pid for process in daemon_processes(case.paths) if process.pid != own]
    if stray and own is not None:
        words = f"besides the daemon {len(stray)} processes serve this state folder: {', '.join(map(str, stray))}"
        yield Finding("versions", "note", "stray", words, "they end by themselves; if they do not, end them by hand")
