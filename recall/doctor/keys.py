"""What is wrong with the keys of an entry of ours: pure decisions on what stands in an agent's settings."""

import re
from collections.abc import Mapping
from typing import Any

from recall.sources.agents import AgentName

#: Seconds beyond which a `timeout` is probably meant in milliseconds. The client's own default is 60 s.
LONG_SECONDS = 60
#: What a session begins by, in the words of the agents' documentation.
SOURCES = ("startup", "resume", "clear", "compact", "fork")
#: With one of these a hook runs beside the message, and what it prints reaches nobody in time; Codex leaves it out.
BESIDE = ("async", "asyncRewake")
_LISTED = re.compile(r"[A-Za-z0-9_|]+")


def judge_timeout(keys: Mapping[str, Any], budget_ms: int, per_second: int) -> str:
    """What is wrong with an entry's timeout: "wrong" (no number), "short" (the client gives up before the hook does),
    "long"; "" where nothing is. `per_second`: its units in a second. None at all is the client's default."""
    if "timeout" not in keys:
        return ""
    value = keys["timeout"]
    if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
        return "wrong"
    seconds = value / per_second
    return "short" if seconds * 1000 < budget_ms else "long" if seconds > LONG_SECONDS else ""


def never_fits(matcher: object, agent: AgentName) -> bool:
    """Whether a matcher of the begin of sessions fits none of the sources. Claude Code takes plain words, parted by
    `|`, as they stand and all else as a regular expression; Codex takes everything as one."""
    if not isinstance(matcher, str) or matcher in ("", "*"):
        return False
    if agent != "codex" and _LISTED.fullmatch(matcher):
        return not set(matcher.split("|")) & set(SOURCES)
    try:
        return not any(re.search(matcher, source) for source in SOURCES)
    except re.error:
        return True


def beside(keys: Mapping[str, Any], agent: AgentName) -> str:
    """The key by which an agent does not wait for the hook; empty where it does. Gemini CLI knows none."""
    return "" if agent == "gemini" else next((key for key in BESIDE if keys.get(key) is True), "")
