"""Running `recall index` at intervals: an entry in the machine's own scheduler, put in and taken out again."""

from recall.schedule.choice import remove

__all__ = ["remove"]
