"""What setup wrote into an agent's settings, and the bytes from before, so that uninstall can give them back.

    <state>/backup/<key>.json               the receipt; key: 16 hex digits for the settings file
    <state>/backup/<key>.<digest>.before    the file before our first entry; digest: 16 hex digits for its bytes

Not beside settings.json: that file may hold keys, and its folder is often somebody's published dotfiles. A later
first entry (the client sometimes drops hooks that it did not know) adds a second copy, so the older one is not lost.
"""

import contextlib
import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from recall.core.atomic import replace_bytes
from recall.sources.agents import HOMES, AgentName
from recall.wire.files import read_file


@dataclass(frozen=True, slots=True)
class Receipt:
    """`original`: the bytes before our first entry, None when there was no file. `written`: digest of each content
    that we made of them; none when our entry was there before any receipt. `made_folder`: the folder was ours too.
    `agent`: whose file it is."""

    original: bytes | None
    written: tuple[str, ...]
    made_folder: bool = False
    agent: AgentName = "claude"


def digest(data: bytes) -> str:
    """SHA-256 in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def next_receipt(
    old: Receipt | None,
    raw: bytes | None,
    new: bytes,
    *,
    known: bool,
    made_folder: bool,
    agent: AgentName = "claude",
) -> Receipt:
    """The receipt for writing `new` over `raw`. `known`: an entry of ours is in `raw` already."""
    if not known:
        return Receipt(raw, (digest(new),), made_folder, agent)
    if old is None:
        return Receipt(raw, (), agent=agent)
    if raw is not None and digest(raw) in old.written:
        return replace(old, written=(*old.written, digest(new)))
    return old  # somebody edited the file since: the old bytes would undo that


def load(state: Path, settings: Path) -> Receipt | None:
    """The receipt for a settings file; None when there is none, or it or its copy is damaged."""
    try:
        fields = json.loads(read_file(_receipt_path(state, settings)))
        original = None
        if fields["original"] is not None:
            original = read_file(_copy_path(state, settings, fields["original"]))
            if digest(original) != fields["original"]:
                return None
        written = tuple(map(str, fields["written"]))
        return Receipt(original, written, bool(fields["made_folder"]), _agent(fields))
    except (OSError, ValueError, TypeError, KeyError, StopIteration):
        return None


def save(state: Path, settings: Path, receipt: Receipt) -> Path | None:
    """Write the receipt, readable by the owner only. Returns where the copy of the original is, if there is one.
    Raises RecallError."""
    path = _receipt_path(state, settings)
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    name = copy = None
    if receipt.original is not None:
        name = digest(receipt.original)
        copy = _copy_path(state, settings, name)
        replace_bytes(copy, receipt.original, 0o600)
    fields = {
        "settings": str(settings),
        "original": name,
        "written": receipt.written,
        "made_folder": receipt.made_folder,
        "agent": receipt.agent,
    }
    replace_bytes(path, json.dumps(fields, indent=2).encode(), 0o600)
    return copy


def forget(state: Path, settings: Path, receipt: Receipt | None = None) -> None:
    """Remove the receipt, and with `receipt` given its copy too."""
    path = _receipt_path(state, settings)
    path.unlink(missing_ok=True)
    if receipt is not None and receipt.original is not None:
        _copy_path(state, settings, digest(receipt.original)).unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # others' copies may be in it
        path.parent.rmdir()


def registered_in(state: Path) -> list[tuple[AgentName, Path]]:
    """The settings files that have a receipt, and whose they are: setup wrote them and nothing has undone that."""
    files = []
    for path in sorted((state / "backup").glob("*.json")):
        with contextlib.suppress(OSError, ValueError, TypeError, KeyError, StopIteration):
            fields = json.loads(read_file(path))
            files.append((_agent(fields), Path(fields["settings"])))
    return files


def _agent(fields: Mapping[str, object]) -> AgentName:
    """Whose file a receipt is about; before there were other agents none said so."""
    name = fields.get("agent", "claude")
    return next(known for known in HOMES if known == name)


def _key(settings: Path) -> str:
    return digest(os.fsencode(os.path.realpath(settings)))[:16]


def _receipt_path(state: Path, settings: Path) -> Path:
    return state / "backup" / f"{_key(settings)}.json"


def _copy_path(state: Path, settings: Path, name: str) -> Path:
    return state / "backup" / f"{_key(settings)}.{name[:16]}.before"
