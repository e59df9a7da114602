"""Which computer this is, so that a membership that was copied to another one with its state folder is noticed.

Two computers under one machine's number would take back each other's records at every exchange.
"""

import ctypes
import hashlib
import hmac
import sys
from pathlib import Path

from recall.core.errors import ShareError
from recall.replica.membership import Membership

#: Where Linux has the number of its installation: machine-id(5), and D-Bus's older place for the same number.
_FILES = (Path("/etc/machine-id"), Path("/var/lib/dbus/machine-id"))


def this_computer(machine: str) -> str:
    """32 hexadecimal digits that are the same on this computer for the same machine's number and nowhere else; "" where
    the system has no number of its own (a container). The system's number cannot be told from them, as machine-id(5)
    asks for."""
    number = _number()
    return hmac.new(number.encode(), machine.encode(), hashlib.sha256).hexdigest()[:32] if number else ""


def is_copied(member: Membership) -> bool:
    """Whether it was another computer that joined: this one has a copy of its state folder."""
    here = this_computer(member.machine)
    return bool(here and member.computer) and here != member.computer


def check_computer(member: Membership) -> None:
    """Raise ShareError for a membership that is another computer's: the two would take back each other's records."""
    if is_copied(member):
        raise ShareError(
            "this state folder was copied from another computer, and two cannot share as one machine; `recall share "
            "join` with the team's address makes this one a machine of its own, with --moved it takes the other's place"
        )


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
