"""Paste: what programs printed or people copied into a message, told from what the person says in it."""

from recall.text.paste.reduce import SHORT_CHARACTERS, SHORT_LINES, reduce

__all__ = ["SHORT_CHARACTERS", "SHORT_LINES", "reduce"]
