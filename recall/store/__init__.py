"""The index file: SQLite tables, their migrations, one writer and many readers."""
