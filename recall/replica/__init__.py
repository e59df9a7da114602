"""What this machine knows of the others of its team: their records, and what of its own they have been given."""
