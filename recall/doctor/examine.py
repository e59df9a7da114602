"""The examination: all checks one after another, none of which can hide another or keep the person waiting for ever."""

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import psutil

from recall.core.errors import RecallError
from recall.core.log import place_of
from recall.doctor import (
    answer,
    daemon,
    folder,
    hook,
    index,
    journals,
    loaded,
    model,
    neighbours,
    own_files,
    schedule,
    sharing,
)
from recall.doctor.case import Case, Finding

Check = Callable[[Case], Iterable[Finding]]

#: Seconds that one check gets. A model of 2 GB and an index of 1 GB take some ten; a disk that is gone, for ever.
CHECK_SECONDS = 120.0

#: Checks by their name, in the order in which a person reads them. The last one knows what the others found.
CHECKS: dict[str, Check] = {
    "config": own_files.config,
    "switch": own_files.switches,
    "mutes": own_files.mutes,
    "gates": own_files.gates,
    "permissions": folder.permissions,
    "disk": folder.disk,
    "locks": folder.locks,
    "clock": folder.clock,
    "settings": hook.readable,
    "hooks": hook.switched_off,
    "hook": hook.registered,
    "entry": hook.entry,
    "command": hook.command,
    "daemon": daemon.daemon,
    "address": daemon.address,
    "answer": answer.answer,
    "model": model.model,
    "device": model.device,
    "index": index.index,
    "records": index.records,
    "skipped": index.skipped,
    "messages": journals.messages,
    "logs": journals.logs,
    "schedule": schedule.schedule,
    "others": neighbours.others,
    "path": neighbours.path,
    "versions": neighbours.versions,
    "loaded": loaded.loaded,
    "sharing": sharing.sharing,
}
#: What can be said before anything is set up.
UNBOUND = ("settings", "hooks", "others", "path", "versions", "loaded")


def examine(case: Case, checks: "dict[str, Check] | None" = None) -> list[Finding]:
    """All findings, at least one a check."""
    checks = checks or CHECKS
    if not case.is_set_up:
        found = [
            Finding("setup", "problem", "missing", f"recall is not set up in {case.home}", "run `recall setup`"),
        ]
        return found + [line for name in UNBOUND if name in checks for line in guarded(name, checks[name], case)]
    found = [Finding("setup", "ok", "ok", f"state folder {case.home}")]
    for name, check in checks.items():
        found += guarded(name, check, case)
    if trouble := daemon.trouble(case, found):
        place = next((at for at, line in enumerate(found) if line.name == "daemon"), 0)
        found.insert(place + 1, trouble)
    return found


def mend(
    before: Sequence[Finding],
    look_again: Callable[[], list[Finding]],
    told: Callable[[Finding], None] = lambda _: None,
) -> list[Finding]:
    """Do what can be done about the findings, look again, and tell what became of each. `told` hears of each before.

    One is fixed when the second look does not find it any more, whatever its mending said.
    """
    said: dict[tuple[str, str], tuple[Finding, str]] = {}
    refused: dict[tuple[str, str], str] = {}
    for finding in before:
        if finding.fix is None:
            continue
        key = (finding.name, finding.code)
        told(finding)
        try:
            said[key] = (finding, finding.fix())
        except (RecallError, OSError, psutil.Error) as error:
            refused[key] = str(error)
    if not said and not refused:
        return list(before)
    after = look_again()
    still = {(finding.name, finding.code) for finding in after}
    fixed = [
        replace(finding, state="fixed", advice=words, fix=None)
        for key, (finding, words) in said.items()
        if key not in still
    ]
    mended = {finding.name for finding in fixed}
    lines: list[Finding] = []
    for finding in after:
        lines += [fixed.pop(0) for _ in range(_count(fixed, finding.name))]
        if finding.state == "ok" and finding.name in mended:
            continue
        reason = refused.get((finding.name, finding.code))
        lines.append(replace(finding, advice=f"{finding.advice}; --fix could not: {reason}") if reason else finding)
    return lines + fixed


def _count(fixed: list[Finding], name: str) -> int:
    """How many of the first lines that were fixed are of this check; those stand in the checks' order."""
    return next((at for at, finding in enumerate(fixed) if finding.name != name), len(fixed))


def guarded(name: str, check: Check, case: Case, seconds: float = CHECK_SECONDS) -> list[Finding]:
    """What a check finds. One that breaks or does not end is a line of its own and keeps nothing else back."""
    found: list[Finding] = []
    broken: list[str] = []

    def work() -> None:
        try:
            found.extend(check(case))
        except (RecallError, OSError) as error:
            broken.append(str(error))
        except Exception as error:
            broken.append(f"{type(error).__name__} at {place_of(error)}")

    thread = threading.Thread(target=work, name=f"check-{name}", daemon=True)  # one that hangs must not keep us here
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        broken = [f"it did not end within {seconds:g} s; is a disk or a program hanging?"]
        found = []
    found = list(found)
    if broken:
        found.append(Finding(name, "problem", "failed", f"this check failed: {broken[0]}", "mend that, then try again"))
    return found or [Finding(name, "ok", "ok", "nothing to see")]
