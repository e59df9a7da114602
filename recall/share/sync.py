"""One exchange with the team's server: what is new here goes up, what is new there comes down.

It may end at any moment, here, there or between: what was written stands on both sides, and the next exchange goes on.
If the server has a change of ours that this machine does not know of, it is asked what it has.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from recall.core.config import Config
from recall.core.errors import MaskingError, RecallError, ShareBusy, ShareError, ShareUnreachable, SourceError
from recall.core.types import Skipped
from recall.index.plan import trusted_mtime
from recall.replica.membership import Membership, parsed, read_membership, written
from recall.replica.pack import pack
from recall.replica.record import TeamRecord
from recall.replica.replica import Replica, Sent
from recall.replica.tables import ShareDamaged, throw_away
from recall.replica.team import Team
from recall.share.computer import check_computer, check_writer
from recall.share.connection import connected
from recall.share.incoming import Received, fetch_packs, receive
from recall.share.outgoing import Candidate, candidates, kept_unseen
from recall.share.server import Head, Held, Server
from recall.store.extracts import Extracts, open_extracts
from recall.version import VERSION
from recall.wire.lock import HeldLock
from recall.wire.paths import StatePaths

#: Records, and bytes of what a model made of them, that go up together.
BATCH, BATCH_BYTES = 500, 4 * 1024 * 1024


@dataclass(slots=True)
class Exchange:
    """What an exchange did: records put and taken back by this machine, packs sent, files left out, and what came."""

    sent: int = 0
    taken_back: int = 0
    packs: int = 0
    received: Received = field(default_factory=Received)
    skipped: list[Skipped] = field(default_factory=list)
    seconds: float = 0.0


def exchange(
    paths: StatePaths,
    member: Membership,
    folders: Sequence[Path],
    config: Config,
    model: str,
    *,
    password: str | None = None,
    told: Callable[[Exchange], None] = lambda _: None,
) -> Exchange:
    """Exchange records with the server. `model` is the identity of the model whose vectors are exchanged, "" for none.

    Raises ShareBusy when another process is at it, ShareUnreachable, other ShareErrors, and RecallErrors of what is
    read; each is kept for `recall share status`.
    """
    lock = HeldLock.acquire(paths.share_lock)
    if lock is None:
        raise ShareBusy("another recall is exchanging records with the team at this moment; it does the same work")

    def over(replica: Replica) -> Exchange:
        started = time.monotonic()
        check_computer(paths, member)
        with connected(member.url, Path(paths.share_password), password) as connection:
            server = Server(connection, member.machine)
            run = _Run(server=server, replica=replica, paths=paths, member=member, model=model, told=told)
            run.over(folders, config)
        run.done.seconds = time.monotonic() - started
        return run.done

    with lock:
        current = read_membership(Path(paths.share))
        if current is None or current.machine != member.machine:
            raise ShareError("this machine has just left the team; nothing was exchanged")
        try:
            return _kept(paths, over)
        except ShareDamaged:
            throw_away(Path(paths.share_records))
            return _kept(paths, over)


def _kept(paths: StatePaths, over: Callable[[Replica], Exchange]) -> Exchange:
    """Do the work with the replica, and note there how it went."""
    with Replica(Path(paths.share_records)) as replica:
        try:
            done = over(replica)
        except ShareDamaged:
            raise
        except RecallError as error:
            if isinstance(error, ShareUnreachable):
                error = ShareUnreachable(f"{error}; all else works on, and the next sync catches up")
            since = replica.get("failing_since") or int(time.time())
            replica.put(failed=str(error), failing_since=since)
            raise error from None
        replica.put(synced=int(time.time()), failed=None, failing_since=None)
    return done


@dataclass(slots=True, kw_only=True)
class _Run:
    """The steps of one exchange."""

    server: Server
    replica: Replica
    paths: StatePaths
    member: Membership
    model: str
    told: Callable[[Exchange], None]
    done: Exchange = field(default_factory=Exchange)

    def over(self, folders: Sequence[Path], config: Config) -> None:
        self._drop_taken_packs()
        head = self._agree()
        self._send(folders, config)
        if self.model and self.replica.get("model") != self.model:  # of what came under another one, or without any
            fetch_packs(self.server, self.replica, self.model)
            self.replica.put(model=self.model)
        if head.seq >= self.replica.cursor.seq:
            receive(self.server, self.replica, head.seq, self.model, self._came)

    def _came(self, received: Received) -> None:
        self.done.received = received
        self.told(self.done)

    def _agree(self) -> Head:
        """See that server and replica speak of the same; else begin anew with what can no longer be trusted."""
        seq, mark = self.replica.seen
        head = self.server.head(seq)
        if head.team != self.member.team:
            raise ShareError(
                "another team lives at this address than the one that this machine joined; where the server was set up "
                "anew, run `recall share join` with the same address again"
            )
        # A number that somebody set by hand has no mark, and after it was set back there is none to miss.
        beyond = head.seq < self.replica.cursor.seq - 1
        check_writer(self.member, head.computer)
        last = parsed(self.replica.get("member"))
        if last is None or last.machine != self.member.machine or head.written is None or head.known != mark or beyond:
            self.replica.reset()  # another machine's; or the server was set up anew, or from an older copy
        if head.written is None:
            self.server.enrol(self.member.name, self.member.person, self.member.computer)
        if last != self.member:
            self.replica.put(member=written(self.member))
        if (head.seq, head.mark) != self.replica.seen:
            self.replica.put(seen=f"{head.seq} {head.mark}")
        known = self.replica.get("written")
        if known != str(head.written) or head.held != self.replica.places() or head.newest > int(known):
            self._recall_sent()
        return head

    def _recall_sent(self) -> None:
        """Learn what the server has of us, where this machine does not know it: another process was killed after the
        server took its change, share.sqlite3 was lost, or somebody else wrote in our name."""
        written, held = self.server.own()
        there = {one.place: one.content for one in held}
        sent = self.replica.sent()
        wrong = [file for file, one in sent.items() if there.get(one.place, b"") != one.content]
        known = {sent[file].place for file in sent.keys() - set(wrong)}
        strays = [
            Sent(f"?{p.hex()}", "memory", p, content, 0, None, "") for p, content in there.items() if p not in known
        ]
        self.replica.put_sent(wrong, strays, written)

    def _send(self, folders: Sequence[Path], config: Config) -> None:
        """Bring the server up to date with this machine."""
        began = time.time_ns()
        sent = self.replica.sent()
        if self.replica.get("version") != VERSION:  # another one may mask more, or read files otherwise
            sent = {file: replace(one, mtime_ns=None) for file, one in sent.items()}
        found, self.done.skipped = candidates(folders, config, Path(self.paths.index), sent)
        unseen = list(kept_unseen(sent, found, self.done.skipped))
        places = {candidate.place for candidate in found} | {one.place for one in unseen}
        staying = {one.file for one in unseen}
        for start in range(0, len(found), BATCH):
            staying |= self._send_batch(found[start : start + BATCH], sent, began, places)
        gone = {file: one for file, one in sent.items() if file not in staying}
        # A file that was moved may have left its place to another.
        kept = {one.place for one in self.replica.sent().values() if one.file in staying and one.content}
        self._take_back(gone, kept)
        self._send_packs()
        self.replica.put(version=VERSION)

    def _send_batch(
        self, batch: Sequence[Candidate], sent: dict[str, Sent], began: int, places: set[bytes]
    ) -> set[str]:
        """Put what is new of some candidates; the files of all that the server has afterwards."""
        records: list[TeamRecord] = []
        held: list[Held] = []
        new: list[Sent] = []
        staying: set[str] = set()
        gone: list[bytes] = []
        for candidate in batch:
            known = sent.get(candidate.file)
            if known is not None and not candidate.changed and known.place == candidate.place:
                staying.add(candidate.file)
                continue
            try:
                record = candidate.read()
            except (SourceError, MaskingError) as error:
                self.done.skipped.append(Skipped(candidate.file, str(error)))
                continue
            staying.add(candidate.file)
            content = b"" if record is None else record.id
            same = known is not None and (known.place, known.content) == (candidate.place, content)
            mtime = None if candidate.mtime_ns is None else trusted_mtime(candidate.mtime_ns, began)
            model = known.model if known is not None and same else ""
            new.append(Sent(candidate.file, candidate.kind, candidate.place, content, candidate.size, mtime, model))
            if same:
                continue
            if record is not None:
                records.append(record)
                held.append(Held(candidate.place, content, candidate.project, candidate.path))
            if known is not None and known.content and (record is None or known.place not in places):
                gone.append(known.place)
        if held or gone:
            seq = self.server.put(records, held, gone)
            self.replica.put_sent([], new, seq)
            self.done.sent += len(held)
            self.done.taken_back += len(gone)
            self.told(self.done)
        elif new:
            self.replica.put_sent([], new)
        return staying

    def _take_back(self, gone: dict[str, Sent], kept: set[bytes]) -> None:
        files = list(gone)
        for start in range(0, len(files), BATCH):
            some = files[start : start + BATCH]
            places = sorted({gone[file].place for file in some if gone[file].content} - kept)
            seq = self.server.put([], [], places) if places else None
            self.replica.put_sent(some, [], seq)
            self.done.taken_back += len(places)
            self.told(self.done)

    def _send_packs(self) -> None:
        """Give others what our model made of our notes and rules, as far as the index has it. What it made of sessions
        is of a person's messages, and of their titles alone it has made nothing."""
        if not self.model:
            return
        waiting = [
            one
            for one in self.replica.sent().values()
            if one.content and one.kind != "conversation" and one.model != self.model
        ]
        with open_extracts(Path(self.paths.index)) as extracts:
            for start in range(0, len(waiting) if extracts else 0, BATCH):
                assert extracts is not None  # noqa: S101
                self._send_some_packs(extracts, waiting[start : start + BATCH])

    def _send_some_packs(self, extracts: Extracts, some: Sequence[Sent]) -> None:
        lacking = set(self.server.lacking_packs({one.content for one in some}, self.model))
        there = [replace(one, model=self.model) for one in some if one.content not in lacking]
        packs: dict[bytes, bytes] = {}
        mine: list[Sent] = []
        size = 0
        for one in some:
            texts = extracts.texts(one.file, self.model) if one.content in lacking else None
            if texts:
                packs[one.content] = pack(texts)
                mine.append(replace(one, model=self.model))
                size += len(packs[one.content])
            if size > BATCH_BYTES:
                there += self._put_packs(packs, mine)
                packs, mine, size = {}, [], 0
        there += self._put_packs(packs, mine)
        self.replica.put_sent([], there)

    def _put_packs(self, packs: dict[bytes, bytes], mine: list[Sent]) -> list[Sent]:
        if packs:
            self.server.put_packs(packs, self.model)
            self.done.packs += len(packs)
            self.told(self.done)
        return mine

    def _drop_taken_packs(self) -> None:
        """Let go of what the index has taken over, so that it does not lie here twice, and of what no record needs."""
        with open_extracts(Path(self.paths.index)) as extracts:
            indexed = str(extracts.generation()) if extracts else ""
            if extracts is None or self.replica.get("indexed") == indexed or not (packs := self.replica.packs()):
                return
            offers = Team(self.paths).offers
            paths = {offer.content: path for path, offer in offers.items()}
            waiting = {
                pack
                for pack in packs
                if pack[0] in paths and pack[1] == self.model and not extracts.texts(paths[pack[0]], self.model)
            }
            self.replica.drop_packs(set(packs) - waiting)
            self.replica.put(indexed=indexed)
