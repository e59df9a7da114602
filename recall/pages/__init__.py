"""HTML pages that stand alone: one file, no script, nothing that is fetched."""
