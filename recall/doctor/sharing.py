"""Sharing with the machines of a team: whether it works, as far as this machine knows without asking the server."""

import importlib.util
from collections.abc import Iterator
from pathlib import Path

from recall.core.errors import ShareError
from recall.doctor.case import Case, Finding
from recall.replica.membership import read_membership
from recall.share.computer import is_copied
from recall.share.report import Standing, standing

#: A laptop may be away from the office's network for a weekend; a server that is away for longer is no chance.
AWAY_SECONDS = 4 * 86_400.0


def sharing(case: Case) -> Iterator[Finding]:
    """Whether this machine takes part in a team, and when records were exchanged last."""
    files = [Path(case.paths.share), Path(case.paths.share_records)]
    if odd := [path for path in files if path.exists() and not path.is_file()]:
        found = f"{odd[0]}: expected a file, found something else"
        yield Finding("sharing", "problem", "no-file", found, "move it away")
        return
    try:
        member = read_membership(files[0])
    except ShareError as error:
        advice = "joining again keeps this machine's number"
        yield Finding("sharing", "problem", "damaged", str(error), advice)
        return
    if member is None:
        yield Finding("sharing", "ok", "off", "nothing is shared with other machines")
        return
    try:
        found_standing = standing(case.paths, member)
    except ShareError as error:
        advice = "`recall share sync` fills it anew; what is indexed stays"
        yield Finding("sharing", "problem", "records", str(error), advice)
        return
    has_driver = importlib.util.find_spec("psycopg") is not None
    minutes, copied = case.config["share.minutes"], is_copied(case.paths, member)
    yield from judge_sharing(found_standing, case.now, minutes, has_driver=has_driver, copied=copied)


def judge_sharing(
    stands: Standing, now: float, minutes: int, *, has_driver: bool, copied: bool = False
) -> list[Finding]:
    """The findings about a membership; `minutes` between two exchanges, 0 for by hand alone; `has_driver`: whether
    psycopg is installed; `copied`: whether another computer joined. A pure decision."""
    facts: dict[str, int | float | str] = {
        "sent": stands.sent, "received": stands.received, "machines": len(stands.machines), "minutes": minutes,
    }  # fmt: skip
    found = []
    if not has_driver:
        words = f"this machine belongs to the team at {stands.server}, and this recall has no psycopg to reach it"
        found.append(Finding("sharing", "problem", "no-driver", words, "install recall[share]", None, facts))
    elif copied:
        words = f"another computer joined the team at {stands.server}, and this one has a copy of its state folder"
        advice = "`recall share join` with the team's address; --moved takes the other's place"
        found.append(Finding("sharing", "problem", "copied", words, advice, None, facts))
    elif stands.member.paused:
        words = f"the exchange with {stands.server} is paused"
        found.append(Finding("sharing", "note", "paused", words, "`recall share resume` goes on", None, facts))
    elif not stands.member.agreed and stands.synced is None:
        words = f"this machine has joined the team at {stands.server}, and has exchanged nothing yet"
        advice = "`recall share preview` shows what would leave it, `recall share sync` begins"
        found.append(Finding("sharing", "note", "not-begun", words, advice, None, facts))
    elif stands.failed is not None:
        away = now - (stands.failing_since or now)
        days = f"has worked for {away / 86_400:.0f} days" if away > 2 * 86_400 else "works at the moment"
        words = f"no exchange with {stands.server} {days}: {stands.failed}"
        state = "problem" if away > AWAY_SECONDS else "note"
        advice = "`recall share sync` tries now; everything else works meanwhile"
        found.append(Finding("sharing", state, "failing", words, advice, None, facts))  # type: ignore[arg-type]
    if not stands.protected:
        words = f"the way to {stands.server} is not protected: its certificate is not looked at"
        advice = "join again with ?sslmode=verify-full in the address"
        found.append(Finding("sharing", "note", "unprotected", words, advice, None, facts))
    words = f"{stands.sent} records sent, {stands.received} received, {len(stands.machines)} other machines"
    return found or [Finding("sharing", "ok", "ok", words, facts=facts)]
