"""Secrets told by the name before them: `password: ...`, `API_KEY=...`, `--token ...`, `パスワードは...`.

The name is found first and what follows is read from there, so a long text is walked once.
"""

import re
from collections.abc import Iterator

from recall.text.masking.judge import is_password, is_token, is_uuid
from recall.text.masking.sentences import find_around
from recall.text.masking.spans import Span


def _after(words: str, between: str = "") -> str:
    """A pattern for the place right behind one of the words, or behind one of them and a character of `between`."""
    places = [f"(?<={word})" for word in words.split()]
    return "|".join([*places, *(place.replace(")", f"[{between}])") for place in places if between)])


_PASSWORD_NAMES = (
    r"pass[_ -]?word|passwd|pass[_ -]?phrase|passcode|passwort|kennwort|mot de passe|contraseña|senha|пароль"
    rf"|(?:(?<![a-z])|{_after('db user admin root my sql pg smtp mail ftp login store')})(?:pwd|pass|pw|pswd)(?![a-z])"
    r"|パスワード|パスフレーズ|パスコード|暗証番号|合言葉|あいことば|密码|密碼|口令|비밀번호|암호|(?<![ァ-ヶー一-龠])パス(?=[:：])"
    rf"|(?:{_after('wifi wi-fi wlan wpa wpa2 wpa3', '_ -')}|(?<=fi の )|(?<=fi の)|(?<=fiの )|(?<=fiの))"
    r"(?:key(?![a-z])|キー|鍵)"
)
_KEY_OWNERS = (
    "api app application auth access account private secret signing signature encryption master shared service client "
    "consumer session license deploy webhook subscription publishable management admin hmac storage instrumentation "
    "security root user server integration project ssh aes jwt crypto"
)
_TOKEN_NAMES = (
    rf"token|secret|credentials?|(?:{_after(_KEY_OWNERS, '_ -')})key"
    rf"|(?:{_after('api client access', '_-')})(?:srt|sec)(?![a-z])"
    r"|_auth(?![a-z])|(?<![a-z])(?:auth|sig|sess(?:ion)?[_-]?id|phpsessid|jsessionid|sid|pat|dsn|totp|seed)(?![a-z])"
    r"|personal[_ -]?access|service[_ -]?account"
    r"|トークン|シークレット|秘密鍵|暗号鍵|認証情報|資格情報|クレデンシャル|署名鍵"
    r"|(?:api|アクセス|認証|秘密|ライセンス|暗号化?|アプリ)[ _]?(?:キー|鍵)"
    r"|(?<![ァ-ヶー一-龠])(?:キー|鍵)(?=[ \u3000]?[はが:：=＝「])|密钥|密鑰|令牌|토큰"
)
_NAME = re.compile(rf"(?P<password>{_PASSWORD_NAMES})|(?:{_TOKEN_NAMES})")
#: How each of the names begins. Found some thirty times faster than the names themselves.
_BEGINNING = re.compile(
    "pass|pwd|pw|pswd|kennwort|mot de passe|contras|senha|пароль"
    "|パス|暗証|合言葉|あいことば|密码|密碼|口令|비밀번호|암호"
    "|token|secret|credential|key|srt|sec|_?auth|sig|sess|phpsess|jsess|sid|pat|dsn|totp|seed|personal|service"
    "|トークン|シークレット|秘密|暗号|認証|資格|クレデ|署名|api|アクセス|ライセンス|アプリ|キー|鍵|密钥|密鑰|令牌|토큰"
)
#: Names that say that what follows is no secret, read from the start of the name.
_HARMLESS = re.compile(
    r"(?:^|[^a-z])(?:non[_-]?matching|no[tn][_-]|fake|dummy|example|sample|mock|invalid|wrong|placeholder|public|authenticity"
    r"|csrf|xsrf|max|min|num|total|input|output|prompt|completion|cache|pad|eos|bos|unk|stop|page|next[_-]?page"
    r"|continuation|sync|cancel(?:lation)?)[a-z_-]*$",
    re.IGNORECASE,
)
#: A value is judged by its beginning, for a text that is all names and signs must not be read to its end at each name.
_JUDGED = 512
_LONGEST_QUOTED = 4096
_BLANK = r"[ \t\u3000]"
_DECORATION = r"[\"'`*_\])）」』}]{0,4}"
#: What may stand between the keyword and its value, from the plainest to the loosest.
_PLAIN = re.compile(
    r"(?P<suffix>[\w.-]{0,24}?)(?:"
    rf"(?:{_BLANK}?[(（][^()（）\n]{{1,24}}[)）])?{_DECORATION}{_BLANK}*"
    rf"(?:=>|:=|[:=：＝])(?:{_BLANK}*(?:str|[Ss]tring|Optional\[str\]|&str|bytes){_BLANK}*=)?{_DECORATION}{_BLANK}*"
    rf"(?:[|>][+-]?{_BLANK}*\n\s{{0,12}})?"
    r"|\(\s?(?=[\"'`])|>(?=[^<\s])|[\"']?,?\s{1,12}[\"']?value[\"']?\s?[:=]\s?)",
    re.ASCII,
)
_LOOSE = re.compile(
    rf"(?P<suffix>[\w.-]{{0,24}}?){_DECORATION}(?:{_BLANK}*(?:は|が|を|に|って|[:=：＝|、,])\s{{0,12}}"
    rf"|{_BLANK}*(?:[(（]|(?=[「『“\"'`]))"
    rf"|\s{{1,12}}(?:(?:is|was|to|lautet|ist|est|es)\b|=)?(?:{_BLANK}*[:=：])?\s{{0,4}}){_DECORATION}",
    re.ASCII,
)
#: `password of the nas is ...`: what it is of stands between.
_FAR = re.compile(
    rf"(?P<suffix>){_DECORATION}{_BLANK}(?:of|for|to|on|at|in){_BLANK}[^\n.:;=!?→]{{1,40}}?"
    rf"(?:{_BLANK}(?:is|was){_BLANK}|{_BLANK}?(?:[:=]|→|->){_BLANK}{{0,2}}){_DECORATION}"
)
_WORD_BEFORE = re.compile(r"[^\w-]", re.ASCII)
_TELLS = re.compile(r"は|\bis\b", re.ASCII)
_OPTION = re.compile(r"(?:^|[\s\"'`])--?[\w-]*$")
_QUOTED = re.compile(
    r"\\?\"((?:[^\"\\\n]|\\[^\"\n])+)\\?\"|'((?:[^'\\\n]|\\.)+)'|`([^`\n]+)`|「([^」\n]+)」|『([^』\n]+)』|“([^”\n]+)”"
)
_ASCII_RUN = re.compile(r"[!#-&*-;=?-~]+", re.ASCII)
_ANY_RUN = re.compile(r"[^\s\"'`<、。」』）\u3000]+")
_TRAILING = re.compile(r"[.,;:)\]}|*]+$")
#: Where a value that is one of several ends: `Password=x;Encrypt=yes`, `?token=x&page=2`.
_NEXT_PAIR = re.compile(r"[;&,](?:[\w .-]{1,40}=|$)|\\n|</")
#: The name of a file or folder that a path goes on behind, and one as people give it to what holds no secret.
_NAME_OF_FILE = re.compile(
    r"([^\s/\\]{6,200}?)(?:[/\\]|\.(?:md|markdown|mdx|txt|rst|org|json[lc]?|ya?ml|toml|ini|cfg|conf|env|csv|tsv|log|pdf|docx?"
    r"|xlsx?|html?|xml|png|jpe?g|gif|svg|webp|zip|gz|tar|tgz|bak|old|orig|tmp|db|sqlite|py|[jt]sx?|sh|go|rs|rb|java|c|h|sql)"
    r"(?![\w(]))",
    re.IGNORECASE,
)
_NAME_OF_FOLDER = re.compile(r"[a-z_.@-]+\d{0,2}")
_OPEN_LINE = re.compile(rf"{_BLANK}*(?:[\"'`,;|。、」』）).（(<#\]}}*]|//|です|$)", re.MULTILINE)
_PLAIN_SUFFIX = re.compile(
    r"(?:[_.-]?(?:\d{1,3}|prod|production|dev|staging|test|root|admin|db|new|old|main|local))?", re.IGNORECASE
)


def find_named(text: str) -> Iterator[Span]:
    """The secrets in a text that a name announces; spans may overlap."""
    low = text.replace("İ", "i").lower()  # the only letter that is longer in lower case
    end = 0
    for beginning in _BEGINNING.finditer(low):
        name = _NAME.match(low, beginning.start())
        if name is None or name.end() <= end:
            continue
        end = name.end()
        before = low[max(0, name.start() - 40) : name.start()]
        if _HARMLESS.search(_WORD_BEFORE.split(before)[-1]):
            continue
        if name["password"]:
            yield from (Span(*found, "password") for found in find_around(text, name.start(), end))
        is_option = _OPTION.search(before) is not None
        for pattern in (_PLAIN, _LOOSE, _FAR):
            if pattern is not _PLAIN and name[0] == "pass":
                continue  # the verb, or a ratio's other half
            link = pattern.match(text, end)
            plain = link is not None and (pattern is _PLAIN or (is_option and link[0].isspace()))
            found = link and _value(text, link, is_password_name=name["password"] is not None, plain=plain)
            if found:
                yield Span(*found, "password" if name["password"] else "token")
                end = found[1]
                break


def _value(text: str, link: re.Match[str], *, is_password_name: bool, plain: bool) -> tuple[int, int] | None:
    """Where the value behind a name stands, None where nothing there is a secret."""
    start = link.end()
    quoted = _QUOTED.match(text, start, start + _LONGEST_QUOTED)
    if quoted:
        start, end = quoted.span(quoted.lastindex or 0)
    else:
        run = _ANY_RUN if is_password_name and plain else _ASCII_RUN
        end = _end_of_run(run, text, start, start + _JUDGED)
        if text.startswith(("...", "…", "("), end):
            return None  # only its beginning was written down, or it is the name of a function
    if _is_secret(text, link, start, end, is_password_name=is_password_name, plain=plain, quoted=quoted is not None):
        return start, end if quoted else _end_of_run(run, text, start, len(text))
    if plain and not quoted:
        return _in_a_path(text, link, end, is_password_name=is_password_name)
    return None


def _in_a_path(text: str, link: re.Match[str], end: int, *, is_password_name: bool) -> tuple[int, int] | None:
    """Where a secret stands that is the name of a file or a folder, `password=....md`: before the ending or stroke."""
    part = _NAME_OF_FILE.match(text, link.end(), end)
    if part is None or text[part.start() - 1] not in "=:：" or not _PLAIN_SUFFIX.fullmatch(link["suffix"]):
        return None
    if not is_password_name:
        return part.span(1) if is_token(part[1]) else None
    is_note = link[0].endswith("=") and part[0].lower().endswith((".md", ".txt"))
    is_secret = is_password(part[1], named_plainly=is_note) and (is_note or not _NAME_OF_FOLDER.fullmatch(part[1]))
    return part.span(1) if is_secret else None


def _is_secret(
    text: str, link: re.Match[str], start: int, end: int, *, is_password_name: bool, plain: bool, quoted: bool
) -> bool:
    value = text[start:end]
    if not is_password_name:
        of_an_id = (link[0].isspace() and not plain) or text.startswith(("id", "Id", "ID"), link.end("suffix") - 2)
        return is_token(value, 10 if plain else 14) and not (of_an_id and is_uuid(value))
    told = plain or (quoted and _TELLS.search(link[0]) is not None)
    alone = quoted or _OPEN_LINE.match(text, end) is not None
    return is_password(value, named_plainly=told and alone and _PLAIN_SUFFIX.fullmatch(link["suffix"]) is not None)


def _end_of_run(run: re.Pattern[str], text: str, start: int, limit: int) -> int:
    """Where an unquoted value ends: before the next `name=` of a list, and without the sentence's punctuation."""
    whole = run.match(text, start, limit)
    end = whole.end() if whole else start
    next_pair = _NEXT_PAIR.search(text, start, end)
    if next_pair and next_pair.start() > start:
        return next_pair.start()
    trailing = _TRAILING.search(text, start, end)
    return trailing.start() if trailing and trailing.start() > start else end
