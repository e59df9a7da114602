"""What of a person's values may stand in a bug report: numbers and our own words; of paths the shape, of names a hash.

By construction and not by search: nothing passes that is not on a list of known words or a number. The hashes are
salted anew for each report, so that nobody can try names out on them; within one report equal names look equal.
"""

import builtins
import hashlib
import pkgutil
import re
import secrets
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import recall
from recall.core import errors
from recall.core.config import SETTINGS
from recall.embed.catalog import SHIPPED
from recall.insight.reasons import NO_ANSWER

#: Parts of paths that systems, Claude Code and recall give, and no person.
KNOWN = frozenset(
    "/ ~ . .. .claude .codex .qwen .gemini projects memory agent-memory settings.json settings.local.json .local "
    ".config share state bin lib lib64 usr opt etc var tmp private home Users root mnt media Volumes Library AppData "
    "Local Roaming Programs recall recall.exe recall-hook versions current models backup .venv venv site-packages "
    "docs rules adr decisions .cursor .agents notes C: D:".split()
) | {"Application Support", "Program Files"}

#: Keys of the daemon's log lines whose values are numbers or versions.
_NUMBERS = frozenset({"version", "pid", "chunks", "seconds"})
_KEYS = frozenset({*_NUMBERS, "error", "verb"})
_EVENTS = frozenset(
    "started ended displaced idle look-failed load-failed switched loaded read-failed indexed request-failed "
    "refused exchange exchange-failed".split()
)
_CODES = frozenset({*NO_ANSWER, "replaced"})

_TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d"
_HOOK = re.compile(rf"({_TIME}) ([a-z]{{1,16}}) (\d{{1,9}})")
_DAEMON = re.compile(rf"({_TIME}) ([a-z-]{{1,32}})((?: [a-z_]{{1,16}}=\S{{1,64}})*)")
_INDEX = re.compile(rf"({_TIME}) (done|failed): ")
_NUMBER = re.compile(r"-?\d[\d.]{0,19}")
_PLACE = re.compile(r"(\w+)\.py:(\d{1,6})")


def _is_error(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, BaseException)


#: Errors of the language, of ours, of SQLite and of onnxruntime's binding.
_ERRORS = frozenset(
    [name for place in (builtins, errors) for name, value in vars(place).items() if _is_error(value)]
    + "OperationalError DatabaseError IntegrityError NotSupportedError ProgrammingError InterfaceError".split()
    + "Fail RuntimeException InvalidArgument NoSuchFile NoModel EngineError InvalidProtobuf ModelLoaded".split()
    + "NotImplemented InvalidGraph EPFail".split()
)


@cache
def _modules() -> frozenset[str]:
    """The names of our own modules."""
    return frozenset(found.name.rpartition(".")[2] for found in pkgutil.walk_packages(recall.__path__, "recall."))


def _place(part: str) -> str:
    """A line of our code; of other code the number alone."""
    found = _PLACE.fullmatch(part)
    if not found:
        return "?"
    return part if found[1] in _modules() else f"?:{found[2]}"


class Reducer:
    """Reduces the values of one report."""

    def __init__(self, home: Path, salt: bytes | None = None) -> None:
        self._home = home
        self._salt = salt or secrets.token_bytes(16)
        self._models = {file.stem for folder in SHIPPED for file in folder.glob("*.toml")}

    def name(self, text: str) -> str:
        """A hash in the place of a name."""
        return "#" + hashlib.sha256(self._salt + text.encode("utf-8", "surrogatepass")).hexdigest()[:8]

    def path(self, text: str) -> str:
        """A path with the home folder as `~` and a hash for each part that a person has named."""
        path = Path(text)
        if path.is_absolute() and path.is_relative_to(self._home):
            path = Path("~") / path.relative_to(self._home)
        parts = [part if part in KNOWN else self.name(part) for part in path.parts]
        return "/".join(parts).replace("//", "/")

    def model(self, name: str) -> str:
        """The name of a model that recall knows; the hash of another."""
        return name if name in self._models else self.name(name)

    def configuration(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Every setting, its value as far as it is a number or one of our own words."""
        found: dict[str, Any] = {}
        for setting in SETTINGS:
            value = values.get(setting.key, setting.default)
            if setting.key == "model":
                found[setting.key] = self.model(str(value))
            elif isinstance(value, bool | int | float) or (setting.choices and value in setting.choices):
                found[setting.key] = value
            elif isinstance(value, list):
                usual = setting.default if isinstance(setting.default, list) else []
                found[setting.key] = [item if item in usual else self._entry(item) for item in value]
            else:
                found[setting.key] = self.name(str(value))
        return found

    def hook_line(self, line: str) -> str | None:
        """A line of hook.log, None for one that is not of our making."""
        found = _HOOK.fullmatch(line.strip())
        return f"{found[1]} {found[2]} {found[3]}" if found and found[2] in _CODES else None

    def daemon_line(self, line: str) -> str | None:
        """A line of daemon.log, None for one that is not of our making."""
        found = _DAEMON.fullmatch(line.strip())
        if not found or found[2] not in _EVENTS:
            return None
        words = [self._word(*word.partition("=")[::2]) for word in found[3].split()]
        return " ".join([found[1], found[2], *words])

    def index_line(self, line: str) -> str | None:
        """When a scheduled run ended and how; what it said may name files."""
        found = _INDEX.match(line)
        return f"{found[1]} {found[2]}" if found else None

    def _word(self, key: str, value: str) -> str:
        if key == "model":
            return f"model={self.model(value)}"
        if key == "at":
            return f"at={'/'.join(_place(part) for part in value.split('/'))}"
        plain = value in _ERRORS if key == "error" else key in _NUMBERS and _NUMBER.fullmatch(value)
        return f"{key}={value}" if plain else f"{key if key in _KEYS else '?'}=?"

    def _entry(self, item: Any) -> Any:
        """An item of a list of paths, or a table of the rule folders."""
        if not isinstance(item, Mapping):
            return self.path(str(item))
        return {
            "path": self.path(str(item.get("path", ""))),
            "scope": "shared" if item.get("scope") == "shared" else self.name(str(item.get("scope"))),
            "include": len(item.get("include", [])),
            "exclude": len(item.get("exclude", [])),
        }


def kept(counts: Mapping[str, int], known: Collection[str]) -> dict[str, int]:
    """Counts of words that we know, the others together as `other`."""
    found = {word: count for word, count in counts.items() if word in known}
    rest = sum(count for word, count in counts.items() if word not in known)
    return found | ({"other": rest} if rest else {})


def newest(lines: Iterable[str | None], most: int) -> tuple[list[str], int]:
    """The newest lines that could be kept, and how many could not."""
    every = list(lines)
    good = [line for line in every if line is not None]
    return good[-most:], len(every) - len(good)
