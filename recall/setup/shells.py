"""A command as one text, as a shell takes it: most agents hand their hooks to one.

    sh           '/home/mia/the notes/recall-hook' hook
    powershell   & 'C:\\Users\\Mia Ito\\recall.exe' 'hook'
    cmd          C:\\Users\\Mia\\recall.exe hook

What each agent does with the text: Codex runs `$SHELL -lc TEXT`, on Windows `cmd /C TEXT`; Gemini CLI and Qwen Code
run `bash -c TEXT`, on Windows PowerShell. Codex hands its text to cmd as one argument, in which every `"` becomes
`\\"`, and cmd knows no such thing: a word that needs quotes cannot be said there at all.
"""

import ctypes
import re
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from recall.core.errors import SettingsError

Shell = Literal["sh", "powershell", "cmd"]

#: What cmd takes as it stands: everything but white space, quotes and its own signs.
_PLAIN = re.compile(r"""[^\s"'&|<>^%!()@,;=`]+""")
#: PowerShell takes the typographic single quotes for the straight one.
_QUOTE = "['\u2018\u2019\u201a\u201b]"
_NO_QUOTE = _QUOTE.replace("[", "[^")
_POWERSHELL_WORD = re.compile(rf"{_QUOTE}((?:{_NO_QUOTE}|{_QUOTE}{{2}})*){_QUOTE}|(\S+)")
_CMD_WORD = re.compile(r'(?:"[^"]*"|[^\s"])+')


def join(words: Sequence[str], shell: Shell) -> str:
    """The words as one text that this shell takes apart into the same words.

    Raises SettingsError for a word that cannot be said to cmd.
    """
    if shell == "sh":
        return shlex.join(words)
    if shell == "powershell":
        return "& " + " ".join("'" + re.sub(f"({_QUOTE})", r"\1\1", word) + "'" for word in words)
    return " ".join(map(_for_cmd, words))


def split(text: str, shell: Shell) -> list[str]:
    """The words of a text as this shell takes it apart; none where its quotes do not close."""
    if shell == "sh":
        try:
            return shlex.split(text)
        except ValueError:
            return []
    if shell == "powershell":
        found = _POWERSHELL_WORD.findall(text.strip().removeprefix("&"))
        return [plain or re.sub(rf"{_QUOTE}({_QUOTE})", r"\1", quoted) for quoted, plain in found]
    return [word.replace('"', "") for word in _CMD_WORD.findall(text)]


def _for_cmd(word: str) -> str:
    for said in (word, _short(word)):
        if _PLAIN.fullmatch(said):
            return said
    raise SettingsError(
        f"expected a path without spaces and signs of the shell, found {word}: Codex cannot call it on Windows; "
        "install recall into a folder with a plain name, set RECALL_HOME to another, and run setup again"
    )


def _short(word: str) -> str:
    """The path with the short names (`MIAITO~1`) that Windows gave to its folders, as far as they exist; the word
    itself where there are none."""
    if sys.platform != "win32":
        return word
    path = Path(word)
    existing = next((folder for folder in (path, *path.parents) if folder.exists()), None)
    if existing is None:
        return word
    buffer = ctypes.create_unicode_buffer(32_768)  # the longest path of Windows
    length = ctypes.windll.kernel32.GetShortPathNameW(str(existing), buffer, len(buffer))
    return str(Path(buffer.value) / path.relative_to(existing)) if 0 < length < len(buffer) else word
