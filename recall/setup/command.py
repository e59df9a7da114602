"""A hook's command as a person may have written it: the words that it runs, and whether they call recall.

RECALL_HOME=~/r "$HOME/.local/bin/recall" hook   ->   $HOME/.local/bin/recall  hook  --home  ~/r
/opt/recall/current/recall hook || true          ->   /opt/recall/current/recall  hook
python3 -m recall hook                           ->   python3  -m  recall  hook
recall hook && say done                          ->   another tool's: with ours something of theirs would go
"""

import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from recall.setup.shells import Shell, split

LAUNCHER_NAMES = ("recall-hook", "recall-hook.exe")

#: The program, or the file of a release that carries it: both can be named in settings.json by hand.
_PROGRAM = re.compile(r"recall(-\d+\.\d+\.\d+\w*-(linux|macos|windows)-\w+)?(\.(?i:exe))?")
_PYTHON = re.compile(r"python[\d.]*(\.(?i:exe))?")
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
#: What a shell or a person sets before a program, and which starts it all the same.
_PREFIXES = ("env", "exec", "command")
_AFTER = re.compile(r"\d*[<>]|&>|\|\|$")
_REDIRECTION = re.compile(r"\d*>&\d|&>+")
#: Words behind a path, which may hold spaces itself.
_MORE_WORDS = re.compile(r"""\s([/~$"'-]|[A-Za-z]:)""")
#: What ends a command in a shell.
_SIGNS = ";&|\n"
#: What may follow with `||`: it keeps an exit code away, and does nothing else.
_HARMLESS = (["true"], [":"], ["exit", "0"])


def calls_recall(command: str, args: Sequence[str]) -> bool:
    """Whether a command is ours: our launcher, or `recall` with `hook`."""
    name = _name(command)
    if _PYTHON.fullmatch(name) and list(args[:3]) == ["-m", "recall", "hook"]:
        return True
    return name.lower() in LAUNCHER_NAMES or (_PROGRAM.fullmatch(name) is not None and list(args[:1]) == ["hook"])


def words_of(command: str, args: Sequence[str], shell: Shell | None) -> list[str]:
    """What a handler of ours runs, its program first; one empty word for a command that is not ours alone.

    `shell`: what takes the command apart; None where the client itself runs one that has arguments (exec form) and
    hands one without to a shell. A state folder that the command sets as RECALL_HOME stands as `--home`.
    """
    if shell is None and (args or (not _MORE_WORDS.search(command) and calls_recall(command, ()))):
        return [command, *args]
    shells: tuple[Shell, ...] = (shell,) if shell else ("sh", "cmd", "powershell")
    readings = (_bare(split(command, one)) for one in shells) if _is_alone(command) else ()
    return next((words for words in readings if calls_recall(words[0], words[1:])), [""])


def expanded(word: str, environment: Mapping[str, str]) -> str:
    """A path with the person's home folder in the place of `~`, `$HOME` and `${HOME}` at its begin."""
    home = environment.get("HOME") or environment.get("USERPROFILE") or str(Path.home())
    return re.sub(r"^(~|\$HOME|\$\{HOME\})(?=[/\\]|$)", lambda _: home, word)


def _name(command: str) -> str:
    return re.split(r"[/\\]", command)[-1]


def _bare(words: list[str]) -> list[str]:
    """The words from the program on, up to where its output goes or what follows it."""
    end = next((at for at, word in enumerate(words) if _AFTER.match(word)), len(words))
    words = words[:end]
    home: list[str] = []
    at = 0
    while at < len(words) and ((found := _ASSIGNMENT.fullmatch(words[at])) or words[at] in _PREFIXES):
        if found and found[1] == "RECALL_HOME":
            home = ["--home", found[2]]
        at += 1
    rest = words[at:] or [""]
    # Not for the launcher, which takes no arguments but what stands there: `hook` first.
    return [*rest, *home] if home and "--home" not in rest and len(rest) > 1 else rest


def _is_alone(command: str) -> bool:
    """Whether nothing else is run by the same text."""
    lexer = shlex.shlex(_REDIRECTION.sub(" ", command.strip()), posix=True, punctuation_chars=_SIGNS)
    lexer.whitespace_split, lexer.commenters, lexer.whitespace = True, "", " \t\r"  # a line end is a sign, unquoted
    try:
        words = list(lexer)
    except ValueError:  # its quotes do not close in sh: another shell's text
        return "\n" not in command.strip()
    if words[:1] == ["&"]:  # PowerShell's call
        words = words[1:]
    signs = [at for at, word in enumerate(words) if word and set(word) <= set(_SIGNS)]
    return not signs or (words[signs[0]] == "||" and words[signs[0] + 1 :] in _HARMLESS)
