"""What recall did and why, read back from its journal, Claude Code's transcripts and the index. Nothing is written."""
