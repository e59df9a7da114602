"""The command line's parser and its one place where errors become a sentence and an exit code."""

import argparse
import importlib
import io
import os
import sys
from collections.abc import Sequence
from types import ModuleType

from recall.core.errors import RecallError, UsageError, system_error
from recall.install.in_use import hold
from recall.install.place import own_name, own_place
from recall.version import VERSION
from recall.wire.environment import restore_environment
from recall.wire.paths import state_home

#: Every command has a module of its name here (`why_not` for `why-not`) with `HELP`, `add_arguments(parser)`,
#: `run(arguments) -> exit code`, and `LATE` where an argument may also stand behind the options.
COMMANDS = (
    "setup", "uninstall", "install", "upgrade", "versions", "index", "schedule", "serve", "stop", "hook", "query",
    "status", "doctor", "why", "why-not", "replay", "mute", "unmute", "report", "eval", "models", "share", "licenses",
    "demo",
)  # fmt: skip


def parser(chosen: str | None = None) -> argparse.ArgumentParser:
    """The whole parser; only the `chosen` command's arguments are filled in (all of them when None)."""
    whole = argparse.ArgumentParser(
        prog="recall", description="Brings your own notes in front of Claude Code at the moment they matter."
    )
    whole.add_argument("--version", action="version", version=f"recall {VERSION}")
    commands = whole.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name in COMMANDS:
        module = _module(name)
        command = commands.add_parser(name, help=module.HELP, description=module.HELP)
        command.set_defaults(complain=command.error)
        command.add_argument("--home", metavar="DIR", help="state folder (default: RECALL_HOME, else the system's)")
        if chosen in (None, name):
            module.add_arguments(command)
    return whole


def main(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code: 0 done, 1 failed, 2 wrong usage."""
    _speak_utf8()
    restore_environment(os.environ)
    _hold_version()
    chosen = next((word for word in arguments if word in COMMANDS), None)
    asked, rest = parser(chosen).parse_known_args(arguments)
    if rest:
        _take_late(asked, rest)
    try:
        _check_home(state_home(asked.home))
        code = _module(asked.command).run(asked)
        sys.stdout.flush()
    except RecallError as error:
        print(f"recall: {error}", file=sys.stderr)
        return error.exit_code
    except BrokenPipeError:  # `recall status | head`
        sys.stdout = None  # else the interpreter complains when it flushes at its end
        return 0
    except OSError as error:
        print(f"recall: {system_error(error)}", file=sys.stderr)
        sys.stdout = None  # what it still holds cannot be written either, and the interpreter would complain
        return 1
    except KeyboardInterrupt:
        print("recall: interrupted", file=sys.stderr)
        return 130
    return int(code)


def _hold_version() -> None:
    """Until this process ends, nobody may clean up the installed version that it runs from."""
    place, name = own_place(), own_name()
    if place is not None and name is not None:
        hold(place, name)


def _module(command: str) -> ModuleType:
    return importlib.import_module(f"recall.cli.{command.replace('-', '_')}")


def _take_late(asked: argparse.Namespace, rest: list[str]) -> None:
    """Take what stands behind an option as the optional argument that a command names in LATE; argparse has given that
    its default by then. Exits with code 2 where it is none."""
    late: str = getattr(_module(asked.command), "LATE", "")
    if not late or len(rest) > 1 or rest[0].startswith("-") or getattr(asked, late) is not None:
        asked.complain(f"unrecognized arguments: {' '.join(rest)}; a text of several words stands in quotes")
    setattr(asked, late, rest[0])


def _check_home(home: str) -> None:
    """Refuse what cannot be a state folder, for all commands alike. Raises UsageError."""
    if os.path.lexists(home) and not os.path.isdir(home):  # noqa: PTH112
        raise UsageError(
            f"expected a folder for recall's own files, found something else at {home}; name one with --home"
        )


def _speak_utf8() -> None:
    """Names of files and notes must come out whatever the locale: cron has none, a Windows pipe an old code page."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the caller: `recall status >&-`
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115, PTH123
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115, PTH123
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding=None if stream.isatty() else "utf-8", errors="backslashreplace")
