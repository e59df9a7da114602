"""Examining an installation: what is wrong, what to do about it, and mending what can be mended without risk."""
