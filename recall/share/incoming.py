"""Incoming: what others hold is taken into the replica, page by page. None of it is believed."""

from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

from recall.core.errors import MaskingError
from recall.replica.record import TeamRecord, cleaned, plain_path, plain_project
from recall.replica.replica import Change, Page, Replica
from recall.share.server import Server

#: Changes that are taken together: some ten megabytes with what a model made of them.
PAGE = 500
#: Most records that are taken of one machine: ten times what a busy person has.
MOST = 20_000


@dataclass(slots=True)
class Received:
    """What came: records that are new here or changed, those that were taken back, and rows that were refused because
    no recall can have written them."""

    taken: int = 0
    gone: int = 0
    refused: int = 0


def receive(server: Server, replica: Replica, until: int, model: str, told: Callable[[Received], None]) -> Received:
    """Take over all changes of others up to number `until`; `told` is called after each page, which stands then.

    With each text comes what `model` made of it, if somebody has sent that. Raises ShareError.
    """
    received = Received()
    counts = replica.counts()
    while replica.cursor.seq <= until:
        changes, machines, cursor = server.changes(replica.cursor, until, PAGE)
        good = [_checked(change, received) for change in changes if _has_room(change, replica, counts, received)]
        lacking = replica.lacking(change.content for change in good if change.content is not None)
        records = _records(server, lacking, received)
        wanted = set(records) - replica.held(records)
        if wanted and model:
            _fetch_packs(server, replica, wanted, model)
        replica.apply(Page(good, machines, records, cursor))
        refused = set(lacking) - set(records)
        received.taken += sum(change.content is not None and change.content not in refused for change in good)
        told(received)
    return received


def fetch_packs(server: Server, replica: Replica, model: str) -> None:
    """After a change of model: what the new one made of the texts that are here. Raises ShareError."""
    contents = replica.contents()
    for start in range(0, len(contents), PAGE):
        _fetch_packs(server, replica, contents[start : start + PAGE], model)


def _fetch_packs(server: Server, replica: Replica, contents: Collection[bytes], model: str) -> None:
    for packs in server.packs(contents, model):
        replica.add_packs(packs, model)


def _has_room(change: Change, replica: Replica, counts: Counter[str], received: Received) -> bool:
    """Whether a change leaves its machine with no more records than are taken of one; what it takes away is counted."""
    here = replica.holds(change.machine, change.place)
    if change.content is not None and not here and counts[change.machine] >= MOST:
        received.refused += 1
        return False
    received.gone += here and change.content is None
    counts[change.machine] += (change.content is not None) - here
    return True


def _checked(change: Change, received: Received) -> Change:
    """A change with a plain path; one that would lead out of its project holds nothing."""
    try:
        project, path = plain_project(change.project), plain_path(change.path)
    except MaskingError:
        project, path = "", None
    if path is None and change.content is not None:
        received.refused += 1
        return replace(change, content=None, path="")
    return replace(change, project=project, path=path or "")


def _records(server: Server, lacking: list[bytes], received: Received) -> dict[bytes, TeamRecord]:
    """The texts of contents, cleaned; without those whose number is not that of their text."""
    found: dict[bytes, TeamRecord] = {}
    for id_, record in (server.records(lacking) if lacking else {}).items():
        try:
            clean = cleaned(record) if record.id == id_ else None
        except MaskingError:
            clean = None
        if clean is not None:
            found[id_] = clean
    received.refused += len(lacking) - len(found)
    return found
