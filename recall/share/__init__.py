"""Sharing records with the machines of a team through a PostgreSQL server. Only commands run it, never the daemon."""
