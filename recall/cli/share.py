"""`recall share`: exchanges records with the machines of a team through a PostgreSQL server on their own network."""

import argparse
from collections.abc import Callable
from pathlib import Path

from recall.cli import share_records
from recall.cli.ask import confirm, require, somebody
from recall.core.errors import ShareError
from recall.wire.paths import StatePaths, state_home

HELP = "share notes and rules with the machines of your team (off until you join one)"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)

    def verb(name: str, text: str) -> argparse.ArgumentParser:
        chosen = verbs.add_parser(name, help=text, description=text)
        chosen.add_argument("--home", metavar="DIR", default=argparse.SUPPRESS, help="state folder")
        return chosen

    init = verb("init", "set a team up on a PostgreSQL server, and join it")
    init.add_argument("--grant", metavar="ROLE", help="let this database role of your colleagues use it")
    joined = verb("join", "join the team on a server that a colleague has set up")
    joined.add_argument(
        "--moved", action="store_true", help="this computer takes the place of the one that its state folder comes from"
    )
    for command in (init, joined):
        command.add_argument("url", metavar="postgresql://USER@HOST/DATABASE")
        command.add_argument("--name", help="what others call this machine (default: its host name)")
        command.add_argument("--person", help="whose it is (default: your user name)")
        command.add_argument(
            "--keep-password", action="store_true", help="keep the password in the state folder, for exchanges later on"
        )
    for name, text in (
        ("status", "how the exchange stands; asks nobody"),
        ("preview", "show what would leave this machine; sends nothing"),
        ("sync", "exchange records now"),
    ):
        verb(name, text).add_argument("--json", action="store_true", help="print one JSON object")
    chosen = verbs.choices
    chosen["preview"].add_argument("--text", action="store_true", help="print the whole text of each record")
    chosen["sync"].add_argument("--quiet", action="store_true", help="print nothing (the daemon calls it so)")
    verb("pause", "exchange nothing until `resume`; what has come stays")
    verb("resume", "go on exchanging")
    left = verb("leave", "take no part any more; what others shared goes from this machine")
    left.add_argument(
        "--delete-mine", action="store_true", help="what this machine has shared goes from all others too"
    )
    left.add_argument("--yes", action="store_true", help="do not ask")
    show = verb("show", "print a record of another machine, as its headline names it")
    show.add_argument("id", metavar="ID")


def run(arguments: argparse.Namespace) -> int:
    paths = StatePaths(state_home(arguments.home))
    verbs: dict[str, Callable[[argparse.Namespace, StatePaths], int]] = {
        "init": _join,
        "join": _join,
        "status": share_records.status,
        "preview": share_records.preview,
        "sync": share_records.sync,
        "pause": _pause,
        "resume": _pause,
        "leave": _leave,
        "show": share_records.show,
    }
    try:
        return verbs[arguments.verb](arguments, paths)
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in ("psycopg", "psycopg_binary") and "libpq" not in str(error):
            raise
        raise ShareError(
            "sharing needs the package psycopg, which this recall was installed without; "
            "install recall[share], or use the packed program"
        ) from None


def _join(arguments: argparse.Namespace, paths: StatePaths) -> int:
    from recall.share.address import is_protected, shown
    from recall.share.membership import Joining, join, keep

    wanted = Joining(
        arguments.url,
        arguments.name,
        arguments.person,
        make=arguments.verb == "init",
        grant=getattr(arguments, "grant", None),
        moved=getattr(arguments, "moved", False),
    )
    member, password = join(paths, wanted, _typed)
    print(f"joined the team on {shown(member.url)} as {member.name}, machine of {member.person}")
    if not is_protected(member.url):
        print(share_records.UNPROTECTED)
    if password is not None:
        question = f"Keep the password in {paths.share_password}, readable by you alone, so that exchanges need no you?"
        if confirm(question, yes=arguments.keep_password, hint="--keep-password says yes"):
            keep(paths, password)
            print(f"kept the password in {paths.share_password}")
    if not member.agreed:
        print("nothing has left this machine: `recall share preview` shows what would, `recall share sync` begins;")
        print("from then on the daemon exchanges records by itself while it is in use (share.minutes in config.toml)")
    return 0


def _typed(question: str) -> str | None:
    """A password, None where nobody can be asked."""
    if not somebody():
        return None
    import getpass

    try:
        return getpass.getpass(question) or None
    except EOFError:
        return None


def _pause(arguments: argparse.Namespace, paths: StatePaths) -> int:
    from recall.share.membership import pause

    paused = arguments.verb == "pause"
    pause(paths, paused=paused)
    print("paused: nothing is exchanged until `recall share resume`" if paused else "records are exchanged again")
    return 0


def _leave(arguments: argparse.Namespace, paths: StatePaths) -> int:
    from recall.cli.index import index
    from recall.share.membership import known_membership, leave, membership

    if known_membership(paths) is None and not Path(paths.share).exists():
        membership(paths)
    if not arguments.yes:
        require(
            "Take back everything that this machine has shared, from the server and from all others?"
            if arguments.delete_mine
            else "What this machine has shared stays with the team and cannot be taken back later; --delete-mine takes "
            "it back now. Leave?",
            "--yes",
        )
    count = leave(paths, delete=arguments.delete_mine)
    print("left the team; what others had shared is gone from this machine")
    if arguments.delete_mine:
        print(f"{count} records are taken back; each machine drops them at its next exchange")
    if Path(paths.index).exists():
        index(paths)
    return 0
