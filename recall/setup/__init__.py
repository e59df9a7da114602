"""Putting recall into a person's Claude Code and taking it out again."""
