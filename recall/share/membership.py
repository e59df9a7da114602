"""Making a team, joining and leaving one."""

import contextlib
import getpass
import platform
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from recall.core.errors import RecallError, ShareError
from recall.replica.membership import Membership, new_machine, parsed, plain_name, read_membership, write_membership
from recall.replica.replica import Replica
from recall.replica.tables import ShareDamaged, reading, throw_away
from recall.share.address import checked, keep_password, shown
from recall.share.computer import check_computer, check_writer, is_another, is_copied, this_computer
from recall.share.connection import NeedsPassword, connected, environment_password, repeated
from recall.share.schema import migrate
from recall.share.server import Server
from recall.wire.lock import HeldLock
from recall.wire.paths import StatePaths, make_private_folder

#: Seconds to wait for an exchange in the background to end.
WAIT_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Joining:
    """How a machine joins: under which names, whether it makes the schema there first and lets which role use it, and
    whether it takes the place of the computer that its state folder was copied from."""

    url: str
    name: str | None = None
    person: str | None = None
    make: bool = False
    grant: str | None = None
    moved: bool = False


def join(paths: StatePaths, wanted: Joining, ask: Callable[[str], str | None]) -> tuple[Membership, str | None]:
    """Take part in the team at an address; the membership, and the password where one was needed and typed or set.

    `ask` is called with a question where the server wants a password that nobody has given yet; None gives up. Joining
    again at the same team changes the names and keeps the machine's number, on another computer only where that was
    `moved`. Raises UsageError, ShareError.
    """
    url = checked(wanted.url)
    known = known_membership(paths)
    if known is not None and is_copied(paths, known) and not wanted.moved:
        known = _another(known)
    make_private_folder(paths.home)
    password = None
    try:
        member = _enrol(paths, wanted, url, known, None)
    except NeedsPassword:
        password = ask(f"Password for {shown(url)}: ")
        if password is None:
            raise
        member = _enrol(paths, wanted, url, known, password)
    write_membership(Path(paths.share), member)
    return member, password or environment_password()


def keep(paths: StatePaths, password: str) -> None:
    """Keep a password for the exchanges in the background. Raises RecallError."""
    keep_password(Path(paths.share_password), membership(paths).url, password)


def pause(paths: StatePaths, *, paused: bool) -> Membership:
    """Stop exchanging records, or go on with it. What has come stays. Raises ShareError."""
    member = replace(membership(paths), paused=paused)
    write_membership(Path(paths.share), member)
    return member


def agree(paths: StatePaths, member: Membership) -> Membership:
    """Note that the person wants records to be exchanged, from now on also without being there. Raises RecallError."""
    if not member.agreed:
        member = replace(member, agreed=True)
        write_membership(Path(paths.share), member)
    return member


def leave(paths: StatePaths, *, delete: bool, password: str | None = None) -> int:
    """Take no part any more: what others have shared goes from this machine, and with `delete` what this one has shared
    goes from theirs; how many records. Raises ShareUnreachable where that has to be told the server, and nothing has
    changed then. A share.json that cannot be read goes too. Raises ShareError for another computer's records."""
    member = known_membership(paths)
    if member is None and (delete or not Path(paths.share).exists()):
        member = membership(paths)
    if delete and member is not None:
        check_computer(paths, member)
    lock = HeldLock.wait(paths.share_lock, WAIT_SECONDS)
    if lock is None:
        raise ShareError("an exchange of records is under way; try again when it has ended")
    with lock:
        count = 0
        if delete and member is not None:
            with connected(member.url, Path(paths.share_password), password) as connection:
                server = Server(connection, member.machine)
                check_writer(member, server.head().computer)
                count = server.leave()
        try:
            with Replica(Path(paths.share_records)) as replica:
                replica.reset()
        except ShareDamaged:
            throw_away(Path(paths.share_records))
        for path in (paths.share, paths.share_password):
            try:
                Path(path).unlink(missing_ok=True)
            except OSError as error:
                raise RecallError(f"{path} cannot be removed ({error.strerror}); remove it by hand") from error
    return count


def membership(paths: StatePaths) -> Membership:
    """The team that this machine belongs to. Raises ShareError where it belongs to none."""
    member = read_membership(Path(paths.share))
    if member is None:
        raise ShareError("this machine shares with no team; `recall share join postgresql://...` joins one")
    return member


def known_membership(paths: StatePaths) -> Membership | None:
    """As whom this machine takes part: by share.json, and where that was damaged or deleted, by the last exchange. A
    new number would leave what it has shared with nobody who can take it back."""
    try:
        if (member := read_membership(Path(paths.share))) is not None:
            return member
    except ShareError:
        pass
    with contextlib.suppress(ShareError), reading(Path(paths.share_records)) as connection:
        row = connection.execute("SELECT value FROM meta WHERE key = 'member'").fetchone() if connection else None
        return parsed(str(row[0])) if row else None
    return None


def _another(known: Membership) -> Membership:
    """A machine of its own, in the place of one that another computer is."""
    return replace(known, machine=new_machine(), name="", agreed=False)


def _enrol(paths: StatePaths, wanted: Joining, url: str, known: Membership | None, password: str | None) -> Membership:
    """Make what is wanted true on the server."""
    with connected(url, Path(paths.share_password), password) as connection:
        if wanted.make:
            repeated(connection, lambda: migrate(connection, new_machine(), wanted.grant))
        head = Server(connection, known.machine if known else "").head()
        if known is not None and known.team != head.team and shown(known.url) != shown(url):
            if Path(paths.share).exists():
                raise ShareError(
                    f"this machine belongs to the team at {shown(known.url)} already; run `recall share leave` first"
                )
            known = None
        elif known is not None and is_another(known, head.computer) and not wanted.moved:
            known = _another(known)
        machine = known.machine if known else new_machine()
        agreed = known is not None and known.agreed and known.team == head.team
        names = (_name(wanted, known), _person(wanted, known))
        computer = this_computer(paths, machine)
        Server(connection, machine).enrol(*names, computer)
        return Membership(url, machine, *names, head.team, agreed=agreed, computer=computer)


def _name(wanted: Joining, known: Membership | None) -> str:
    return plain_name(wanted.name or (known.name if known else "") or platform.node().partition(".")[0])


def _person(wanted: Joining, known: Membership | None) -> str:
    if wanted.person or known:
        return plain_name(wanted.person or (known.person if known else ""))
    try:
        return plain_name(getpass.getuser())
    except (OSError, KeyError, ImportError):  # nobody's process, in a container
        return "unnamed"
