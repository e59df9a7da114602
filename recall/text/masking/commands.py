"""Passwords that stand in a command as it was typed: `docker login -u ann -p ...`, `redis-cli -a ...`.

What the option means is told by the command before it: `-p` is a port to docker run, and a folder's parents to mkdir.
"""

import re
from collections.abc import Iterator

from recall.text.masking.judge import is_password
from recall.text.masking.shape import find, shape
from recall.text.masking.spans import Span

#: The arguments before the option, up to the next command; a line may go on behind a backslash.
_ARGUMENTS = r"(?:[^\n|;&\\]|\\\r?\n|\\[^\n]){0,200}?\s"
#: What follows a command's last argument, or is its next one, and no word of a sentence is.
_NEXT = r"(?=[\"'`]?[ \t]*(?:$|[\"'`)|;&>#、。]|\\|--?[a-z]|[\w-]+[.:/]\w|localhost))"
#: A value as a shell reads it. Letters alone are one only where the command ends or goes on behind them.
_VALUE = (
    r"(?:\"([^\"\n$]{3,100})\"|'([^'\n]{3,100})'"
    rf"|((?=[^\s\"'`\d]{{0,100}}\d)[^\s\"'`]{{3,99}}[^\s\"'`.,;:)]|[^\s\"'`]{{3,99}}[^\s\"'`.,;:)]{_NEXT}))"
)
_SMB_USER = r"[a-z][\w.@\\/-]{0,60}%"
_PORTS = re.compile(r"[\d.:]{9,}(?:/tcp|/udp)?$|\d{1,5}(?::\d{1,5})*(?:/tcp|/udp)?$", re.ASCII)
_LINES = re.MULTILINE


def _is_argument(value: str) -> bool:
    return is_password(value, named_plainly=True) and (value.isdecimal() or not _PORTS.match(value)) and len(value) > 3


def _is_no_port(value: str) -> bool:
    return _is_argument(value) and not (value.isdecimal() and len(value) < 6)


_COMMANDS = (
    shape(
        "basic-credentials",
        "curl wget",
        r"(?:curl|wget)\b[^\n]{0,300}?\s(?:-u|--user)[ =]?[\"']?[^\s:\"'$]{1,60}:([^\s\"'`]{3,100})",
    ),
    shape(
        "password",
        "sshpass mysql psql",
        r"\b(?:sshpass\s+|mysql\w*\b[^\n|;]{0,80}?\s)-p[ ]?[\"']?([^\s\"'-][^\s\"']{3,60})",
    ),
    shape("password", "securestring", r"ConvertTo-SecureString\s+(?:-\w+\s+)*[\"']([^\"'\n]{3,})[\"']"),
    shape(
        "password",
        "login",
        r"\b(?:docker|podman|nerdctl|buildah|skopeo|oras|helm|az|acr|oc|argocd|ibmcloud|cf|vault)[ \t]"
        rf"[^\n|;&]{{0,30}}?(?<=[ \t])login{_ARGUMENTS}-p(?:[ \t=]{{1,4}})?{_VALUE}",
        _is_no_port,
        _LINES,
    ),
    shape(
        "password",
        "redis-cli valkey-cli",
        rf"\b(?:redis|valkey)-cli\b{_ARGUMENTS}-a[ \t]?{_VALUE}",
        _is_argument,
        _LINES,
    ),
    shape("password", "sqlcmd bcp", rf"\b(?:sqlcmd|bcp)\b{_ARGUMENTS}-P[ \t]?{_VALUE}", _is_argument, _LINES),
    shape(
        "password",
        "mongo mariadb",
        rf"\b(?:mongo(?:sh|dump|restore|export|import|stat|top|files)?|mariadb(?:-\w{{1,20}})?)"
        rf"{_ARGUMENTS}-p[ \t]?{_VALUE}",
        _is_no_port,
        _LINES,
    ),
    # `-U user%password` of the programs of Samba, or behind the share that it is for.
    shape(
        "password",
        "%",
        r"(?:\b(?:smbclient|smbget|smbcacls|rpcclient|winexe|net (?:ads|rpc))\b|//[\w.-]{1,80}/[\w$.-]{1,80})"
        rf"{_ARGUMENTS}(?:-U|--user)[ \t=]?(?:\"{_SMB_USER}([^\"\n]{{3,99}})\"|'{_SMB_USER}([^'\n]{{3,99}})'"
        rf"|{_SMB_USER}([^\s\"'`]{{3,99}}[^\s\"'`.,;:)]))",
        _is_argument,
        _LINES,
    ),
    shape(
        "password",
        "ftp",
        r"\bs?ftps?\b[^\n]{0,80}?\buser(?:name)?[ \t:=]{1,4}[^\s:=]{1,60}[ \t,;/]{1,4}"
        rf"pass[ \t:=]{{1,4}}{_VALUE}",
        _is_argument,
        _LINES | re.IGNORECASE,
    ),
    shape(
        "password",
        "user",
        r"\buser(?:name)?[ \t:=]{1,4}[^\s:=]{1,60}[\s,;/]{1,4}pass[ \t:=]{1,4}([^\s\"'`]{5,99}[^\s\"'`.,;:)])",
        lambda value: is_password(value, named_plainly=False),
    ),
)


def find_arguments(text: str) -> Iterator[Span]:
    """The passwords in a text that are arguments of commands; spans may overlap."""
    return find(_COMMANDS, text)
