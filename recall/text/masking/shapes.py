"""Secrets told by their own shape: key blocks, addresses with a password, headers, hashes, tokens with a known prefix.

Each shape has a word without which its pattern is not tried, so that a text without secrets costs little. Shapes of
vendors stand here only where the engine misses them: it wants more randomness than some have, or spaces around them.
"""

import re
from collections.abc import Iterator

from recall.text.masking.judge import is_password, is_placeholder, is_token
from recall.text.masking.shape import find, shape
from recall.text.masking.spans import Span


def _is_any(_value: str) -> bool:
    return True


def _is_header_value(value: str) -> bool:
    return (
        is_token(value, 8) or (is_password(value, named_plainly=True) and not value.isalpha()) or _is_word_token(value)
    )


def _is_word_token(value: str) -> bool:
    """Base64 of `user:password` may have no digit, but changes case or is long."""
    return len(value) >= 8 and value.isalpha() and not is_placeholder(value) and value != value.lower()


_NEW_LINE = r"(?:\r?\n|\\r\\n|\\n)"
#: A line of a key, bare, quoted in Markdown or a piece of a string in code; short only where it is the last.
_KEY_LINE = r"[ \t>|#*\"']*+[A-Za-z0-9+/=]{4,}+(?:\.\.\.|…)?[ \t\"',\\]*?"
_KEY_HEADER = r"[ \t>|#*]*+[A-Z][\w-]{1,20}: [^\n]{0,120}"
#: Nothing of a token stands before it or behind it. Not \\b: a key may stand beside Japanese.
_START, _END = "(?<![A-Za-z0-9_-])", "(?![A-Za-z0-9_-])"
#: A token that goes on in the next line, which holds nothing else.
_WRAPPED = r"(?:[ \t]*\\?\r?\n[ \t>|#*]*[A-Za-z0-9_.~+/=-]{12,}(?=[\"'`\\]{0,2}[ \t]*(?:\n|\Z)))*"

_AWS_KEY_ID = rf"{_START}(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{{16}}{_END}"

_SHAPES = (
    # A block without its END goes as far as its lines look like a key's.
    shape(
        "private-key",
        "private",
        rf"-----BEGIN[ A-Z0-9]{{0,40}}PRIVATE KEY(?: BLOCK)?-----"
        rf"(?:[^-]{{0,40000}}-----END[ A-Z0-9]{{0,40}}PRIVATE KEY(?: BLOCK)?-----"
        rf"|(?:(?:[ \t>|#*\"']*+{_NEW_LINE})*+(?:{_KEY_HEADER}|{_KEY_LINE})(?=[ \t]*(?:{_NEW_LINE}|[\"'`]|\Z)))*)",
        _is_any,
    ),
    shape(
        "private-key",
        "private-lines",
        rf"Private-Lines:[ \t]*\d+((?:{_NEW_LINE}{_KEY_LINE}(?={_NEW_LINE}|\Z))+)",
        _is_any,
    ),
    # An address never has letters where its port is, so all up to the last @ is the password.
    shape(
        "url-password",
        "://",
        r"://(?<=[a-z0-9]://)[^\s/:@\"'<>`]{0,100}:(?!\d{1,5}[/?#])"
        r"([^\s\"'<>`/?#@]{1,200}(?:@[^\s\"'<>`/?#@]{1,200})*|[^\s\"'<>`]{1,200})@(?=[^\s@\"'<>`]*[\w\]])",
    ),
    shape("url-token", "://", r"://([A-Za-z0-9_.~%+=-]{10,255})@(?=[\w\[])", is_token),
    # The value may stand on the next line, and go on there.
    shape(
        "authorization",
        "authorization authentication",
        r"auth(?:orization|entication)[\"'`*]{0,3}\s{0,4}(?:[:=,]|：|=>)[\s\\>|\"'`]{0,12}"
        r"(?:(?:bearer|basic|token|digest|apikey|api-key|key|negotiate|splunk|sso-key|bot)[\s\\>|:=\"']{1,12})?"
        rf"([A-Za-z0-9_.~+/=:-]{{6,}}{_WRAPPED})",
        lambda value: _is_header_value(value.split()[0]),
    ),
    shape(
        "authorization",
        "bearer",
        rf"bearer[\s\\>|:\"'`]{{1,12}}([A-Za-z0-9_.~+/=-]{{10,}}{_WRAPPED})",
        lambda value: is_token(value.split()[0]),
    ),
    shape(
        "jwt", "eyj", r"(?<![A-Za-z0-9_])eyJ[\w-]{10,}\.(?:\s{0,4}eyJ[\w-]{6,}|[\w-]{20,})(?:\.\s{0,4}[\w-]*)?", flags=0
    ),
    shape(
        "cookie",
        "cookie",
        r"cookie[\"'`]?\s{0,3}[:=]\s{0,3}[\"'`]?([\w.-]+=[^\s;\"'`]+(?:;\s?[\w.-]+(?:=[^\s;\"'`]*)?)*)",
        lambda value: any(is_token(pair.partition("=")[2], 12) for pair in value.split(";")),
    ),
    shape(
        "password-hash",
        "$",
        r"\$(?:2[abxy]?|1|5|6|7|y|gy|apr1|argon2(?:id?|d)|scrypt|pbkdf2[\w-]*)\$[\w./+=,$-]{20,200}",
        flags=0,
    ),
    # A line of a pgpass file: host, port, database, user, password.
    shape(
        "password",
        ":",
        r"^[ \t>|\"'`]*(?:[\w.-]+|\*):(?:\d{4,5}|\*):(?:[a-z_][\w.-]*|\*):(?:[a-z_][\w.-]*|\*):"
        r"([^\s\"'`]{3,100})(?=[\"'`]?[ \t]*$)",
        flags=re.IGNORECASE | re.MULTILINE,
    ),
    # `credentials: admin / ...`, a user and the password with a stroke between them.
    shape(
        "password",
        "login credential creds id/p user/p ログイン 認証情報 アカウント",
        r"(?:log-?in|credentials?|creds|id ?/ ?p(?:ass)?w(?:or)?d?|user(?:name)? ?/ ?pass(?:word)?"
        r"|ログイン(?:情報)?|認証情報|アカウント)(?: (?:for|of|to|on)[^\n:=：/]{1,30})?"
        r"(?:[\"'`*]{0,2}[ \t]?[:=：は]|[ \t](?:is|are))[ \t]{0,3}[\"'`]?[\w.@+-]{1,60}[\"'`]?[ \t]?/[ \t]?[\"'`]?"
        r"([^\s\"'`、。」]{6,60})",
        lambda value: is_password(value, named_plainly=False),
    ),
    shape("password", "identified", r"identified\s+(?:with\s+\w+\s+)?by\s+[\"']([^\"'\n]{3,})[\"']"),
    shape(
        "totp-seed",
        "otp 2fa mfa authenticator",
        r"(?i:[th]?otp|2fa|mfa|authenticator)[^\n]{0,24}?[:=：\s]{1,3}\(?"
        r"([A-Z2-7]{4}(?:[ -]?[A-Z2-7]{4}){3,})(?![A-Za-z0-9])",
        flags=0,
    ),
    # 12 to 24 words as long as those of the BIP-39 lists.
    shape(
        "seed-phrase",
        "phrase mnemonic recovery フレーズ ニーモニック",
        r"(?:(?i:seed|recovery|secret|backup|wallet)[ _-]?(?i:phrase|words)|(?i:mnemonic)(?i:[ _-]phrase)?"
        r"|(?:シード|リカバリー?|復元|秘密の?)フレーズ|ニーモニック)"
        r"[^\w\n]{0,6}(?:is|は)?[^\w\n]{0,6}\n?[\s>]*(?:\d+[.)] ?)?"
        r"([a-z]{3,8}(?:[ ,\n]+(?:\d+[.)] ?)?[a-z]{3,8}){11,23})(?![A-Za-z])",
        _is_any,
        flags=0,
    ),
    # A few small words behind `passphrase:`, to the end of the line.
    shape(
        "password",
        "phrase フレーズ 合言葉",
        r"(?:(?i:pass[ _-]?phrase)|パスフレーズ|合言葉)[\"'`*]{0,3}[ \t]*[:=：][\"'`* \t]{0,4}"
        r"([a-z]{3,9}(?:[ -][a-z]{3,9}){2,11})(?=[ \t]*(?:\n|\Z))",
        _is_any,
        flags=0,
    ),
    shape("webhook", "webhook", r"discord(?:app)?\.com/api/(?:v\d+/)?webhooks/\d{6,}/([\w-]{20,})"),
    shape("webhook", "webhook.office logic.azure", r"(?:webhook\.office|logic\.azure)\.com[:\d]*/(\S{30,})"),
    # The engine knows these at one length each; their makers do not keep to it, nor do people who copy them.
    shape(
        "token",
        "sk- sk_ pk_ rk_ ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ glpat- hf_ gsk_ npm_ ya29. nvapi- xai- whsec_ aiza",
        rf"{_START}((?:sk-|[spr]k_(?:live|test)_|gh[opusr]_|github_pat_|glpat-|hf_|gsk_|npm_|ya29\.|nvapi-|xai-|whsec_|AIza)[\w-]{{20,}})",
        lambda value: is_token(value, 24),
        flags=0,
    ),
    shape("telegram-bot-token", ":aa", rf":(?<=\d{{7}}:)(AA[\w-]{{33}}){_END}"),
    shape(
        "aws-access-token",
        "akia asia abia acca a3t",
        _AWS_KEY_ID,
        flags=0,
    ),
    shape("azure-ad-client-secret", "q~", r"(?<![\w~.-])[\w~.]{3}\dQ~[\w~.-]{31,34}(?![\w~-])", flags=0),
    shape("planetscale-token", "pscale_", rf"{_START}pscale_[a-z]{{2,8}}_[\w=.-]{{30,64}}{_END}"),
    shape(
        "flyio-access-token",
        "fo1_ fm1 fm2_",
        rf"{_START}(?:fo1_[\w-]{{43}}|fm[12][ar]?_[\w+/=-]{{60,}}){_END}",
        flags=0,
    ),
    shape("clickhouse-cloud-api-secret-key", "4b1d", rf"{_START}4b1d[A-Za-z0-9]{{38}}{_END}", flags=0),
)


#: A secret key of Amazon's has no mark of its own: it is known by the key id that stands within so many characters.
_BESIDE = 400
_KEY_ID = re.compile(_AWS_KEY_ID, re.ASCII)
_SECRET_KEY = re.compile(r"(?<![A-Za-z0-9/+=_-])(?=[^a-z]*[a-z])(?=[^A-Z]*[A-Z])[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=_-])")
_LETTER_BESIDE_DIGIT = re.compile(r"(?=[A-Za-z]\d|\d[A-Za-z])", re.ASCII)
#: What ends a key whose beginning is gone, and a line that may stand above it.
_KEY_END = re.compile(r"-----END[ A-Z0-9]{0,40}PRIVATE KEY(?: BLOCK)?-----", re.ASCII)
_WHOLE_KEY_LINE = re.compile(_KEY_LINE, re.ASCII)
_REST_OF_KEY_LINE = re.compile(r"[ \t>|#*\"']*[A-Za-z0-9+/=]*", re.ASCII)


def find_shapes(text: str) -> Iterator[Span]:
    """The secrets in a text that have a shape of their own; spans may overlap."""
    yield from find(_SHAPES, text)
    yield from _beside_key_ids(text)
    for match in _KEY_END.finditer(text):
        yield Span(_top_of_key(text, match.start()), match.end(), "private-key")


def _beside_key_ids(text: str) -> Iterator[Span]:
    """Amazon's secret keys; a stretch between two ids is searched once."""
    searched = 0
    for key_id in _KEY_ID.finditer(text):
        if is_placeholder(key_id[0]):
            continue
        for found in _SECRET_KEY.finditer(text, max(searched, key_id.start() - _BESIDE), key_id.end() + _BESIDE):
            if len(_LETTER_BESIDE_DIGIT.findall(found[0])) >= 3 and not is_placeholder(found[0]):
                yield Span(*found.span(), "aws-secret-key")
        searched = key_id.end() + _BESIDE - 40


def _top_of_key(text: str, end: int) -> int:
    """Where the lines of a key begin that stand above position `end`; read upwards, so that it is done in one pass."""
    start = text.rfind("\n", 0, end) + 1
    if not _REST_OF_KEY_LINE.fullmatch(text, start, end):
        return end
    while start:
        above = text.rfind("\n", 0, start - 1) + 1
        if not _WHOLE_KEY_LINE.fullmatch(text, above, start - 1):
            break
        start = above
    return start
