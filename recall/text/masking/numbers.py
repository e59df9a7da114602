"""Secrets of digits: the numbers of payment cards, and PINs of doors, safes and cards."""

import re
from collections.abc import Iterator

from recall.text.masking.shape import find, shape
from recall.text.masking.spans import Span

#: How the numbers of the issuers begin (ISO/IEC 7812): Visa, Mastercard, American Express, Diners Club, Discover, JCB,
#: UnionPay; and how many digits they have.
_ISSUERS = (
    (re.compile("4"), {13, 16, 19}),
    (re.compile("5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720"), {16}),
    (re.compile("3[47]"), {15}),
    (re.compile("3(?:0[0-5]|[689])"), {14, 16, 17, 18, 19}),
    (re.compile("6(?:011|4[4-9]|5)"), {16, 17, 18, 19}),
    (re.compile("35(?:2[89]|[3-8])"), {16, 17, 18, 19}),
    (re.compile("62"), {16, 17, 18, 19}),
)
#: In groups as they are printed, or without: then only in the lengths that no article, time or record number has.
_CARD = (
    r"[2-6](?<![\w.+/#-].)\d{3}(?:([ -])\d{4}\1\d{4}\1\d{4}(?:\1\d{3})?|([ -])\d{6}\2\d{4,5}"
    r"|\d{10,12})(?![\w-]|[.,]\d|[ ]\d{4}(?!\d))"
)
_NAMED_CARD = (
    r"(?:card|visa|カード)(?:[ ]?(?:number|no\.?|番号))?[\"'`*]{0,3}[ \t]{0,2}(?:[:=：は#]|is)?[ \t]{0,2}[\"'`*「]{0,3}"
    r"(\d(?:[ -]?\d){12,18})(?![\w-])"
)
_OF_WHAT = (
    r"(?:safe|door|gate|garage|locker|keypad|alarm|card|debit card|credit card|bank|atm|sim|phone|ipad|iphone|tablet)"
)
_OF_WHAT_JA = r"(?:金庫|玄関|ドア|扉|裏口|勝手口|倉庫|ロッカー|宅配ボックス|スマホ|携帯|カード|口座|SIM|入口|通用口)"
_DIGITS = r"(\d{4,8})(?![\w:/%-]|[.,]\d)"
_IS = r"[\"'`*]{0,3}[ \t]{0,2}(?:(?:[:=：は]|→|->|(?:is|was)[ \t:])[ \t]{0,2})?[\"'`*「]{0,3}"


def is_card(value: str) -> bool:
    """Whether digits, with or without groups, are the number of a payment card: its issuer, length and check digit."""
    digits = [int(digit) for digit in value if digit.isdecimal()]
    number = "".join(map(str, digits))
    if not any(issuer.match(number) and len(number) in lengths for issuer, lengths in _ISSUERS):
        return False
    doubled = [digit * 2 - 9 * (digit > 4) for digit in digits[-2::-2]]
    return (sum(doubled) + sum(digits[-1::-2])) % 10 == 0 and len(set(digits)) > 1


def _is_any(_value: str) -> bool:
    return True


_NUMBERS = (
    shape(
        "password",
        "pin",
        r"(?<![A-Za-z_])PIN(?: ?(?:[Cc]ode|コード|番号))?[ \t]?(?:[:=：は]|is)[ \t]?(\d{4,8})(?!\d)",
        flags=0,
    ),
    shape(
        "password",
        "pin code combination",
        rf"(?<![\w-])(?:{_OF_WHAT}(?:['’]s)?[ -](?:door[ ])?pin(?:[ -]?(?:code|number))?"
        rf"|(?:safe|door|gate|garage|locker|keypad)(?:['’]s)?[ ](?:code|combination)){_IS}{_DIGITS}",
        _is_any,
    ),
    shape(
        "password",
        "pin",
        rf"(?<![\w-])PIN(?:[ -]?(?:code|number))?[ ](?:of|for|to|on)[ ](?:(?:the|my|our|his|her)[ ])?"
        rf"(?:[\w'’-]{{1,20}}[ ]){{0,3}}?{_OF_WHAT}(?:[ ][a-z]{{1,12}})?{_IS}{_DIGITS}",
        _is_any,
    ),
    shape(
        "password",
        "暗証番号 pin",
        rf"(?:{_OF_WHAT_JA}の?(?:暗証番号|PIN(?:コード|番号)?|解錠番号|開錠番号)|暗証番号)"
        r"[ \t]?(?:[:=：はが]|→)?[ \t]?[「『\"'`]?(\d{4,8})(?![\w:/%-]|桁|文字|回|年|円|[.,]\d)",
        _is_any,
        flags=0,
    ),
    shape("payment-card", "card visa カード", _NAMED_CARD, is_card),
)
_PRINTED = re.compile(_CARD, re.ASCII)


def find_numbers(text: str) -> Iterator[Span]:
    """The payment cards and PINs of a text; spans may overlap."""
    yield from find(_NUMBERS, text)
    for found in _PRINTED.finditer(text):
        if is_card(found[0]):
            yield Span(*found.span(), "payment-card")
