"""Bringing the index up to date: what to do (plan) and doing it (pipeline)."""
