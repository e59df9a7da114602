"""Exchanges: a transcript's records, one after the other, become documents: a person's message and its answer each.

A pure fold; `conversations` feeds it from files. What it must remember between two readings of a file that grows is in
`Facts`, small values without any text but the session's masked titles.
"""

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache
from typing import Any, Literal

from recall.core.errors import MaskingError
from recall.core.types import Document
from recall.sources.messages import (
    Answer,
    Break,
    Prompt,
    Sidechain,
    Title,
    read_message,
)
from recall.sources.titles import first_sentence, says_nothing, title_of
from recall.text.clean import one_line, visible
from recall.text.masking import mask

LeftOut = Literal["automated", "sidechain", "empty"]

#: So much of an answer is enough. Far less of it is embedded; the rest is there so that a secret is masked as a whole
#: before anything is cut.
ANSWER_CHARACTERS = 2000
#: Longest identifier that is taken from a record; those of Claude Code have 36 characters.
_IDENTIFIER = re.compile(r"[!-~]{1,200}")


@dataclass(frozen=True, slots=True)
class Facts:
    """What the lines before `offset` said that later ones are read by.

    `titles` are the session's names by their record's type, `masked` what was masked in each (kind to count); both
    also under "" for the first sentence of the first real message. `queued` are digests of prompts typed while the
    model worked, whose copies may follow. `damaged` counts lines that could not be read.
    """

    offset: int = 0
    entrypoint: str = ""
    project: str = ""
    date: str | None = None
    titles: Mapping[str, str] = field(default_factory=dict)
    masked: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    queued: tuple[str, ...] = ()
    exchanges: int = 0
    automated: bool = False
    sidechain: bool = False
    damaged: int = 0

    @property
    def title(self) -> str:
        """The session's title so far, empty where nothing tells one."""
        return title_of(self.titles, self.titles.get("", ""))

    @property
    def masked_in_title(self) -> Mapping[str, int]:
        """What was masked in the title, kind to count."""
        title = self.title
        return next((self.masked[record] for record, text in self.titles.items() if text and text == title), {})

    @property
    def left_out(self) -> LeftOut | None:
        """Why nothing of this session is shown; None where something is."""
        if self.exchanges:
            return None if self.title else "empty"
        return "automated" if self.automated else "sidechain" if self.sidechain else "empty"


@dataclass(slots=True)
class _Open:
    """An exchange whose answer may go on. `before` are the facts as they were when its message came."""

    before: Facts
    project: str
    date: str | None
    key: str
    session: str
    message: str
    answer: list[str] = field(default_factory=list)


class Exchanges:
    """The fold over one file's records. `key_of` gives the project of a working directory, None where it is no path."""

    def __init__(self, path: str, session: str, facts: Facts, key_of: Callable[[str], str | None]) -> None:
        self.facts = facts
        self._path = path
        self._session = session
        self._key_of = key_of
        self._open: _Open | None = None

    @property
    def resume(self) -> Facts:
        """From where a later reading goes on: the message of the open exchange, else behind what was read."""
        return self._open.before if self._open else self.facts

    def take(self, record: Mapping[str, Any], start: int, end: int) -> Document | None:
        """Read the record that stands from `start` to `end`; the exchange that it completes, if it does."""
        before = replace(self.facts, offset=start)
        self._remember(record, end)
        match message := read_message(record, self.facts.entrypoint):
            case Title():
                self._name(message.record, message.text)
            case Sidechain():
                self.facts = replace(self.facts, sidechain=True)
            case Answer():
                return self._answer(message.text)
            case Break():
                self.facts = replace(self.facts, automated=self.facts.automated or message.automated)
                return self.close()
            case Prompt():
                return self._prompt(message, record, before)
        return None

    def skip(self, end: int, *, damaged: bool, ends_exchange: bool) -> Document | None:
        """Pass over a line that cannot be read, up to `end`; the exchange that it completes, if it does."""
        self.facts = replace(self.facts, offset=end, damaged=self.facts.damaged + damaged)
        return self.close() if ends_exchange else None

    @property
    def last(self) -> Document | None:
        """The open exchange as it is so far."""
        return (
            None
            if self._open is None
            else Document(
                kind="conversation",
                path=self._path,
                project=self._open.project,
                name=self.facts.title,
                description="",
                body="\n\n".join([self._open.message, *self._open.answer]),
                date=self._open.date,
                key=self._open.key,
                session=self._open.session,
            )
        )

    def close(self) -> Document | None:
        """The open exchange, which is none any more."""
        done, self._open = self.last, None
        return done

    def _remember(self, record: Mapping[str, Any], end: int) -> None:
        """Note what each record tells besides its message."""
        facts, entrypoint, cwd = self.facts, record.get("entrypoint"), record.get("cwd")
        self.facts = replace(
            facts,
            offset=end,
            entrypoint=_identifier(entrypoint) or facts.entrypoint,
            project=(isinstance(cwd, str) and self._key_of(cwd)) or facts.project,
            date=_local_day(record.get("timestamp")) or facts.date,
        )

    def _answer(self, text: str) -> Document | None:
        if self._open is None:
            return None
        # Some clients wrote a text again when they added to its message.
        if self._open.answer[-1:] != [text]:
            self._open.answer.append(text)
        # Nothing behind this is looked at, and a long turn of tools is not read again each time that it grows.
        return self.close() if sum(map(len, self._open.answer)) >= ANSWER_CHARACTERS else None

    def _prompt(self, prompt: Prompt, record: Mapping[str, Any], before: Facts) -> Document | None:
        digest = hashlib.sha256(prompt.text.encode()).hexdigest()[:16]
        if not prompt.queued and digest in self.facts.queued:
            self.facts = replace(self.facts, queued=tuple(known for known in self.facts.queued if known != digest))
            return None  # the copy of a prompt that was taken when it was typed
        if self._open is not None and not self._open.answer and self._open.message == prompt.text:
            return None  # some versions of Codex note a message twice
        done = self.close()
        if "" not in self.facts.titles:
            self._name("", prompt.text)
        queued = (*self.facts.queued, digest) if prompt.queued else ()
        self.facts = replace(self.facts, queued=queued, exchanges=self.facts.exchanges + 1)
        session = _identifier(record.get("sessionId")) or self._session
        key = _identifier(record.get("uuid")) or f"{session}@{before.offset}"
        self._open = _Open(before, self.facts.project, self.facts.date, key, session, prompt.text)
        return done

    def _name(self, record: str, text: str) -> None:
        """Take a name of the session, masked before any of it is cut. One that cannot be masked is none."""
        try:
            # Cleaned first: an invisible character inside a token would hide it from the masker.
            masked = mask(one_line(text) if record else visible(text))
        except MaskingError:
            return
        title = masked.text if record else first_sentence(masked.text)
        if title:
            # A text that stands in the place of a title is worth no place in the index.
            title = "" if says_nothing(title) else title
            self.facts = replace(
                self.facts,
                titles={**self.facts.titles, record: title},
                masked={**self.facts.masked, record: masked.found},
            )


def _identifier(value: object) -> str:
    """A record's identifier, empty where it is none that can be stored: a plain word that is no secret."""
    return value if isinstance(value, str) and _IDENTIFIER.fullmatch(value) and _is_harmless(value) else ""


@lru_cache(maxsize=256)  # a session's lines repeat the same few
def _is_harmless(word: str) -> bool:
    try:
        return not mask(word).found
    except MaskingError:
        return False


def _local_day(timestamp: object) -> str | None:
    """The person's day of a time as transcripts have it."""
    if not isinstance(timestamp, str):
        return None
    try:
        return datetime.fromisoformat(timestamp).astimezone().date().isoformat()
    except (ValueError, OverflowError, OSError):  # the last two: a year that the system's clock cannot have
        return None
