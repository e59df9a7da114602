"""Making a team, joining and leaving one."""

import getpass
import platform
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from recall.core.errors import RecallError, ShareError
from recall.replica.membership import Membership, new_machine, plain_name, read_membership, write_membership
from recall.replica.replica import Replica
from recall.replica.tables import ShareDamaged, throw_away
from recall.share.address import checked, keep_password, shown
from recall.share.computer import is_copied, this_computer
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
    known = read_membership(Path(paths.share))
    if known is not None and is_copied(known) and not wanted.moved:
        known = replace(known, machine=new_machine(), name="", agreed=False)
    make_private_folder(paths.home)
    password = None
    try:
        team, machine = _enrol(paths, wanted, url, known, None)
    except NeedsPassword:
        password = ask(f"Password for {shown(url)}: ")
        if password is None:
            raise
        team, machine = _enrol(paths, wanted, url, known, password)
    agreed = known is not None and known.agreed and known.team == team
    names = (_name(wanted, known), _person(wanted, known))
    member = Membership(url, machine, *names, team, agreed=agreed, computer=this_computer(machine))
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
    changed then. A share.json that cannot be read goes without it."""
    try:
        member: Membership | None = membership(paths)
    except ShareError:
        if delete or not Path(paths.share).exists():
            raise
        member = None
    lock = HeldLock.wait(paths.share_lock, WAIT_SECONDS)
    if lock is None:
        raise ShareError("an exchange of records is under way; try again when it has ended")
    with lock:
        count = 0
        if delete and member is not None:
            with connected(member.url, Path(paths.share_password), password) as connection:
                count = Server(connection, member.machine).leave()
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


def _enrol(
    paths: StatePaths, wanted: Joining, url: str, known: Membership | None, password: str | None
) -> tuple[str, str]:
    """The numbers of the team and of this machine in it."""
    with connected(url, Path(paths.share_password), password) as connection:
        if wanted.make:
            repeated(connection, lambda: migrate(connection, new_machine(), wanted.grant))
        server = Server(connection, known.machine if known else new_machine())
        head = server.head()
        if known is not None and known.team != head.team and shown(known.url) != shown(url):
            raise ShareError(
                f"this machine belongs to the team at {shown(known.url)} already; run `recall share leave` first"
            )
        server.enrol(_name(wanted, known), _person(wanted, known))
        return head.team, server.machine


def _name(wanted: Joining, known: Membership | None) -> str:
    return plain_name(wanted.name or (known.name if known else "") or platform.node().partition(".")[0])


def _person(wanted: Joining, known: Membership | None) -> str:
    if wanted.person or known:
        return plain_name(wanted.person or (known.person if known else ""))
    try:
        return plain_name(getpass.getuser())
    except (OSError, KeyError, ImportError):  # nobody's process, in a container
        return "unnamed"
