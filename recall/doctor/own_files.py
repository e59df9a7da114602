"""The person's own files in the state folder: config.toml and what it switches off, mutes.json, gates.toml."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

from recall.core.errors import RecallError
from recall.daemon.mutes import Mutes
from recall.doctor.case import Case, Finding
from recall.embed.gates import read_gates


def config(case: Case) -> Iterator[Finding]:
    """Whether config.toml can be read."""
    if case.config_problem:
        yield Finding("config", "problem", "invalid", case.config_problem, "until then the last good values count")
    else:
        yield Finding("config", "ok", "ok", f"{case.paths.config} can be read")


def switches(case: Case) -> Iterator[Finding]:
    """Whether the person has switched recall off."""
    off = case.environment.get("RECALL_OFF", "") not in ("", "0")
    enabled = case.config["enabled"]
    if off:
        found = "RECALL_OFF is set in this shell: sessions that are started from it get nothing"
        yield Finding("switch", "problem", "environment", found, "unset RECALL_OFF")
    if not enabled:
        found = f"enabled = false in {case.paths.config}: no message gets anything"
        yield Finding("switch", "problem", "configuration", found, "set enabled = true to hear of records again")
    if enabled and not off:
        yield Finding("switch", "ok", "ok", "recall is switched on")


def mutes(case: Case) -> Iterator[Finding]:
    """Whether mutes.json can be read."""
    path = Path(case.paths.mutes)

    def count() -> str:
        return f"{len(Mutes(case.paths).all())} muted records"

    return _usable("mutes", path, count, "nothing is muted")


def gates(case: Case) -> Iterator[Finding]:
    """Whether gates.toml can be read."""
    path = Path(case.paths.gates)

    def count() -> str:
        return f"own thresholds for {len(read_gates(path))} models"

    return _usable("gates", path, count, "the model's own thresholds count")


def _usable(name: str, path: Path, read: Callable[[], str], without: str) -> Iterator[Finding]:
    if not path.exists():
        yield Finding(name, "ok", "none", f"{without}: there is no {path.name}")
        return
    if not path.is_file():  # to read a pipe would keep us waiting for ever
        found = f"{path}: expected a file, found something else"
        yield Finding(name, "problem", "no-file", found, f"take it away; until then {without}")
        return
    try:
        found = read()
    except RecallError as error:
        advice = f"mend it by hand, or have it set aside: then {without}"
        yield Finding(name, "problem", "damaged", str(error), advice, lambda: set_aside(path))
    else:
        yield Finding(name, "ok", "ok", found)


def set_aside(path: Path) -> str:
    """Rename a damaged file of the person's, so that a new one can be written. Raises OSError."""
    place = path.with_name(f"{path.name}.damaged-{time.strftime('%Y%m%dT%H%M%S')}")
    path.rename(place)
    return f"set it aside as {place}"
