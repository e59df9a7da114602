"""Which computer this is, so that a membership that was copied with its state folder is noticed.

Two of one machine's number would take back each other's records at every exchange.
"""

import ctypes
import hashlib
import hmac
import os
import sys
from pathlib import Path

from recall.core.errors import ShareError
from recall.replica.membership import Membership
from recall.wire.paths import StatePaths

#: Where Linux has the number of its installation: machine-id(5), and D-Bus's older place for the same number.
_FILES = (Path("/etc/machine-id"), Path("/var/lib/dbus/machine-id"))


def this_computer(paths: StatePaths, machine: str) -> str:
    """32 hexadecimal digits that are the same for this state folder on this computer and this machine's number, and
    nowhere else; "" where the system has no number of its own (a container). The system's number cannot be told from
    them, as machine-id(5) asks for."""
    number = _number()
    place = f"{machine}\0{os.path.realpath(paths.home)}"
    return hmac.new(number.encode(), os.fsencode(place), hashlib.sha256).hexdigest()[:32] if number else ""


def is_copied(paths: StatePaths, member: Membership) -> bool:
    """Whether it was another computer that joined, or another state folder of this one: here is a copy."""
    return _differ(this_computer(paths, member.machine), member.computer)


def check_computer(paths: StatePaths, member: Membership) -> None:
    """Raise ShareError for a membership that is another computer's: the two would take back each other's records."""
    if is_copied(paths, member):
        raise ShareError(
            "this state folder was copied from another computer or place, and two cannot share as one machine; `recall "
            "share join` with the team's address makes this one a machine of its own, with --moved it takes the "
            "other's place"
        )


def is_another(member: Membership, writer: str) -> bool:
    """Whether the computer that writes in a machine's name, as the server has it, is another than the one that joined;
    False where one of them is not known."""
    return _differ(writer, member.computer)


def check_writer(member: Membership, writer: str) -> None:
    """Raise ShareError where another computer writes in this machine's name, as the server has it."""
    if is_another(member, writer):
        raise ShareError(
            "another computer has taken this one's place in the team (`recall share join --moved`); `recall share "
            "join` with the team's address makes this one a machine of its own"
        )


def _differ(one: str, other: str) -> bool:
    return bool(one and other) and one != other


def _number() -> str:
    """What the system calls this computer."""
    try:
        if sys.platform == "win32":
            import winreg  # noqa: PLC0415  (only Windows has it)

            place, access = r"SOFTWARE\Microsoft\Cryptography", winreg.KEY_READ | winreg.KEY_WOW64_64KEY
            with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, place, 0, access) as key:
                return str(winreg.QueryValueEx(key, "MachineGuid")[0])
        if sys.platform == "darwin":
            uuid, second = (ctypes.c_ubyte * 16)(), (ctypes.c_long * 2)(1, 0)
            return bytes(uuid).hex() if ctypes.CDLL(None).gethostuuid(uuid, second) == 0 else ""
        return next((number for file in _FILES if file.is_file() and (number := file.read_text("ascii").strip())), "")
    except (OSError, ValueError, AttributeError):
        return ""
