"""Titles: what a session is called in a headline, which shows nothing else of it than its date."""

import re
from collections.abc import Mapping

from recall.text.clean import ELLIPSIS, one_line, whole

#: Types of the records that name a session and their fields, the strongest first; of each the last one counts.
TITLE_FIELDS = {
    "custom-title": "customTitle",
    "ai-title": "aiTitle",
    "last-prompt": "lastPrompt",
    "summary": "summary",
}
#: Longer titles are no titles but texts that stand in the place of one.
MAX_TITLE_CHARACTERS = 200
#: A first sentence is cut here: a headline's name is no longer.
MAX_SENTENCE_CHARACTERS = 80

_URL = re.compile(r"(?:[a-z][a-z0-9+.-]*://|www\.)\S+", re.IGNORECASE)
#: A slash command or path without anything behind it; what begins with ! went to the shell.
_COMMAND = re.compile(r"/\S*|!.*")
_XML = re.compile(r"<[^<>]+>")
_MASKED = re.compile(r"\[masked: [^\]]*\]")
_SENTENCE_END = re.compile(r"[.!?]+(?=\s)|[。！？]+")


def says_nothing(title: str) -> bool:
    """Whether a title tells a reader nothing: a URL, a bare command, XML, an emoji, or over 200 characters.

    So does one of which only what was masked is left.
    """
    title = one_line(title)
    return (
        len(title) > MAX_TITLE_CHARACTERS
        or not any(character.isalnum() for character in _MASKED.sub("", title))
        or bool(_URL.fullmatch(title) or _COMMAND.fullmatch(title) or _XML.match(title))
    )


def first_sentence(message: str) -> str:
    """The first sentence of a message, cut to 80 characters; empty where it would tell nothing."""
    line = next((one_line(line) for line in message.splitlines() if one_line(line)), "")
    end = _SENTENCE_END.search(line)
    sentence = line[: end.end()] if end else line
    if len(sentence) > MAX_SENTENCE_CHARACTERS:
        sentence = whole(sentence, MAX_SENTENCE_CHARACTERS - 1).rstrip() + ELLIPSIS
    return "" if says_nothing(sentence) else sentence


def title_of(titles: Mapping[str, str], sentence: str) -> str:
    """A session's title from what its records say, by their type, and the first sentence of its first real message.

    A record that says nothing has an empty one. Empty where nothing is told at all: such a session cannot be shown.
    """
    return next((titles[record] for record in TITLE_FIELDS if record in titles), "") or sentence
