"""The title of a session that may be shared: one that the person or the model gave it, never a message's own words."""

from recall.sources.lines import json_object, open_lines
from recall.sources.messages import Title, read_message
from recall.sources.titles import says_nothing

#: Types of the records that name a session without quoting a message of it, the strongest first; of each the last one
#: counts. (`last-prompt` quotes one.)
GIVEN = ("custom-title", "ai-title", "summary")


def given_title(transcript: str) -> str:
    """The title in a transcript, "" where it has none that may be shared. Raises SourceError."""
    found: dict[str, str] = {}
    with open_lines(transcript) as lines:
        for line in lines.read(0):
            if line.too_long or not any(f'"{record}"'.encode() in line.data for record in GIVEN):
                continue
            record = json_object(line.data)
            message = read_message(record, "") if record is not None else None
            if isinstance(message, Title) and message.record in GIVEN:
                found[message.record] = message.text
    return next((found[record] for record in GIVEN if record in found and not says_nothing(found[record])), "")
