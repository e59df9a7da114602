"""What `recall share status` tells: from this machine alone, so that it works without the server."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recall.replica.membership import Membership, plain_name
from recall.replica.tables import reading
from recall.replica.team import labels
from recall.share.address import is_protected, shown
from recall.wire.paths import StatePaths


@dataclass(frozen=True, slots=True)
class Standing:
    """How sharing stands. Times are seconds since 1970, None for never; `failed` is the last exchange's sentence, None
    where it went well; `machines`: name, person and records of each of the others."""

    member: Membership
    server: str
    protected: bool
    sent: int
    received: int
    machines: list[tuple[str, str, int]]
    synced: int | None
    failed: str | None
    failing_since: int | None

    @property
    def fields(self) -> dict[str, Any]:
        """As `--json` prints it."""
        return {
            "server": self.server,
            "machine": self.member.name,
            "person": self.member.person,
            "paused": self.member.paused,
            "protected": self.protected,
            "sent": self.sent,
            "received": self.received,
            "machines": [
                {"name": name, "person": person, "records": records} for name, person, records in self.machines
            ],
            "synced": _stamp(self.synced),
            "failed": self.failed,
            "failing_since": _stamp(self.failing_since),
        }


def in_words(standing: Mapping[str, Any]) -> str:
    """What `--json` prints, in one line."""
    state = "paused" if standing["paused"] else f"last exchange {standing['synced'] or 'never'}"
    if standing["failed"] and not standing["paused"]:
        state += f"; failing since {standing['failing_since']}: {standing['failed']}"
    sent, received = standing["sent"], standing["received"]
    return f"{standing['server']} as {standing['machine']}: {sent} sent, {received} received; {state}"


def standing(paths: StatePaths, member: Membership) -> Standing:
    """How sharing stands. Raises ShareError where share.sqlite3 cannot be read."""
    path = Path(paths.share_records)
    meta: dict[str, Any] = {}
    sent = received = 0
    machines: list[tuple[str, str, str, int]] = []
    with reading(path) as connection:
        if connection is not None:
            meta = dict(connection.execute("SELECT key, value FROM meta"))
            (sent,) = connection.execute("SELECT count(*) FROM sent WHERE length(content) > 0").fetchone()
            (received,) = connection.execute("SELECT count(*) FROM content").fetchone()
            machines = connection.execute(
                """SELECT id, name, person, count(holding.content) FROM machine
                LEFT JOIN holding ON holding.machine = id GROUP BY id ORDER BY name, id"""
            ).fetchall()
    named = labels({id_: name for id_, name, _, _ in machines}, member.name)
    return Standing(
        member=member,
        server=shown(member.url),
        protected=is_protected(member.url),
        sent=sent,
        received=received,
        machines=[(named[id_], plain_name(person), records) for id_, _, person, records in machines if records],
        synced=_number(meta.get("synced")),
        failed=str(meta["failed"]) if meta.get("failed") else None,
        failing_since=_number(meta.get("failing_since")),
    )


def _number(value: object) -> int | None:
    return int(str(value)) if value is not None else None


def _stamp(seconds: int | None) -> str | None:
    """Local time, as everything that recall prints."""
    return None if seconds is None else time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(seconds))
