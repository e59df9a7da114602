"""share.json: that this machine belongs to a team, where the team's server is, and as whom it takes part."""

import json
import re
import secrets
from dataclasses import asdict, dataclass
from pathlib import Path

from recall.core.atomic import replace_bytes
from recall.core.errors import ShareError
from recall.text.clean import one_line
from recall.wire.files import read_file

#: Longest name of a machine or a person, in characters.
MAX_NAME = 40

_IDENTIFIER = re.compile(r"[0-9a-f]{32}")
_NOT_IN_NAMES = re.compile(r"[^\w.+-]+")


@dataclass(frozen=True, slots=True)
class Membership:
    """`url` names the server, without a password. `machine` tells this machine from all others, whatever its `name` is:
    32 hexadecimal digits, drawn when it joined. `team` is the server's own such number.
    `agreed`: the person has exchanged records by hand; until then nothing leaves by itself.
    `computer`: which one joined (`share.computer`), "" where that is not known."""

    url: str
    machine: str
    name: str
    person: str
    team: str
    paused: bool = False
    agreed: bool = False
    computer: str = ""


def new_machine() -> str:
    """A number that no other machine has."""
    return secrets.token_hex(16)


def plain_name(text: str) -> str:
    """A name as it may stand in a headline: letters, digits, `.`, `-`, `+` and `_`, at most MAX_NAME characters."""
    return _NOT_IN_NAMES.sub("-", one_line(text)).strip("-.")[:MAX_NAME] or "unnamed"


def is_machine(text: object) -> bool:
    """Whether this is a machine's number."""
    return isinstance(text, str) and _IDENTIFIER.fullmatch(text) is not None


def read_membership(path: Path) -> Membership | None:
    """The team that this machine belongs to, None for no team. Raises ShareError for a file that is not ours."""
    try:
        member = parsed(read_file(path))
    except FileNotFoundError:
        return None
    except OSError:
        member = None
    if member is None:
        raise ShareError(
            f"expected what `recall share join` wrote in {path}, found something else; "
            "run `recall share join` with the team's address again"
        )
    return member


def parsed(text: str | bytes) -> Membership | None:
    """The membership that a JSON text holds, None for anything else."""
    try:
        fields = json.loads(text)
        url, machine, name, person, team = (fields[key] for key in ("url", "machine", "name", "person", "team"))
        computer = fields.get("computer", "")
        if not all(isinstance(text, str) for text in (url, name, person, team, computer)) or not is_machine(machine):
            return None
        paused, agreed = bool(fields.get("paused")), bool(fields.get("agreed"))
        return Membership(url, machine, name, person, team, paused, agreed, computer)
    except (ValueError, TypeError, KeyError, RecursionError):
        return None


def write_membership(path: Path, membership: Membership) -> None:
    """Keep it, for the owner's eyes only. Raises RecallError."""
    replace_bytes(path, written(membership).encode() + b"\n", 0o600)


def written(membership: Membership) -> str:
    """The text that `parsed` takes."""
    return json.dumps(asdict(membership), ensure_ascii=False, indent=1)
