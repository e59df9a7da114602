"""Secrets in the cells of Markdown tables, told by the heading of their column."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from recall.text.masking.judge import is_password, is_token
from recall.text.masking.spans import Span

#: The line under the headings. It begins with its line break, by which it is found some ten times faster.
_RULE = re.compile(r"\n[ \t>]*+(?:\|[ \t]*+)?+:?-+:?[ \t]*+(?:\|[ \t]*+:?-+:?[ \t]*+)*+(?:\|[ \t]*+)?+\r?+(?=\n)")
_CELL_BORDER = re.compile(r"(?<!\\)\|")
_QUOTES = re.compile(r"[ \t>]*+")
_HEADING = re.compile(
    r"(?:(?P<password>pass[ _-]?word|passwd|pass[ _-]?phrase|passcode|passwort|kennwort|mot de passe|contraseña|senha"
    r"|пароль|パスワード|パスフレーズ|パスコード|pwd|pswd|密码|密碼|비밀번호)s?"
    r"|(?P<short>(?<![a-z])(?:pw|pass)|(?<![ァ-ヶー一-龠])パス)"
    r"|(?P<pin>暗証番号|(?<![a-z])pin(?:[ _-]?code|コード)?)"
    r"|(?P<token>(?:api|access|auth|secret|private|client|account|license|app)[ _-]?(?:key|token|secret)|token|secret"
    r"|(?:api|アクセス|認証|秘密|ライセンス)[ _]?キー|トークン|シークレット|鍵))"
    r"(?:[ _]?(?:\([^()]{1,24}\)|（[^（）]{1,24}）|\d{1,2}))?"
)
_HARMLESS = re.compile(
    r"(?:^|[^a-z])(?:no|not|max|min|num|total|input|output|prompt|completion|cache|csrf|xsrf|next|page|public|stop|special"
    r"|bypass|fake|dummy|example|forgot|reset)[ _-][a-z _-]*$"
)
#: A column that says whose the password is: what stands in the other one is meant to be used.
_WHOSE = re.compile(
    r"(?:user|log-?in|account|e-?mail|id|ssid|ユーザー?|アカウント|ログイン|メール|ネットワーク名|benutzer|usuario|utilisateur)"
    r"(?:[ _-]?(?:name|id|名|address|アドレス))?"
)
_DECORATION = re.compile("[*`~]")
_MARKS = "*_`~ \t\r"
_MOST_ROWS = 2000


class _Cell(NamedTuple):
    start: int
    end: int


def find_cells(text: str) -> Iterator[Span]:
    """The secrets of a text that stand in a column for such; a table is read once."""
    at = 0
    while rule := _RULE.search(text, at):
        at = rule.end()
        columns = _columns(text, text.rfind("\n", 0, rule.start()) + 1, rule.start()) if "|" in rule[0] else {}
        for _ in range(_MOST_ROWS if columns else 0):
            line_end = text.find("\n", at + 1)
            line_end = len(text) if line_end < 0 else line_end
            if "|" not in text[at:line_end]:
                break
            for column, cell in enumerate(_cells(text, at + 1, line_end)):
                if column in columns and (found := _secret(text, cell, *columns[column])):
                    yield found
            at = line_end
            if at >= len(text):
                return


def _columns(text: str, start: int, end: int) -> dict[int, tuple[str, bool]]:
    """The columns for secrets by number: what they hold, and whether any word there is a secret."""
    headings = [_DECORATION.sub("", text[cell.start : cell.end]).lower() for cell in _cells(text, start, end)]
    whose = any(_WHOSE.fullmatch(heading) for heading in headings)
    columns = {}
    for column, heading in enumerate(headings):
        name = next((name for name in _HEADING.finditer(heading) if name.end() == len(heading)), None)
        if name is None or _HARMLESS.search(heading, 0, name.start()) or heading.count(" ") > 4:
            continue
        kind = name.lastgroup or ""
        if kind != "short" or whose:
            columns[column] = ("password" if kind == "short" else kind, whose)
    return columns


def _secret(text: str, cell: _Cell, kind: str, whose: bool) -> Span | None:
    value = text[cell.start : cell.end]
    if kind == "token":
        return Span(*cell, "token") if is_token(value) else None
    whose = whose or text[cell.start - 1 : cell.start] == "`"
    if kind == "pin":
        return Span(*cell, "password") if value.isdecimal() and 4 <= len(value) <= 8 else None
    first = re.match(r"\S*[^\s.,;:]", value)
    if first is None or "|" in value:
        return None
    if first.end() < len(value):  # a password and a remark, or a sentence
        cell, value = _Cell(cell.start, cell.start + first.end()), first[0]
        return Span(*cell, "password") if is_password(value, named_plainly=False) else None
    return Span(*cell, "password") if is_password(value, named_plainly=whose) else None


def _cells(text: str, start: int, end: int) -> Iterator[_Cell]:
    """The cells of a line, without what is around their words; a border at the line's edge makes no empty cell."""
    quotes = _QUOTES.match(text, start, end)
    at = quotes.end() if quotes else start
    if text.startswith("|", at):
        at += 1
    for border in [*(border.start() for border in _CELL_BORDER.finditer(text, at, end)), end]:
        value = text[at:border]
        inner = value.strip(_MARKS)
        first = at + value.find(inner)
        yield _Cell(first, first + len(inner))
        at = border + 1
