"""The engine: betterleaks in this process, which knows the tokens of some 400 kinds by their shape.

Only `scan_string` is used. It opens no socket and no file but its own library, and tries nothing out that it finds.
It adds about 45 MB and five threads.

Chosen by the 379 fake secrets and 104 harmless texts of tests/data/secrets: it alone misses 29 and changes 8, with our
rules 0 and 3; our rules alone miss 17 and change 3, and know few vendors' tokens that stand without a name;
detect-secrets misses 7, but changes 100, in five times the engine's time.
"""

import re
from collections.abc import Iterator

import betterleaks

from recall.core.errors import MaskingError
from recall.text.masking.judge import is_token
from recall.text.masking.spans import Span, occurrences

#: Rules that go by what stands before the value; `named` and `shapes` do the same for more scripts with fewer mistakes.
#: Of the first the engine itself is unsure, so it counts only where it is surer and the value looks machine-made.
_GENERIC = "generic-api-key"
_REPLACED = frozenset({"generic-credential-uri", "generic-password", "generic-username"})
#: A comment that tells the engine to look away from its line.
_LOOK_AWAY = re.compile("(?<=leaks):(?=allow)", re.IGNORECASE)
#: What the engine cannot read, or takes for a part of the token beside it: NUL ends its text, lone surrogates are no
#: UTF-8, and some of its rules want a space behind a token where Japanese has none.
_NO_ASCII = re.compile("[^\x01-\x7f]")


#: Characters that the engine gets at once, and how many of them twice, so that a secret at an edge is seen whole.
#: Its time grows with the square of the findings in a line.
_WINDOW, _OVERLAP = 16_384, 4_096


def find_known(text: str) -> Iterator[Span]:
    """The secrets in a text that the engine knows, wherever they stand in it; kinds are the names of its rules.

    Raises:
        MaskingError: the engine failed. What it says may quote the text and is left out.
    """
    readable = _LOOK_AWAY.sub("_", _NO_ASCII.sub(" ", text))
    known: dict[str, str] = {}
    for start in range(0, max(1, len(readable) - _OVERLAP), _WINDOW - _OVERLAP):
        known |= _scan(readable[start : start + _WINDOW])
    for secret, rule in known.items():
        for found in occurrences(secret, readable):
            yield Span(*found, rule)


def _scan(window: str) -> dict[str, str]:
    """Secrets and the names of the rules that found them."""
    try:
        findings = betterleaks.scan_string(window)
    except Exception as error:
        raise MaskingError(
            f"The secret scanner was expected to read a text of {len(window):,} characters but failed "
            f"({type(error).__name__}), so the text was left out; reinstall recall if this happens again"
        ) from None
    return {found.secret: found.rule_id for found in findings if found.secret.strip() and _counts(found)}


def _counts(finding: betterleaks.Finding) -> bool:
    if finding.rule_id == _GENERIC:
        return finding.confidence != "low" and is_token(finding.secret)
    return finding.rule_id not in _REPLACED
