"""Puts the hook into an agent's settings and takes it out again: reading, receipt and safe write around `settings`.

The agents' sessions write the same file. An edit therefore starts over when the bytes are no longer those that it
was planned on, looked at right before the rename, and reads the file back at the end.
"""

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from recall.core.atomic import replace_bytes
from recall.core.errors import RecallError, SettingsError
from recall.setup import receipt as receipts
from recall.setup.agents import CLAUDE, Agent
from recall.setup.entries import HookEntry
from recall.setup.settings import plan_register, plan_unregister, registered, starts

#: An edit takes milliseconds, so a file that changes under it so often is being rewritten in a loop.
TRIES = 5


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of the file. `restored`: the bytes from before setup are back, or it is gone if it was new.

    `backup`, when an entry was added or updated: the copy of the file from before our first entry, if there was one.
    """

    action: Literal["added", "updated", "unchanged", "removed", "restored"]
    path: Path
    backup: Path | None = None


class _Changed(Exception):
    """Somebody else wrote the file after we read it."""


def read_settings(path: Path) -> bytes | None:
    """The file's bytes, None when there is no file. Raises SettingsError."""
    try:
        if path.exists() and not path.is_file():  # a pipe would keep us waiting for ever
            raise SettingsError(
                f"{path}: expected a readable file, found something else; take it away and run it again"
            )
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise SettingsError(
            f"{path}: expected a readable file, found: {error.strerror}; mend that and run the command again"
        ) from error


def entry_in(path: Path, agent: Agent = CLAUDE) -> HookEntry | None:
    """Our entry in a settings file, None where there is none. Raises SettingsError."""
    raw = read_settings(path)
    with _naming(path):
        return registered(raw, agent) if raw else None


def may_call_us(path: Path) -> bool:
    """Whether a settings file that cannot be understood, or not even read, might hold an entry of ours."""
    try:
        return b"recall" in (read_settings(path) or b"")
    except SettingsError:
        return True


def register(path: Path, entry: HookEntry, state: Path, agent: Agent = CLAUDE, *, start: bool | None = None) -> Outcome:
    """Make `entry` the one entry of ours in a settings file, which may not exist yet; `start` as for `plan_register`.

    Raises SettingsError, or RecallError when the disk refuses; the file is then as it was.
    """
    for _ in range(TRIES):
        raw = read_settings(path)
        old = receipts.load(state, path)
        with _naming(path):
            new = plan_register(raw, entry, agent, start=start, original=_original(old))
            known = raw is not None and holds_ours(raw, agent)
        if new is None:
            return Outcome("unchanged", path)
        made_folder = _make_folder(path.parent)
        receipt = receipts.next_receipt(old, raw, new, agent=agent.name, known=known, made_folder=made_folder)
        backup = receipts.save(state, path, receipt)
        with contextlib.suppress(_Changed):
            _write(path, new, raw)
            return Outcome("updated" if known else "added", path, backup)
    raise _busy(path)


def unregister(path: Path, state: Path, agent: Agent = CLAUDE) -> Outcome:
    """Take our entries out of a settings file: exactly undone while the file is as setup left it, else they alone.

    Raises SettingsError, or RecallError when the disk refuses; the file is then as it was.
    """
    for _ in range(TRIES):
        raw = read_settings(path)
        if raw is None:
            return Outcome("unchanged", path)
        receipt = receipts.load(state, path)
        with contextlib.suppress(_Changed):
            if receipt is not None and receipts.digest(raw) in receipt.written:
                _restore(path, raw, receipt)
                receipts.forget(state, path, receipt)
                return Outcome("restored", path)
            with _naming(path):
                new = plan_unregister(raw, _original(receipt), agent)
            if new is None:
                return Outcome("unchanged", path)
            _write(path, new, raw)
            receipts.forget(state, path)
            return Outcome("removed", path)
    raise _busy(path)


def holds_ours(raw: bytes, agent: Agent) -> bool:
    """Whether an entry of ours stands in these bytes, for messages or for the begin of sessions. Raises
    SettingsError."""
    return registered(raw, agent) is not None or starts(raw, agent)


def _original(receipt: receipts.Receipt | None) -> bytes | None:
    """The bytes from before our first entry, where they are known."""
    return receipt.original if receipt is not None and receipt.written else None


@contextlib.contextmanager
def _naming(path: Path) -> Iterator[None]:
    """The plans know no path; people need it."""
    try:
        yield
    except SettingsError as error:
        raise type(error)(f"{path}, {error}") from error


def _busy(path: Path) -> SettingsError:
    return SettingsError(
        f"{path}: expected a file at rest, found it rewritten {TRIES} times by another program while it was edited; "
        "close that program and run the command again"
    )


def _make_folder(folder: Path) -> bool:
    """Whether the folder had to be made. Raises RecallError."""
    if folder.is_dir():
        return False
    try:
        folder.mkdir(parents=True)
    except OSError as error:
        raise RecallError(
            f"{folder}: expected to make this folder, found: {error.strerror}; mend that first"
        ) from error
    return True


def _check(path: Path, expected: bytes | None) -> None:
    if read_settings(path) != expected:
        raise _Changed


def _write(path: Path, new: bytes, raw: bytes | None) -> None:
    replace_bytes(path, new, before_rename=lambda: _check(path, raw))
    if read_settings(path) != new:
        raise SettingsError(
            f"{path}: expected the text just written, found another: a program wrote it at the same moment; "
            "run the command again"
        )


def _restore(path: Path, raw: bytes, receipt: receipts.Receipt) -> None:
    if receipt.original is not None:
        _write(path, receipt.original, raw)
        return
    _check(path, raw)
    try:
        Path(os.path.realpath(path)).unlink()
    except OSError as error:
        raise SettingsError(f"{path}: cannot be removed ({error.strerror}); mend that and run it again") from error
    if receipt.made_folder:
        with contextlib.suppress(OSError):  # something else lives there now
            path.parent.rmdir()
