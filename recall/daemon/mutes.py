"""mutes.json: the records that the person wants to hear no more of, for good, in one project or in one session.

Commands write it, under a lock; the daemon looks at it on each message. Besides silencing a record a mute says that a
line was wrong, and keeps the gate's signs of it, so that recall becomes the more reticent the more often that happens.
"""

import json
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, cast, get_args

from recall.core.atomic import replace_bytes
from recall.core.errors import RecallError
from recall.daemon.live import Live
from recall.search.gate import Signs
from recall.wire.files import NotAFile, read_file
from recall.wire.lock import HeldLock
from recall.wire.paths import StatePaths, make_private_folder

Scope = Literal["forever", "project", "session"]

#: Seconds that a command waits for another one to finish writing; that takes milliseconds.
_WAIT_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Mute:
    """One record that is silenced, or all of a machine or a person of the team, which stands in place of a `path`.

    `of` is the key of the project or the id of the session, "" for ever; `time` is local, to the second. `signs` are
    the gate's when the record was shown last, empty where that is not known.
    """

    path: str
    scope: Scope
    of: str
    time: str
    signs: Mapping[str, float] = field(default_factory=dict)

    def holds(self, session: str | None, projects: Collection[str]) -> bool:
        """Whether it counts for a message of this session in these projects (keys)."""
        return self.scope == "forever" or (self.of in projects if self.scope == "project" else self.of == session)


class Mutes:
    """The file of a state folder; it need not be there. For one thread."""

    def __init__(self, paths: StatePaths) -> None:
        self._path = Path(paths.mutes)
        self._lock = Path(paths.mutes_lock)
        self._live = Live[tuple[Mute, ...]](paths.mutes, _read, ())

    @property
    def problem(self) -> str:
        """The sentence about a file that could not be used at the last look, else empty; what was read before holds."""
        return self._live.problem

    def muted(self, session: str | None, projects: Collection[str]) -> frozenset[str]:
        """The paths that are silenced for a message. One `stat` where the file has not changed."""
        return frozenset(mute.path for mute in self._live.current() if mute.holds(session, projects))

    def wrong(self) -> tuple[Signs, ...]:
        """The gate's signs of the lines that the person called wrong, once a line; not of those muted for a session."""
        mutes = [mute for mute in self._live.current() if mute.scope != "session"]
        lines = {(mute.time, *sorted(mute.signs.items())): Signs.of(mute.signs) for mute in mutes}
        return tuple(signs for signs in lines.values() if signs is not None)

    def all(self) -> list[Mute]:
        """Every mute, in the order in which they were set. Raises RecallError for a damaged file."""
        return list(_read(self._path))

    def add(
        self, paths: Iterable[str], scope: Scope, of: str = "", signs: Mapping[str, float] | None = None
    ) -> list[Mute]:
        """Silence records, the versions of one; those that are new.

        Raises RecallError where the file is damaged or cannot be written.
        """
        now = time.strftime("%Y-%m-%dT%H:%M:%S")
        wanted = [Mute(path, scope, of, now, dict(signs or {})) for path in dict.fromkeys(paths)]
        new: list[Mute] = []

        def change(mutes: list[Mute]) -> list[Mute]:
            known = {(mute.path, mute.scope, mute.of) for mute in mutes}
            new.extend(mute for mute in wanted if (mute.path, mute.scope, mute.of) not in known)
            return mutes + new

        self._change(change)
        return new

    def remove(self, paths: Collection[str]) -> list[Mute]:
        """Take every mute of these records back; those that there were. Raises as `add`."""
        gone: list[Mute] = []

        def change(mutes: list[Mute]) -> list[Mute]:
            gone.extend(mute for mute in mutes if mute.path in paths)
            return [mute for mute in mutes if mute.path not in paths]

        self._change(change)
        return gone

    def _change(self, change: Callable[[list[Mute]], list[Mute]]) -> None:
        """Read, change and replace the file under a lock: of two commands at once neither loses the other's mute."""
        make_private_folder(str(self._path.parent))
        lock = HeldLock.wait(self._lock, _WAIT_SECONDS)
        if lock is None:
            raise RecallError(f"another command has held {self._lock} for {_WAIT_SECONDS:g} s; try again")
        with lock:
            before = list(_read(self._path))
            after = change(list(before))
            if after != before:
                data = json.dumps({"mutes": [asdict(mute) for mute in after]}, indent=1)
                replace_bytes(self._path, data.encode() + b"\n", 0o600)


def _read(path: Path) -> tuple[Mute, ...]:
    """The mutes in the file, none where it is missing. Raises RecallError for anything that is not ours."""
    try:
        loaded = json.loads(read_file(path))
        return tuple(_mute(fields) for fields in loaded["mutes"])
    except FileNotFoundError:
        return ()
    except NotAFile as error:
        raise RecallError(str(error)) from None
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise RecallError(
            f"expected the list of muted records in {path}, found something else; delete the file to mute nothing"
        ) from None


def _mute(fields: dict[str, Any]) -> Mute:
    """One mute from its JSON. Raises KeyError, TypeError or ValueError where it is none."""
    values = (fields["path"], fields["scope"], fields["of"], fields["time"])
    if not all(isinstance(value, str) for value in values) or fields["scope"] not in get_args(Scope):
        raise ValueError
    signs = {str(name): float(value) for name, value in fields.get("signs", {}).items()}
    return Mute(fields["path"], cast(Scope, fields["scope"]), fields["of"], fields["time"], signs)
