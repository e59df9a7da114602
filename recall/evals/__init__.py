"""Measuring how well the right note is found, and how often silence is kept."""
