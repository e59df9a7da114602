"""The team's records as a source of the index: each stands for a file, with a path that no file can have.

    share:<machine, 8 digits>/<place, 12 digits>

What this machine holds itself is not offered, nor another version of a rule that it has: a repository cloned twice
is often of two days. What several others hold is offered once. All of it reads only, and finds nothing where there is
no team.
"""

import hashlib
import json
import sqlite3
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path, PurePosixPath
from typing import Any

from recall.core.errors import ShareError, SourceError
from recall.core.types import PERSON, TEAM, Document, FoundFile, Kind, Project
from recall.replica.membership import plain_name, read_membership
from recall.replica.pack import unpack
from recall.replica.record import TeamRecord
from recall.replica.tables import reading
from recall.sources.knowledge import version_of
from recall.sources.memory import Scan
from recall.sources.projects import Projects
from recall.wire.files import read_file
from recall.wire.paths import StatePaths


@dataclass(frozen=True, slots=True)
class Offer:
    """A record of another machine. `origin` is what that is called here, `person` whose it is."""

    kind: Kind
    machine: str
    content: bytes
    project: str
    path: str
    origin: str
    person: str


class Team:
    """What the others of the team offer, by path; made for one look, so that all kinds see the same.

    Of what several machines hold the first one's is offered, of a machine or person that is muted only where all are.
    """

    def __init__(self, paths: StatePaths) -> None:
        self._records = Path(paths.share_records)
        self._membership = Path(paths.share)
        self._mutes = Path(paths.mutes)
        self._offers: dict[str, Offer] | None = None

    @property
    def offers(self) -> Mapping[str, Offer]:
        """All of them, looked up at the first call. Raises ShareError where the file cannot be read."""
        if self._offers is None:
            self._offers = self._read(every=False)
        return self._offers

    def _read(self, *, every: bool) -> dict[str, Offer]:
        """`every`: what several machines hold is there once for each."""
        member = read_membership(self._membership)
        if member is None:
            return {}
        with reading(self._records) as connection:
            if connection is None:
                return {}
            muted = muted_of_team(self._mutes)
            return dict(_read_offers(connection, member.name, muted, every=every))

    def scan(self, kind: Kind) -> Scan:
        """The records of a kind as files. Size and time stand for the content: another one is to be read again."""
        offers = [(path, offer) for path, offer in self.offers.items() if offer.kind == kind]
        names = {offer.project for _, offer in offers}
        projects = {TEAM + name: Project(TEAM + name, name) for name in names}
        files = [
            FoundFile(
                kind,
                path,
                TEAM + offer.project,
                int.from_bytes(offer.content[:6]),
                int.from_bytes(_mark(offer)),
            )
            for path, offer in sorted(offers, key=itemgetter(0))
        ]
        return Scan(files, [], Projects(projects))

    def read(self, found: FoundFile) -> Document:
        """The record of a file that `scan` gave. Raises SourceError where it has gone since, or cannot be read."""
        offer = self.offers[found.path]
        try:
            record = self._record(offer.content)
        except ShareError as error:
            raise SourceError(str(error)) from None
        if record is None:
            raise SourceError("has just been taken back by its machine")
        group, language = None, record.language
        if offer.kind == "knowledge":
            version, _ = version_of(PurePosixPath(offer.path), f"{record.name}\n{record.body}")
            group = f"{TEAM}{offer.machine}:{offer.project}:{version}"
        talk = offer.kind == "conversation"
        return Document(
            kind=offer.kind,
            path=found.path,
            project=TEAM + offer.project,
            name=record.name,
            description=record.description,
            body=record.name if talk else record.body,
            date=record.date,
            session=found.path if talk else None,
            language=language,
            group=group,
            successor=record.successor,
            origin=offer.origin,
            person=offer.person,
        )

    def embedded(self, path: str, model: str) -> Mapping[bytes, tuple[bytes, bytes]]:
        """What other machines made of a record's texts under a model: vector and sketch by digest; nothing where that
        cannot be read."""
        try:
            query = "SELECT pack FROM embedding WHERE content = ? AND model = ?"
            row = self._row(query, self.offers[path].content, model)
        except ShareError:
            return {}
        return unpack(row[0]) if row else {}

    def find(self, id_: str) -> tuple[Offer, TeamRecord] | None:
        """The record that a headline names as `recall share show ID`; None where there is none (any more)."""
        path = TEAM + id_.removeprefix(TEAM)
        offer = self.offers.get(path) or self._read(every=True).get(path)  # it was shown before a mute, or its end
        record = self._record(offer.content) if offer else None
        return (offer, record) if offer and record else None

    def _record(self, content: bytes) -> TeamRecord | None:
        query = "SELECT kind, name, description, body, date, language, successor FROM content WHERE id = ?"
        row = self._row(query, content)
        return TeamRecord(*row) if row else None

    def _row(self, query: str, *values: object) -> Any:
        """The one row that a question gives, None for none. Raises ShareError."""
        with reading(self._records) as connection:
            return connection.execute(query, values).fetchone() if connection else None


def machines(records: Path, membership: Path) -> dict[str, tuple[str, str]]:
    """The other machines of the team, by what they are called here: number and person. Raises ShareError."""
    member = read_membership(membership)
    if member is None:
        return {}
    with reading(records) as connection:
        rows = (
            connection.execute("SELECT id, name, person FROM machine ORDER BY name, id").fetchall()
            if connection
            else []
        )
    named = labels({id_: name for id_, name, _ in rows}, member.name)
    return {named[id_]: (id_, plain_name(person)) for id_, _, person in rows}


def labels(machines: Mapping[str, str], own: str) -> dict[str, str]:
    """What each machine is called here, by its number: its name, with as many digits of the number as it takes where
    that is our own or another one's too. A machine cannot take another's place by taking its name, nor by a number that
    begins alike."""
    names = {id_: plain_name(name) for id_, name in machines.items()}
    labels = dict(names)
    for digits in (4, 8, 16, 32, 32):  # once more: a name may be made to look like another one's with its number
        taken = Counter(label.casefold() for label in [*labels.values(), plain_name(own)])
        for id_, label in labels.items():
            if taken[label.casefold()] > 1:
                labels[id_] = f"{names[id_]}-{id_[:digits]}"
    return labels


def muted_of_team(file: Path) -> frozenset[str]:
    """The machines and persons in mutes.json that are muted for good, as `recall mute` names them; none where the file
    cannot be read: then nothing is muted."""
    try:
        mutes = json.loads(read_file(file))["mutes"]
        return frozenset(
            mute["path"]
            for mute in mutes
            if mute["scope"] == "forever" and mute["path"].startswith((TEAM, PERSON)) and "/" not in mute["path"]
        )
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return frozenset()


def _read_offers(
    connection: sqlite3.Connection, own: str, muted: Collection[str], *, every: bool
) -> Mapping[str, Offer]:
    connection.execute("BEGIN")  # one moment for all that follows; it ends with the connection
    people = {id_: (name, plain_name(person)) for id_, name, person in connection.execute("SELECT * FROM machine")}
    named = labels({id_: name for id_, (name, _) in people.items()}, own)
    silent = {id_ for id_, (_, who) in people.items() if TEAM + id_[:8] in muted or PERSON + who in muted}
    own_places = {place for (place,) in connection.execute("SELECT place FROM sent WHERE length(content) > 0")}
    # Read by itself: joined, each of a hundred thousand rows is looked up on its own, which takes four times as long.
    kinds: dict[bytes, Kind] = dict(connection.execute("SELECT id, kind FROM content"))
    offers: dict[str, Offer] = {}
    chosen: dict[bytes, str] = {}
    for machine, place, content, project, path in connection.execute(
        """SELECT machine, place, content, project, path FROM holding
        WHERE content NOT IN (SELECT content FROM sent) ORDER BY seq, machine, place"""
    ):
        kind = kinds.get(content)
        # A note's name tells little: two people may each have written their own. A rule's place in a repository does.
        if kind is None or machine not in people or (kind == "knowledge" and place in own_places):
            continue
        if (before := chosen.get(content)) is not None and not every:
            if machine in silent or offers[before].machine not in silent:
                continue
            del offers[before]
        key = f"{TEAM}{machine[:8]}/{place.hex()[:12]}"
        if key in offers:  # somebody took a number that begins alike, to put a record in this one's place
            key = f"{TEAM}{machine[:8]}/{hashlib.sha256(machine.encode() + place).hexdigest()}"
        chosen[content] = key
        offers[key] = Offer(kind, machine, content, project, path, named[machine], people[machine][1])
    return offers


def _mark(offer: Offer) -> bytes:
    """Six bytes that change with what is shown of a record besides its text."""
    shown = "\0".join((offer.origin, offer.person, offer.project, offer.path))
    return hashlib.sha256(shown.encode("utf-8", "replace")).digest()[:6]
