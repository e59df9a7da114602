"""Reasons in words: what each fixed word of the journals and of the gate means to a person."""

from typing import Final

#: Why a message was not searched at all, by the word in the journal (`recall.daemon.prompt`, `recall.daemon.answers`).
NOT_SEARCHED: Final = {
    "unreadable": "what the client sent was no message that recall can read",
    "event": "the client called recall for something else than a typed message",
    "subagent": "a subagent asked, not a person",
    "machine": "a program wrote the message, not a person",
    "command": "it is a command (/ or !), not a question",
    "norecall": "the message holds #norecall",
    "paste": "the message is pasted text alone, as far as it is read (both ends of a very long one)",
    "short": "the message is shorter than hook.min_characters, or one character again and again",
    "disabled": "recall is switched off: enabled = false in config.toml",
    "answered": "the same message was answered a moment before",
}

#: What became of a message that was searched.
SEARCHED: Final = {
    "no records": "no note or rule is in scope here",
    "below the floor": "no record is close enough in meaning",
    "no record stands out": "no record stands out from the others",
    "only record": "it is the only record, and close enough",
    "stands out": "a record stands out from the others",
    "strong": "a record stands out strongly from the others",
    "unlikely": "it is unlikely that one of the records is wanted",
    "an everyday message": "the message is close to everyday ones, which no note answers",
    "too short to tell": "the message says too little to tell whether a record is wanted",
    "no closer than everyday messages": "no record is closer to it than to everyday messages",
    "likely": "the best record is likely wanted",
    "very likely": "the best record is very likely wanted",
    "already shown": "what fits was handed over in this session before, or is left out",
}

#: Why a message got no answer, by the code in hook.log.
NO_ANSWER: Final = {
    "timeout": "the answer was not there within hook.budget_ms",
    "busy": "the daemon was busy with other messages",
    "warming": "the daemon was starting",
    "started": "no daemon was running; one was started",
    "error": "the daemon failed; see daemon.log",
    "oversize": "the message is larger than recall reads",
    "unreadable": "the daemon's answer could not be read",
}


def in_words(reason: str, *, answered: bool = True) -> str:
    """The sentence for a word of the journal or, not `answered`, a code of hook.log; of an unknown one itself."""
    tables = (SEARCHED, NOT_SEARCHED, NO_ANSWER) if answered else (NO_ANSWER,)
    return next((table[reason] for table in tables if reason in table), reason)
