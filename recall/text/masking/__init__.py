"""Masking of secrets, before a text is embedded, stored, logged or shown."""

from recall.text.masking.masker import Masked, mask

__all__ = ["Masked", "mask"]
