"""Judging a value: is it a credential, or a placeholder, a path, a reference, a word that only stands where one would?

All functions are pure and look at one value of up to some hundred characters.
"""

import re

#: A token shorter than this has too little randomness to be told from a word.
MIN_TOKEN = 10
#: So many characters show what a value is.
_JUDGED, _JUDGED_OF_PASSWORD = 512, 64

_REFERENCE = re.compile(
    r"""[$%@]?[{(<\[][^\s]*|\$\w+$|%\w+%$|&\w+$|`"""  # ${X} {{ x }} <x> $X %X% *x `cmd`
    r"""|(?:process|import\.meta|os|sys|self|this|config|settings|secrets|vars|env|data|var|local|params|props)\.[a-z_]"""
    r"""|(?:os\.)?(?:getenv|environ)\b|ENV\[|ref\+|op://|vault:|arn:|![a-z]+$""",
    re.ASCII,
)
_PLACEHOLDER = re.compile(
    r"\.\.\.|…|\*{3}"
    r"|(?:^|[^a-z])(?:your|(?:my|the|some|any|an?)[_ -])(?:[a-z]+[_ -]|[_ -])*"
    r"(?:key|token|secret|password|passwd|pass|pw|value)"
    r"|placeholder|change[_ -]?(?:me|it|this)|replace[_ -]?(?:me|this|with)|redacted|removed|hidden|dummy"
    r"|(?:put|insert|enter|add|paste|type)[_ -](?:your|the|it)"
    r"|(?:key|token|secret|password|string)[_-]?(?:goes[_-]?)?here"
    r"|(?:^|[^a-z])example(?:[^a-z]|key|$)|example(?:key)?$|^(?:fake|sample|mock|todo|fixme|none|null|nil|n/?a)(?:[^a-z]|$)",
    re.ASCII | re.IGNORECASE,
)
#: Words that stand where a password would: types, states, descriptions, the names themselves.
_WORDS = frozenset(
    "string str text int integer number bool boolean bytes char varchar any object optional required require needed "
    "true false yes no on off null none nil undefined empty unset default auto new old current same missing invalid "
    "valid wrong incorrect expired changed reset hash hashed encrypted bcrypt argon2 argon2id sha256 md5 plain "
    "password passwd pass pwd passphrase secret token key apikey api_key credential credentials value username user "
    "root_password db_password userpass pw test user_password input field basic bearer oauth oauth2 jwt saml ldap sso "
    "plaintext 1password bitwarden keychain keepass lastpass vault "
    "必須 任意 なし 無し 不要 あり 有り 未設定 設定済み 非公開 省略 同上 変更 空 "
    "パスワード トークン 例 別途 忘れた 要変更".split()
)
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.ASCII | re.IGNORECASE)
_PATH = re.compile(
    r"(?:[~.]{0,2}/|[A-Za-z]:[\\/]|\\\\)[\w.@-]*[A-Za-z_.-](?:[\\/]|$)"
    r"|(?:[\w.@-]+/)+[\w@-]+\.[a-z]{1,5}$|(?:[a-z_.@-]+\d{0,3}/)+(?:[a-z_.@-]+\d{0,3}(?:\.[a-z0-9]{1,5})?)?$",
    re.ASCII,
)
_URL = re.compile(r"[a-z][a-z0-9+.-]{1,20}://|mailto:|data:", re.ASCII | re.IGNORECASE)
_CODE = re.compile(
    r"(?=[a-z]*_)[a-z_]*(?:pass|pwd|secret|token|auth|key)[a-z_]*$|[A-Za-z_][\w.]*[(\[]|[A-Za-z_]\w*(?:\.[A-Za-z_]+)+$",
    re.ASCII,
)
_DATE_OR_NUMBER = re.compile(
    r"\d{4}-\d\d-\d\d\S*$|[+-]?\d{1,11}(?:\.\d+)*[a-z%]{0,3}$|v?\d+(?:\.\d+){1,3}\S{0,8}$", re.ASCII
)
_CHECKSUM = re.compile(r"(?:sha\d{1,3}|md5)[-:]|[a-z0-9]{1,8}~?:[0-9a-f]{32,}$", re.ASCII | re.IGNORECASE)
#: Sentences about a password, which in Japanese have no spaces.
_PROSE = re.compile(
    "[^\\W\\d_]を|\\d(?:文字|桁|字|回|日|分|時)|参照|管理|保管|共有|忘れ|変更|不明|設定|同じ|以上|以内|ください|です|ます|する"
)
_LETTER_AND_DIGIT = re.compile(r"(?=[A-Za-z]\d|\d[A-Za-z])", re.ASCII)
_RUN = re.compile(r"(.)\1*", re.DOTALL)
_COUNTING = re.compile("(?=(?:01|12|23|34|45|56|67|78|89|90))")


def is_placeholder(value: str) -> bool:
    """Whether a value stands for a credential without being one: `YOUR_API_KEY`, `xxxx`, `<token>`, `${TOKEN}`."""
    return (
        _REFERENCE.match(value) is not None
        or _PLACEHOLDER.search(value) is not None
        or value.lower() in _WORDS
        or _longest_run(value) >= max(4, len(value) // 3)
        or len(set(value)) <= min(len(value) // 4, 4)
        or _counts_up(value)
    )


def is_uuid(value: str) -> bool:
    """Whether a value is a UUID in its usual form."""
    return _UUID.fullmatch(value) is not None


def is_token(value: str, least: int = MIN_TOKEN) -> bool:
    """Whether a value of at least `least` characters looks machine-made: letters and digits mixed, or many digits.

    Paths, addresses, code, dates, numbers, checksums and placeholders do not.
    """
    value = value[:_JUDGED]
    if len(value) < least or not value.isascii() or " " in value:
        return False
    made = is_uuid(value) or (value.isdecimal() and len(value) >= 15)
    return (made or len(_LETTER_AND_DIGIT.findall(value)) >= 2 or _is_mixed(value)) and not _is_something_else(value)


def is_password(value: str, *, named_plainly: bool) -> bool:
    """Whether a value behind the word password is one.

    Behind a clear `password:` any text of four characters or more is, in whatever script (`named_plainly`); elsewhere
    only what no word looks like: letters with digits, or marks within.
    """
    value = value[:_JUDGED_OF_PASSWORD]
    if _is_something_else(value):
        return False
    if named_plainly:
        return len(value.encode("utf-8", "replace")) >= 4 and not (_PROSE.search(value) and not value.isascii())
    letters = any(map(str.isalpha, value)) and _PROSE.search(value) is None
    return len(value) >= 6 and letters and any(map(str.isdigit, value)) and value.isascii()


def _is_something_else(value: str) -> bool:
    return is_placeholder(value) or any(
        pattern.match(value) for pattern in (_PATH, _URL, _CODE, _DATE_OR_NUMBER, _CHECKSUM) if not value.isdecimal()
    )


def _is_mixed(value: str) -> bool:
    """Whether cases change too often for words put together: every word of camelCase has several small letters."""
    if len(value) < 20 or not value.isalnum():
        return False
    return len(re.findall("[A-Z]{2}[a-z]|[a-z][A-Z](?![a-z]{2})", value)) >= len(value) // 6


def _counts_up(value: str) -> bool:
    """Whether at least twelve digits in a row count up, as people type them: `123456789012`."""
    steps = [match.start() for match in _COUNTING.finditer(value)]
    return any(last - first == 10 for first, last in zip(steps, steps[10:], strict=False))


def _longest_run(value: str) -> int:
    return max((len(match.group()) for match in _RUN.finditer(value.lower())), default=0)
